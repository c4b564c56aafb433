"""Even groups by rank and by value, and groups that are merged until they hold."""

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.anonymity.algorithms.conditions import Condition
from coterie.anonymity.algorithms.one_dimension.groups import (
    even_ends,
    groups_by_rank,
    merged,
    rank_difference,
    starts_by_value,
)
from coterie.anonymity.models.options import model_from_options
from coterie.anonymity.table.table import Labels


def least_rank_difference(n: int, k: int) -> int:
    """Over all maps of the ranks to ranks with at least k on each: the paper's Definition."""
    return min(
        sum(abs(rank - own) for own, rank in enumerate(shown))
        for shown in itertools.product(range(n), repeat=n)
        if all(shown.count(rank) >= k for rank in set(shown))
    )


def test_even_groups_have_the_least_rank_difference_of_all_maps():
    for n in range(1, 6):
        for k in range(1, n + 1):
            sizes = np.diff(np.concatenate([[0], even_ends(n, k)]))
            assert sizes.min() >= k
            assert sizes.max() - sizes.min() <= 1
            assert rank_difference(sizes) == least_rank_difference(n, k)


def test_the_papers_example_has_a_rank_difference_of_three():
    codes = np.array([0, 4, 2, 3, 1])  # the ranks of 1, 12, 4, 7, 3
    groups = groups_by_rank(codes, even_ends(5, 2))
    assert groups.tolist() == [0, 1, 0, 1, 0]
    assert rank_difference(np.bincount(groups)) == 3


@settings(max_examples=80, deadline=None)
@given(st.lists(st.integers(0, 9), min_size=1, max_size=40), st.integers(1, 8))
def test_groups_by_value_keep_equal_values_together_and_have_k(values, k):
    if k > len(values):
        return
    codes = np.unique(values, return_inverse=True)[1]
    starts = starts_by_value(np.bincount(codes), even_ends(len(codes), k))
    raw = np.searchsorted(starts, codes, "right") - 1
    groups = merged(raw, Condition(("a",), k), {})
    assert np.bincount(groups).min() >= k
    ordered = groups[np.argsort(codes, kind="stable")]
    assert (np.diff(ordered) >= 0).all()
    for code in set(codes.tolist()):
        assert len(set(groups[codes == code].tolist())) == 1


def test_the_smallest_group_goes_to_its_smaller_neighbour():
    groups = np.repeat([0, 1, 2, 3], [5, 2, 4, 9])
    assert np.bincount(merged(groups, Condition(("a",), 3), {})).tolist() == [5, 6, 9]
    assert np.bincount(merged(groups, Condition(("a",), 20), {})).tolist() == [20]


def test_groups_that_are_not_diverse_are_merged():
    groups = np.repeat([0, 1, 2], 4)
    labels = Labels(np.array([0, 0, 0, 0, 0, 1, 0, 1, 1, 1, 0, 0]), ("a", "b"))
    model = model_from_options({"l": 2})
    condition = Condition(("a",), 2, ((model, "ill"),))
    assert np.bincount(merged(groups, condition, {"ill": labels})).tolist() == [8, 4]
