"""Counts from anatomised tables: the formula by hand, and where the estimate is exact."""

import numpy as np
import pytest

from coterie.anonymity.anatomy.anatomy import Anatomised, anatomise, counted
from coterie.anonymity.anatomy.estimate import estimate, ordered, query_error, random_answers
from coterie.anonymity.models.options import model_from_options
from coterie.anonymity.specialization.specialize import Requirement
from coterie.anonymity.table.table import Labels, Table
from tests.anonymity.models.test_tuple_cuts import made, required


def test_a_count_is_estimated_as_the_paper_says():
    """Figure 3's group: of four patients two are below 43, and two of four have heart disease."""
    groups = np.array([1, 1, 1, 1, 2, 2])
    ages = np.array([42, 41, 49, 43, 70, 71])
    diseases = Labels(np.array([0, 0, 1, 2, 0, 1]), ("Heart disease", "Flu", "Stomach disease"))
    table = counted(groups, {"Disease": diseases})
    heart = table.values[0].codes == 0
    assert estimate(groups, ages < 43, table, heart) == 2 * 2 / 4
    assert estimate(groups, ages > 42, table, heart) == 2 * 2 / 4 + 2 * 1 / 2
    assert estimate(groups, np.ones(6, bool), table, heart) == 3


def test_random_queries_are_answered_by_the_same_formula():
    answer = anatomise(made(), [required(3)])
    found = random_answers(answer, 40, np.random.default_rng(1))
    assert len(found.counts) + found.empty == 40
    again = random_answers(answer, 40, np.random.default_rng(1))
    assert found.estimates.tolist() == again.estimates.tolist()
    assert (found.relative_errors() >= 0).all()


def test_groups_of_one_record_answer_exactly():
    table = made()
    alone = Anatomised(table, np.arange(1, 61), ("s", "t"), False)
    found = random_answers(alone, 60, np.random.default_rng(2))
    assert found.estimates == pytest.approx(found.counts)
    assert query_error(alone).mean == pytest.approx(0)


def test_one_group_for_all_ignores_the_quasi_identifiers():
    """Where the sensitive value follows from a quasi-identifier, groups answer better."""
    columns = made().columns
    table = Table(columns, {"s": Labels(columns[0].codes // 2, tuple("abcdef"))})
    whole = Anatomised(table, np.ones(60, np.int64), ("s",), False)
    need = Requirement(("x", "y"), 4, "s", model_from_options({"l": 2}))
    assert query_error(anatomise(table, [need])).mean < query_error(whole).mean


def test_values_are_ordered_by_size_where_they_are_numbers():
    assert ordered(Labels(np.array([0, 1, 2]), ("10", "9", "100"))).tolist() == [1, 0, 2]
    assert ordered(Labels(np.array([0, 1]), ("b", "a"))).tolist() == [1, 0]
