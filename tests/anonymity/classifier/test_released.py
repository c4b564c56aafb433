"""Released columns reach the learner as numbers where all of their values are numbers."""

from coterie.anonymity.classifier.decision_tree import Labels, Numbers
from coterie.anonymity.classifier.released import learner_attribute


def test_intervals_become_their_lower_ends():
    column = learner_attribute("Age", ["[30, 40]", "[1, 30)", "[30, 40]", "7"])
    assert isinstance(column, Numbers)
    assert column.values.tolist() == [30, 1, 30, 7]


def test_one_value_that_is_no_number_makes_all_of_them_labels():
    column = learner_attribute("Age", ["[30, 40]", "*", "[30, 40]"])
    assert isinstance(column, Labels)
    assert column.values[0] == column.values[2] != column.values[1]
    assert column.size == 2
