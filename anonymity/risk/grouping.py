"""Groups of records that are equal in several columns, refined one column at a time.

Every measure of this folder counts the sizes of such groups. A `Grouping` has a number for each
record; adding a column is one pass over the records, by a table of all pairs of a group and a value
where that table is small, and by hashing where it is not. Numbers are exact in both ways: a hash
only says where to look.

A table that the memory does not hold is dealt out by a hash of the columns, so that equal records
meet in one share, and a share is gathered some records at a time: of equal records one stands for
all (`swept`). Counts are the same in both ways.

Cost: n steps for a column. Errata: none.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from coterie.base.arrays import Array, Codes, Int32s, Ints
from coterie.base.compiled import compiled

_THREADS = 2
_FIRST, _TOGETHER = 1 << 7, 1 << 16  # pairs that are found at first, and at most, at a time
_SLICE = 1 << 18  # records whose share is found together
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

    def neighbours(self) -> tuple[Array, Array]:
        """Pairs of records that follow each other in a group, group by group."""
        there = np.flatnonzero(self.sizes[self.numbers] > 1)
        order = there[np.argsort(self.numbers[there], kind="stable")]
        same = self.numbers[order[1:]] == self.numbers[order[:-1]]
        return order[:-1][same], order[1:][same]


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


@dataclass(frozen=True)
class Sizes:
    """How many groups there are of each size."""

    size: Ints
    times: Ints

    @staticmethod
    def of(sizes: Ints | Sizes) -> Sizes:
        """From the size of each group."""
        if isinstance(sizes, Sizes):
            return sizes
        times = np.bincount(sizes)
        there = np.flatnonzero(times)
        return Sizes(there, times[there])

    def __add__(self, other: Sizes) -> Sizes:
        size, place = np.unique(np.concatenate([self.size, other.size]), return_inverse=True)
        times = np.zeros(len(size), np.int64)
        np.add.at(times, place, np.concatenate([self.times, other.times]))
        return Sizes(size, times)

    def __len__(self) -> int:
        """The number of groups."""
        return int(self.times.sum())

    @property
    def records(self) -> int:
        return int(self.size @ self.times)

    @property
    def smallest(self) -> int:
        return int(self.size.min(initial=self.records))

    @property
    def uniques(self) -> int:
        """Records that are alone in their group."""
        return self.below(2)

    def below(self, size: int) -> int:
        """Records in groups that are smaller than this."""
        return int((self.size * self.times)[self.size < size].sum())

    @property
    def together(self) -> int:
        """Pairs of records in a common group."""
        return sum(
            c * (c - 1) // 2 * t
            for c, t in zip(self.size.tolist(), self.times.tolist(), strict=True)
        )

    @property
    def squares(self) -> int:
        return sum(c * c * t for c, t in zip(self.size.tolist(), self.times.tolist(), strict=True))


def counted_sizes(columns: Sequence[Codes], records: int, most: int | None = None) -> Sizes:
    """How many groups there are of each size, with about `most` records in memory at a time."""
    if most is None or records <= most:
        return Sizes.of(group_sizes(columns, records))
    found = Sizes.of(np.zeros(0, np.int64))
    for sizes in swept(columns, records, most):
        found = found + Sizes.of(sizes)
    return found


Visit = Callable[[Array, Grouping], bool]


def swept(
    columns: Sequence[Codes], records: int, most: int, visit: Visit | None = None
) -> Iterator[Ints]:
    """The sizes of the groups of records equal in all these columns, some groups at a time.

    `visit` is called with the rows gathered and their groups: every group of equal records passes
    through it, as one representative and further records at a time. It returns whether to go on.
    """
    for share in _shares(columns, records, most):
        kept, weights = np.zeros(0, np.int64), np.zeros(0, np.int64)
        for more in share:
            rows = np.concatenate([kept, more])
            counted = np.concatenate([weights, np.ones(len(more), np.int64)])
            groups = grouped([codes[rows] for codes in columns], len(rows))
            if visit is not None and not visit(rows, groups):
                return
            first = np.empty(groups.count, np.int64)
            first[groups.numbers[::-1]] = np.arange(len(rows))[::-1]
            kept = rows[first]
            weights = np.bincount(groups.numbers, counted, groups.count).astype(np.int64)
        yield weights


def _shares(columns: Sequence[Codes], records: int, most: int) -> Iterator[Iterator[Array]]:
    """Rows in shares: records equal in all columns are in one share. At most `most` come at a time."""
    number = -(-5 * records // (4 * most))  # hashes are not quite even
    step = min(most, _SLICE)
    with tempfile.TemporaryFile(prefix="coterie-") as file:
        share_of = np.memmap(file, np.uint16, "w+", shape=(records,))
        for start in range(0, records, step):
            part = slice(start, min(start + step, records))
            mixed = np.zeros(part.stop - start, np.uint64)
            for codes in columns:
                _mix(mixed, np.asarray(codes[part]).astype(np.uint64))
            share_of[part] = (mixed >> np.uint64(33)) % np.uint64(min(number, 1 << 16))
        for share in range(min(number, 1 << 16)):
            yield _rows_of(share_of, share, most, step)


def _rows_of(share_of: Array, share: int, most: int, step: int) -> Iterator[Array]:
    waiting: list[Array] = []
    held = 0
    for start in range(0, len(share_of), step):
        rows = np.flatnonzero(share_of[start : start + step] == share) + start
        if held and held + len(rows) > most:
            yield np.concatenate(waiting)
            waiting, held = [], 0
        waiting.append(rows)
        held += len(rows)
    yield np.concatenate(waiting)


@compiled
def _mix(mixed: Array, codes: Array) -> None:
    for i in range(len(mixed)):
        one = (mixed[i] ^ codes[i]) * np.uint64(0x9E3779B97F4A7C15)
        mixed[i] = one ^ (one >> np.uint64(32))


def pairs_together(columns: Sequence[Codes], records: int) -> Iterator[tuple[Array, Array]]:
    """Pairs of records equal in all these columns, some at a time; every record of a group but its
    first one is in a pair with the first. Two threads look for them, each for half of the groups.
    """
    keys, room = np.zeros(records, np.int64), 1
    for codes in columns:
        size = int(codes.max(initial=0)) + 1
        if room * size >= 1 << 62:
            groups = numbered(keys, room)
            keys, room = groups.numbers.astype(np.int64), groups.count
        _join(keys, codes, size)
        room *= size
    slots = 1 << max(records, 2).bit_length()
    halves = [np.full(slots, -1, np.int32) for _ in range(_THREADS)]
    places = [0] * _THREADS
    one, other = (np.empty((_THREADS, _TOGETHER), np.int64) for _ in range(2))
    room = _FIRST  # who looks for one difference stops early where many records meet
    with ThreadPoolExecutor(_THREADS) as threads:
        while min(places) < records:
            work = [
                threads.submit(
                    _meet, keys, halves[half], half, _THREADS, places[half],
                    one[half, :room], other[half, :room],
                )
                for half in range(_THREADS)
            ]  # fmt: skip
            room = min(4 * room, _TOGETHER)
            for half, done in enumerate(work):
                places[half], found = done.result()
                if found:
                    yield one[half, :found].copy(), other[half, :found].copy()


@compiled
def _join(keys: Ints, codes: Codes, size: int) -> None:
    for i in range(len(keys)):
        keys[i] = keys[i] * size + codes[i]


@compiled
def _meet(
    keys: Ints, slots: Int32s, half: int, halves: int, start: int, one: Ints, other: Ints
) -> tuple[int, int]:
    """Goes on at record `start` until the pairs are full; returns where, and how many there are.

    A slot has the first record of its key. Only keys of this half are looked at.
    """
    mask = len(slots) - 1
    found = 0
    for i in range(start, len(keys)):
        mixed = np.uint64(keys[i]) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
        if (mixed >> np.uint64(48)) % np.uint64(halves) != np.uint64(half):
            continue
        at = np.int64(mixed & np.uint64(mask))
        while slots[at] >= 0 and keys[slots[at]] != keys[i]:
            at = (at + 1) & mask
        if slots[at] < 0:
            slots[at] = i
        else:
            one[found], other[found] = slots[at], i
            found += 1
            if found == len(one):
                return i + 1, found
    return len(keys), found


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
