"""Finds the 128-bit tags of one list in other lists, by hash tables in compiled loops.

Tags are pseudorandom, so that their own bits serve as the hash. A list has shape (n, 2), uint64.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np

from coterie.base.arrays import Bytes, Mask, Rows, Words
from coterie.base.compiled import compiled

Tags: TypeAlias = Words


def as_tags(data: Bytes) -> Tags:
    """The first 16 bytes of each row, as tags."""
    return np.ascontiguousarray(data[:, :16]).view(np.uint64).reshape(-1, 2)


@compiled
def _build(tags: Any, table: Any) -> Any:
    mask = np.uint64(table.shape[0] - 1)
    for i in range(tags.shape[0]):
        at = tags[i, 0] & mask
        while table[at] >= 0:
            j = table[at]
            if tags[j, 0] == tags[i, 0] and tags[j, 1] == tags[i, 1]:
                return i
            at = (at + np.uint64(1)) & mask
        table[at] = i
    return -1


@compiled
def _find(tags: Any, table: Any, wanted: Any, out: Any) -> None:
    mask = np.uint64(table.shape[0] - 1)
    for i in range(wanted.shape[0]):
        at = wanted[i, 0] & mask
        out[i] = -1
        while table[at] >= 0:
            j = table[at]
            if tags[j, 0] == wanted[i, 0] and tags[j, 1] == wanted[i, 1]:
                out[i] = j
                break
            at = (at + np.uint64(1)) & mask


class RepeatedTagError(ValueError):
    """Two rows of a list hold the same tag."""

    def __init__(self, index: int) -> None:
        super().__init__(f"tag {index} stands in the list before")
        self.index = index


class Table:
    """A list of different tags in which other tags are looked up."""

    def __init__(self, tags: Tags) -> None:
        self._tags = np.ascontiguousarray(tags)
        size = 1 << max(1, (2 * len(tags) - 1).bit_length())
        self._table = np.full(size, -1, np.int32 if len(tags) < 2**31 else np.int64)
        repeated = _build(self._tags, self._table)
        if repeated >= 0:
            raise RepeatedTagError(repeated)

    def find(self, wanted: Tags) -> Rows:
        """For every wanted tag its row in the list, or -1."""
        out = np.empty(len(wanted), np.int64)
        _find(self._tags, self._table, np.ascontiguousarray(wanted), out)
        return out


def common(own: Table, count: int, others: Iterable[Tags]) -> Mask:
    """Which of the table's `count` rows are in all other lists."""
    held = np.ones(count, np.bool_)
    for tags in others:
        found = own.find(tags)
        here = np.zeros(count, np.bool_)
        here[found[found >= 0]] = True
        held &= here
    return held


def in_tag_order(tags: Tags, rows: Rows) -> Rows:
    """The rows sorted by their tags: the order that all parties share."""
    chosen = tags[rows]
    order = np.lexsort((chosen[:, 1], chosen[:, 0]))
    result: Rows = rows[order]
    return result
