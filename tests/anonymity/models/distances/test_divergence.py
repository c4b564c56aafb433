"""The Kullback-Leibler divergence against SciPy's, and where it is the same as other measures."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import entropy

from coterie.anonymity.models.distances.audit import divergence
from coterie.anonymity.models.distances.divergence import DivergenceCloseness

groups = st.integers(2, 5).flatmap(
    lambda n: st.lists(
        st.lists(st.integers(0, 9), min_size=n, max_size=n).filter(any), min_size=2, max_size=4
    )
)


@settings(max_examples=200, deadline=None)
@given(groups)
def test_it_is_the_divergence_of_scipy(parts):
    counts = np.array(parts)
    overall = counts.sum(axis=0)
    there = overall > 0
    expected = [entropy(row[there], overall[there]) for row in counts]
    found = DivergenceCloseness(0.1).measure(counts, overall)
    assert found == pytest.approx(expected, abs=1e-12)
    assert [divergence(row, overall.tolist()) for row in parts] == pytest.approx(
        expected, abs=1e-12
    )


@settings(max_examples=200, deadline=None)
@given(groups)
def test_a_merged_group_is_no_further_than_the_further_part(parts):
    """Exercise 11 (b) of the chapter."""
    counts = np.array(parts)
    overall = counts.sum(axis=0)
    apart = DivergenceCloseness(0.1).measure(counts[:2], overall)
    merged = DivergenceCloseness(0.1).measure(counts[:2].sum(axis=0, keepdims=True), overall)
    assert merged[0] <= apart.max() + 1e-12


def test_it_is_in_nats_and_has_no_upper_end():
    counts = np.array([[1, 0], [0, 7], [0, 0]])
    overall = np.array([1, 7])
    found = DivergenceCloseness(2).measure(counts, overall)
    assert found[:2] == pytest.approx([math.log(8), math.log(8 / 7)])
    assert math.isnan(found[2])
    assert DivergenceCloseness(2).holds(counts, overall).tolist() == [False, True, True]
    assert DivergenceCloseness(math.log(8)).holds(counts, overall).all()
    with pytest.raises(ValueError, match="t must be above 0, not 0"):
        DivergenceCloseness(0)
