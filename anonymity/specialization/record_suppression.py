"""Finds the records that must be left out so that no group is too small.

The records that can stay are the largest set of whole partitions in which every group of every QID
has k records or none: removing a group that is too small can make another group too small, so the
step is repeated until nothing changes. The set does not depend on the order, since a group that is
too small among more records is too small among fewer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from coterie.anonymity.specialization.partitions import Partitions
from coterie.base.arrays import Array
from coterie.base.distinct import ranks


@dataclass(frozen=True)
class Outliers:
    """The records that a specialization would leave out: `cells` (leaf, child), and whole leaves."""

    cells: Array
    records: int


def groups_too_small(partitions: Partitions, ks: Sequence[int]) -> Array:
    """The leaves that cannot stay."""
    leaves = np.flatnonzero(partitions.size[: partitions.used])
    ids = [groups.of_leaf[leaves] for groups in partitions.groups]
    gone = _gone(partitions.size[leaves], ids, ks, len(partitions.order))
    assert gone is not None  # noqa: S101
    return leaves[gone]


def outliers(
    partitions: Partitions,
    ks: Sequence[int],
    attribute: int,
    leaves: Array,
    counts: Array,
    most: int,
) -> Outliers | None:
    """The records to leave out after a specialization with these counts; None if above `most`."""
    rows, children = np.nonzero(counts)
    concerned = np.zeros(partitions.used, bool)
    concerned[leaves] = True
    others = np.flatnonzero((partitions.size[: partitions.used] > 0) & ~concerned)
    sizes = np.concatenate([counts[rows, children], partitions.size[others]])
    ids = []
    for groups in partitions.groups:
        inside = groups.of_leaf[leaves[rows]].astype(np.int64)
        if attribute in groups.attributes:
            inside = groups.used + inside * counts.shape[1] + children
        ids.append(np.concatenate([inside, groups.of_leaf[others]]))
    gone = _gone(sizes, ids, ks, most)
    if gone is None:
        return None
    cells = np.zeros(counts.shape, bool)
    inside = gone[: len(rows)]
    cells[rows[inside], children[inside]] = True
    return Outliers(cells, int(sizes[gone].sum()))


def _gone(sizes: Array, ids: Sequence[Array], ks: Sequence[int], most: int) -> Array | None:
    """Which of the parts are removed; None as soon as they have more than `most` records."""
    numbers = [ranks(one) for one in ids]
    stays = np.ones(len(sizes), bool)
    while True:
        before = int(stays.sum())
        for number, k in zip(numbers, ks, strict=True):
            totals = np.bincount(number, weights=sizes * stays)
            stays &= totals[number] >= k
            if int(sizes[~stays].sum()) > most:
                return None
        if int(stays.sum()) == before:
            return ~stays
