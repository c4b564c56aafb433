"""Closeness by given costs: the file, and verdicts with and without the quick bounds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.anonymity.models.closeness import Closeness, UnlistedValueError
from coterie.anonymity.models.distances.given_costs import CostCloseness, Costs, read_costs
from coterie.base.errors import DataError

FILE = b",cold,flu,HIV\ncold,0,1,8\nflu,1,0,7.5\nHIV,8,7.5,0\n"
ALIKE = Costs(("a", "b", "c"), ((0, 1, 1), (1, 0, 1), (1, 1, 0)))


def test_a_file_is_read_and_the_unit_is_its_own():
    costs = read_costs(FILE, "costs.csv")
    assert costs == Costs(("cold", "flu", "HIV"), ((0, 1, 8), (1, 0, 7.5), (8, 7.5, 0)))
    model = CostCloseness(2.0, costs).for_values(["HIV", "cold"])
    counts, overall = np.array([[4, 0], [0, 4]]), np.array([4, 12])
    assert model.measure(counts, overall).tolist() == [6, 2]
    assert model.holds(counts, overall).tolist() == [False, True]


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.lists(st.integers(0, 7), min_size=3, max_size=3).filter(any), min_size=1, max_size=5
    ),
    st.sampled_from([0.05, 0.1, 0.25, 0.3, 0.5]),
)
def test_equal_costs_are_the_variational_distance_with_the_same_verdicts(groups, t):
    counts = np.array(groups)
    overall = counts.sum(axis=0)
    model = CostCloseness(t, ALIKE).for_values("abc")
    other = Closeness(t)
    assert model.measure(counts, overall) == pytest.approx(other.measure(counts, overall))
    assert model.holds(counts, overall).tolist() == other.holds(counts, overall).tolist()


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (b"", "the first line must name"),
        (b",a,a\na,0,1\na,1,0\n", "the first line must name"),
        (b",a,b\nb,0,1\na,1,0\n", "in its order"),
        (b",a,b\na,0\nb,1,0\n", "the line of 'a' has 1 costs"),
        (b",a,b\na,0,x\nb,1,0\n", "'x' is not a cost"),
        (b",a,b\na,0,-1\nb,-1,0\n", "'-1' is not a cost"),
        (b",a,b\na,0,inf\nb,inf,0\n", "'inf' is not a cost"),
        (b",a,b\na,1,1\nb,1,0\n", "from 'a' to itself must be 0"),
        (b",a,b\na,0,1\nb,2,0\n", "'b' and 'a' have two different costs"),
        (b"\xff\xfe", "not UTF-8"),
    ],
)
def test_a_file_that_is_not_a_table_of_costs_is_refused(data, complaint):
    with pytest.raises(DataError, match=f"costs.csv: .*{complaint}"):
        read_costs(data, "costs.csv")


def test_a_value_without_costs_and_a_limit_of_nothing_are_refused():
    with pytest.raises(UnlistedValueError, match="the file of costs lacks the value 'd'"):
        CostCloseness(0.5, ALIKE).for_values("abd")
    with pytest.raises(ValueError, match="t must be above 0"):
        CostCloseness(0, ALIKE)
