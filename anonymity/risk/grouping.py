"""Groups of records that are equal in several columns, refined one column at a time.

Every measure of this folder counts the sizes of such groups. A `Grouping` has a number for each
record; adding a column is one pass over the records, by a table of all pairs of a group and a value
where that table is small, and by hashing where it is not. Numbers are exact in both ways: a hash
only says where to look.

Cost: n steps for a column. Errata: none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from coterie.base.arrays import Array, Codes, Int32s, Ints
from coterie.base.compiled import compiled

_DIRECT = 8  # a table of so many places a record is still smaller than what hashing needs


@dataclass(frozen=True)
class Grouping:
    """The group of each record, numbered from 0 in the order of their first records."""

    numbers: Int32s
    count: int

    @property
    def sizes(self) -> Ints:
        return np.bincount(self.numbers, minlength=self.count)

    def refined(self, codes: Codes) -> Grouping:
        """The groups of records that are equal in this column as well."""
        size = int(codes.max(initial=0)) + 1
        if size == 1 or self.count == len(self.numbers):
            return self
        keys = self.numbers.astype(np.int64)
        keys *= size
        keys += codes
        return numbered(keys, self.count * size)


def whole(records: int) -> Grouping:
    """All records in one group."""
    return Grouping(np.zeros(records, np.int32), min(records, 1))


def grouped(columns: Sequence[Codes], records: int) -> Grouping:
    """Groups of records equal in all these columns; one group if there is no column."""
    found = whole(records)
    for codes in columns:
        found = found.refined(codes)
    return found


def group_sizes(columns: Sequence[Codes], records: int) -> Ints:
    """The sizes of the groups of records equal in all these columns, in no order.

    Columns with many values come first, and a record that is alone is not looked at again.
    """
    found = whole(records)
    rows: Array | None = None  # None: all records
    alone = 0
    for codes in sorted(columns, key=lambda codes: -int(codes.max(initial=0))):
        found = found.refined(codes if rows is None else codes[rows])
        stays = found.sizes[found.numbers] > 1
        kept = int(stays.sum())
        if kept < len(stays) // 2:
            alone += len(stays) - kept
            rows = np.flatnonzero(stays) if rows is None else rows[stays]
            found = numbered(found.numbers[stays].astype(np.int64), found.count)
    return np.concatenate([found.sizes, np.ones(alone, np.int64)])


def numbered(keys: Ints, room: int) -> Grouping:
    """Records with equal keys, which are below `room`, get the same number."""
    numbers = np.empty(len(keys), np.int32)
    if room <= _DIRECT * len(keys) + 1024:
        return Grouping(numbers, int(_number_directly(keys, np.full(room, -1, np.int32), numbers)))
    slots = np.full(1 << (2 * len(keys)).bit_length(), -1, np.int32)
    return Grouping(numbers, int(_number_by_hash(keys, slots, numbers)))


def size_counts(keys: Ints, room: int) -> Ints:
    """The sizes of the groups of equal keys."""
    if room <= _DIRECT * len(keys) + 1024:
        sizes = np.bincount(keys, minlength=room)
        return np.asarray(sizes[sizes > 0], np.int64)
    return numbered(keys, room).sizes


def pairs_within(sizes: Array) -> int:
    """How many pairs of records are in a common group."""
    wide = np.asarray(sizes, np.int64)
    return int((wide * (wide - 1) // 2).sum())


@compiled
def _number_directly(keys: Ints, table: Int32s, numbers: Int32s) -> int:
    count = 0
    for i in range(len(keys)):
        key = keys[i]
        if table[key] < 0:
            table[key] = count
            count += 1
        numbers[i] = table[key]
    return count


@compiled
def _number_by_hash(keys: Ints, slots: Int32s, numbers: Int32s) -> int:
    """Open addressing; a slot has the first record of its key, whose number is already known."""
    mask = len(slots) - 1
    count = 0
    for i in range(len(keys)):
        mixed = np.uint64(keys[i]) * np.uint64(0x9E3779B97F4A7C15)
        at = np.int64((mixed ^ (mixed >> np.uint64(29))) & np.uint64(mask))
        while slots[at] >= 0 and keys[slots[at]] != keys[i]:
            at = (at + 1) & mask
        if slots[at] < 0:
            slots[at] = i
            numbers[i] = count
            count += 1
        else:
            numbers[i] = numbers[slots[at]]
    return count
