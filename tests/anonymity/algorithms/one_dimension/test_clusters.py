"""Optimal clusters of numbers against an enumeration of all partitions, and how much is tried."""

import itertools
import statistics

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.anonymity.algorithms.one_dimension import clusters
from coterie.anonymity.algorithms.one_dimension.clusters import COSTS, optimal_clusters


def cost_of(parts: list[list[int]], cost: str) -> float:
    """The paper's costs, written from their definitions."""
    if cost == "median":
        return sum(abs(x - statistics.median_low(part)) for part in parts for x in part)
    radii = [(max(part) - min(part)) / 2 for part in parts]
    if cost == "centre":
        return max(radii)
    return sum(radius * len(part) for radius, part in zip(radii, parts, strict=True))


def ranges(numbers: list[int], k: int):
    """All ways to cut sorted numbers into ranges of at least k."""
    for inner in range(len(numbers) // max(k, 1)):
        for cuts in itertools.combinations(range(1, len(numbers)), inner):
            ends = [0, *cuts, len(numbers)]
            parts = [numbers[a:b] for a, b in itertools.pairwise(ends)]
            if all(len(part) >= k for part in parts):
                yield parts


def partitions(numbers: list[int]):
    """All ways to divide numbers into parts, ranges or not."""
    if not numbers:
        yield []
        return
    first, *rest = numbers
    for size in range(len(rest) + 1):
        for others in itertools.combinations(range(len(rest)), size):
            left = [rest[i] for i in range(len(rest)) if i not in others]
            for parts in partitions(left):
                yield [[first, *(rest[i] for i in others)], *parts]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(-9, 40), min_size=1, max_size=11),
    st.integers(1, 4),
    st.sampled_from(COSTS),
)
def test_no_ranges_cost_less(numbers, k, cost):
    if k > len(numbers):
        return
    numbers = sorted(numbers)
    found = optimal_clusters(np.array(numbers, float), np.ones(len(numbers), int), k, cost)
    ends = [*found.starts.tolist(), len(numbers)]
    parts = [numbers[a:b] for a, b in itertools.pairwise(ends)]
    assert min(map(len, parts)) >= k
    assert cost_of(parts, cost) == pytest.approx(found.cost)
    assert found.cost == pytest.approx(min(cost_of(other, cost) for other in ranges(numbers, k)))


@pytest.mark.parametrize("cost", COSTS)
def test_no_parts_of_any_shape_cost_less(cost):
    rng = np.random.default_rng(5)
    for k in (2, 3):
        numbers = sorted(rng.integers(0, 30, 7).tolist())
        least = min(
            cost_of(parts, cost)
            for parts in partitions(numbers)
            if all(len(part) >= k for part in parts)
        )
        found = optimal_clusters(np.array(numbers, float), np.ones(7, int), k, cost)
        assert found.cost == pytest.approx(least)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(1, 6), min_size=1, max_size=8), st.integers(1, 7), st.sampled_from(COSTS)
)
def test_equal_values_stay_together_at_the_least_cost(counts, k, cost):
    if sum(counts) < k:
        return
    values = [3 * i + i % 2 for i in range(len(counts))]
    numbers = [[value] * times for value, times in zip(values, counts, strict=True)]
    found = optimal_clusters(np.array(values, float), np.array(counts), k, cost)
    least = []
    for inner in range(len(counts)):
        for cuts in itertools.combinations(range(1, len(counts)), inner):
            ends = [0, *cuts, len(counts)]
            parts = [list(itertools.chain(*numbers[a:b])) for a, b in itertools.pairwise(ends)]
            if all(len(part) >= k for part in parts):
                least.append(cost_of(parts, cost))
    assert found.cost == pytest.approx(min(least))


def test_fewer_than_k_records_are_refused():
    with pytest.raises(ValueError, match="2 records are fewer than k = 3"):
        optimal_clusters(np.array([1.0, 2.0]), np.ones(2, int), 3, "median")


@pytest.mark.parametrize("kind", range(len(COSTS)))
def test_the_clusters_tried_grow_with_n_log_k_and_not_with_n_k(kind):
    values = np.sort(np.random.default_rng(1).normal(size=4000))
    before = np.arange(4001)
    sums = np.concatenate([[0.0], np.cumsum(values)])
    for k in (10, 500):
        tried = clusters._solve(kind, values, before, sums, np.arange(4000), k)[2]
        assert tried < 4000 * (4 * np.log2(k) + 8)
