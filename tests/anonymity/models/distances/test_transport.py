"""The least cost of a transport against a linear programme and the row of values."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from coterie.anonymity.models.closeness import Closeness
from coterie.anonymity.models.distances.transport import cheapest_ways, least_work


def programme(gap, costs):
    """The specification's linear programme, word for word, by SciPy."""
    n = len(gap)
    leaving = np.kron(np.eye(n), np.ones((1, n)))
    arriving = np.kron(np.ones((1, n)), np.eye(n))
    done = linprog(costs.ravel(), A_eq=leaving - arriving, b_eq=gap, method="highs")
    assert done.status == 0
    return done.fun


@st.composite
def cases(draw):
    n = draw(st.integers(2, 6))
    group = draw(st.lists(st.integers(0, 9), min_size=n, max_size=n).filter(any))
    rest = draw(st.lists(st.integers(0, 9), min_size=n, max_size=n))
    above = draw(st.lists(st.integers(0, 20), min_size=n * n, max_size=n * n))
    costs = np.triu(np.array(above).reshape(n, n) / 4, 1)
    overall = np.array(group) + rest
    return np.array(group) * overall.sum() - overall * sum(group), costs + costs.T


@settings(max_examples=150, deadline=None)
@given(cases())
def test_it_is_the_optimum_of_the_linear_programme(case):
    gap, costs = case
    found = least_work(gap[None, :], cheapest_ways(costs))
    assert found[0] == pytest.approx(programme(gap, costs), rel=1e-9, abs=1e-6)


def test_values_in_a_row_cost_what_the_ordered_distance_says():
    rng = np.random.default_rng(1)
    counts = rng.integers(0, 9, (20, 7))
    counts[:, 0] += 1
    overall, sizes = counts.sum(axis=0), counts.sum(axis=1)
    steps = np.abs(np.arange(7)[:, None] - np.arange(7)) / 6
    gaps = counts * overall.sum() - overall * sizes[:, None]
    ordered = Closeness(0.5, "ordered").for_values([str(i) for i in range(7)])
    work = least_work(gaps, steps) / (sizes * overall.sum())
    assert work == pytest.approx(ordered.measure(counts, overall))


def test_a_cheaper_way_over_a_third_place_is_taken():
    costs = np.array([[0.0, 9, 1], [9, 0, 1], [1, 1, 0]])
    assert cheapest_ways(costs)[0, 1] == 2
    assert least_work(np.array([[5, -5, 0]]), cheapest_ways(costs)).tolist() == [10]
