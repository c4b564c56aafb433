"""The smallest sets of columns that distinguish all records: greedy, and exact.

Motwani, Xu, "Efficient algorithms for masking and finding quasi-identifiers" (P3DM 2008), section
2.

* `greedy_key` adds the column that separates most pairs not yet separated. Guarantee: at most
  1 + 2 ln n times as many columns as the minimum. Cost: m² passes over the records that are not yet
  alone, where the paper says m³ n: groups are kept, so that a column costs one pass.
* `minimum_key` is exact. Two records that differ say that a key has one of the columns in which they
  differ, so a minimum key is a smallest set that meets all these sets of differences. They are too
  many to list; so the smallest set that meets those known so far is tried on the table (on few records
  first), and the differences of the pairs that it leaves together are added to those known. When it
  leaves no pair together, it is a key, and no smaller set can be one. A column in which alone two
  records differ is necessary, and found in this way. A set with fewer combinations of values than
  there are different records is not tried. The problem is NP-hard: after a number of steps the search
  ends, and the answer says how small a key could be at the least (`at_least`).

If records are equal in all columns, no key exists. Both then return a set that distinguishes all
different records.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from coterie.anonymity.risk.grouping import (
    Grouping,
    counted_sizes,
    grouped,
    pairs_together,
    pairs_within,
    size_counts,
    swept,
    whole,
)
from coterie.anonymity.risk.hitting import Work, smallest_hitting_set
from coterie.base.arrays import Array, Codes

_SAMPLES = (50_000, 500_000, 3_000_000)  # differences are first looked for among so many records
_PAIRS = 100  # sets of differences that one trial adds at most
_TRIALS = 60  # tables of people need some twenty; random ones with many small keys never end
_RECORDS = 300_000_000  # that are read in all trials of the whole table


@dataclass(frozen=True)
class Key:
    """Columns by their places; `at_least` is how many a set as good as this one needs."""

    columns: tuple[int, ...]
    at_least: int

    @property
    def exact(self) -> bool:
        return len(self.columns) == self.at_least


def greedy_key(columns: Sequence[Codes], records: int) -> tuple[int, ...]:
    """Columns in the order in which they were chosen; ties go to the first."""
    chosen: list[int] = []
    rows = np.arange(records)
    groups = whole(records)
    sizes_of = [int(codes.max(initial=0)) + 1 for codes in columns]
    together = pairs_within(groups.sizes)
    while together:
        best, left = -1, together
        for j, codes in enumerate(columns):
            if j in chosen or sizes_of[j] == 1:
                continue
            keys = groups.numbers.astype(np.int64) * sizes_of[j] + codes[rows]
            remaining = pairs_within(size_counts(keys, groups.count * sizes_of[j]))
            if remaining < left:
                best, left = j, remaining
        if best < 0:
            break
        chosen.append(best)
        together = left
        groups = groups.refined(columns[best][rows])
        stays = groups.sizes[groups.numbers] > 1  # a record that is alone stays so
        rows = rows[stays]
        groups = grouped([groups.numbers[stays]], len(rows))
    return tuple(chosen)


def minimum_key(
    columns: Sequence[Codes],
    records: int,
    different: int | None = None,
    trials: int = _TRIALS,
    most: int | None = None,
) -> Key:
    """The smallest set that distinguishes all different records, of which there are `different`.

    With `most`, about so many records are in memory at a time.
    """
    steps = [
        np.linspace(0, records - 1, size).astype(np.int64) for size in _SAMPLES if size < records
    ]
    parts = [([codes[rows] for codes in columns], len(rows)) for rows in steps]
    parts.append((list(columns), records))
    bits = [math.log2(int(codes.max(initial=0)) + 1) for codes in columns]
    need = math.log2(max(different or len(counted_sizes(columns, records, most)), 1)) - 1e-9
    known: set[int] = set()
    work = Work()  # of all searches together
    at_least = 0
    left = [min(trials, max(_RECORDS // max(count, 1), 3)) for _, count in parts]
    while True:
        found = smallest_hitting_set(known, len(columns), bits, need, work)
        at_least = max(at_least, found.at_least)
        if not found.proved or min(left) <= 0:
            small, count = parts[0]
            return Key(_small_key(columns, records, _extended(small, count, ()), most), at_least)
        # A set that fails mostly fails on few records already.
        for at, (part, count) in enumerate(parts):
            fresh = differences(part, count, found.chosen, most)
            left[at] -= bool(fresh)
            if fresh:
                break
        else:
            break
        known = _minimal(known, fresh)
    return Key(found.chosen, at_least)


def _small_key(
    columns: Sequence[Codes], records: int, chosen: tuple[int, ...], most: int | None
) -> tuple[int, ...]:
    """A set that tells apart all records that differ, none of whose columns can be spared."""
    enough = _extended(columns, records, chosen, most)
    return tuple(sorted(_spared(columns, records, enough, most)))


def _extended(
    columns: Sequence[Codes], records: int, chosen: tuple[int, ...], most: int | None = None
) -> tuple[int, ...]:
    """Adds the column that settles most of the pairs found to be together, until there are none."""
    size = [int(codes.max(initial=0)) for codes in columns]
    while fresh := differences(columns, records, chosen, most):
        settled = [sum(mask >> j & 1 for mask in fresh) for j in range(len(columns))]
        chosen = (*chosen, max(range(len(columns)), key=lambda j: (settled[j], size[j])))
    return chosen


def _spared(
    columns: Sequence[Codes], records: int, chosen: tuple[int, ...], most: int | None = None
) -> tuple[int, ...]:
    """The set without columns that it does not need."""
    for j in chosen:
        rest = tuple(i for i in chosen if i != j)
        if not differences(columns, records, rest, most):
            chosen = rest
    return chosen


def differences(
    columns: Sequence[Codes], records: int, chosen: Sequence[int], most: int | None = None
) -> set[int]:
    """For some pairs that the chosen columns leave together, where they differ: a bit per column.

    Empty only if no two records that differ are left together. Each record is compared with the
    first one of its group, or with the one before it, so that a group of different records shows at
    least one pair.
    """
    found: set[int] = set()
    own = [columns[j] for j in chosen]
    if most is None or records <= most:
        for one, other in pairs_together(own, records):
            found |= _masks(columns, one, other)
            if found:
                break  # some pairs are enough to go on with
    else:

        def look(rows: Array, groups: Grouping) -> bool:
            _add_differences(found, columns, rows, groups)
            return len(found) < _PAIRS

        for _ in swept(own, records, most, look):
            pass
    return set(sorted(found, key=int.bit_count)[:_PAIRS])


def _add_differences(
    found: set[int], columns: Sequence[Codes], rows: Array, groups: Grouping
) -> None:
    """Adds what neighbours in a group differ in; `rows` are the records."""
    if groups.count == len(groups.numbers):
        return
    one, other = (rows[places] for places in groups.neighbours())
    step = 1 << 20
    for start in range(0, len(one), step):
        found |= _masks(columns, one[start : start + step], other[start : start + step])
        if len(found) >= _PAIRS:
            break


def _masks(columns: Sequence[Codes], one: Array, other: Array) -> set[int]:
    differ = np.stack([codes[one] != codes[other] for codes in columns], axis=1)
    packed = np.unique(np.packbits(differ, axis=1, bitorder="little"), axis=0)
    return {int.from_bytes(row.tobytes(), "little") for row in packed} - {0}


def _minimal(known: set[int], fresh: set[int]) -> set[int]:
    """The sets that contain no other: who meets these meets all. Those known are so already."""
    width = max((mask.bit_length() for mask in known | fresh), default=1)
    kept = _words(known, width)
    for mask in _words(sorted(fresh, key=int.bit_count), width):
        common = kept & mask
        if not (common == kept).all(axis=1).any():
            kept = np.concatenate([kept[~(common == mask).all(axis=1)], mask[None, :]])
    return {int.from_bytes(row.tobytes(), "little") for row in kept}


def _words(masks: Iterable[int], width: int) -> Array:
    """Sets of bits as rows of 64-bit words."""
    size = 8 * -(-width // 64)
    data = b"".join(mask.to_bytes(size, "little") for mask in masks)
    return np.frombuffer(data, "<u8").reshape(-1, size // 8)


def necessary(columns: Sequence[Codes], records: int) -> tuple[int, ...]:
    """Columns that any key has: without them two different records are equal."""
    every = grouped(columns, records).count
    others = [[codes for i, codes in enumerate(columns) if i != j] for j in range(len(columns))]
    return tuple(j for j, rest in enumerate(others) if grouped(rest, records).count < every)
