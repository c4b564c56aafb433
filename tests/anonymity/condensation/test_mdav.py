"""MDAV against a version written from its description, with whole sorted lists."""

import numpy as np
import pytest

from coterie.anonymity.condensation.mdav import mdav


def plain(points, k):
    """Groups as sets of rows, from the description."""
    left, groups = list(range(len(points))), []

    def nearest(to):
        found = sorted(left, key=lambda i: float(((points[i] - to) ** 2).sum()))[:k]
        for i in found:
            left.remove(i)
        groups.append(frozenset(found))

    def farthest(to):
        return points[max(left, key=lambda i: float(((points[i] - to) ** 2).sum()))]

    while len(left) >= 3 * k:
        first = farthest(points[left].mean(axis=0))
        second = farthest(first)
        nearest(first)
        nearest(second)
    if len(left) >= 2 * k:
        nearest(farthest(points[left].mean(axis=0)))
    if left:
        groups.append(frozenset(left))
    return set(groups)


@pytest.mark.parametrize(("records", "k"), [(4, 2), (5, 5), (17, 3), (40, 4), (61, 10), (29, 10)])
def test_groups_are_those_of_the_description(records, k):
    points = np.random.default_rng(records).normal(size=(records, 3))
    found = mdav(points, k)
    own = {frozenset(np.flatnonzero(found == g).tolist()) for g in range(found.max() + 1)}
    assert own == plain(points, k)


@pytest.mark.parametrize("k", [2, 3, 7, 50])
def test_every_group_has_k_to_2k_less_one_records(k):
    rng = np.random.default_rng(k)
    for records in range(k, 5 * k, max(k // 3, 1)):
        points = rng.integers(0, 3, (records, 2)).astype(float)  # with many ties
        sizes = np.bincount(mdav(points, k))
        assert sizes.min() >= k
        assert sizes.max() < 2 * k
