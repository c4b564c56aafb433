"""Joint diversity over several sensitive columns (Gal, Chen, Gangopadhyay; paper 5, definitions 5
to 7).

Rows stay linked in a release: an attacker that rules out a value of one sensitive column rules out
rows, and with them values of the other columns. tau(G) is the least number of sensitive values,
from any columns, whose deletion, with all rows that contain one, deletes every row of the group G.
The model asks for tau(G) >= l. With `most`, only deletions with at most `most[c]` values of column
c count.

tau(G) depends on which tuples of sensitive values occur in a group, not on how often. Merging
groups cannot lower it: values that delete all rows of the union delete all rows of each part.

How it is decided, group by group:
    1. greedy (figure 6): l rows that share no value need l deletions. That is a yes; its no means
       nothing, and it is not monotone.
    2. a column with fewer than l values, all of which may be deleted: no.
    3. exactly: for two columns without `most` the largest matching, which is the least cover of a
       bipartite graph (König); otherwise branch and bound, at most columns^(l-1) leaves. Above a
       limit of steps the answer is no, which is the safe one.
Figure 7 of the paper, for `most`, answers yes wrongly and is not used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from coterie.anonymity.models.model import Counts, Flags, Measures, Model
from coterie.base.arrays import Ints
from coterie.base.compiled import compiled

MOST_STEPS = 100_000  # the most steps of branch and bound for one group


@dataclass(frozen=True)
class JointDiversity(Model):
    """No l-1 values of the sensitive columns, deleted with their rows, empty a group."""

    l: int  # noqa: E741
    columns: tuple[str, ...]
    most: Mapping[str, int] = field(default_factory=dict)
    by_frequency: bool = False  # decided by counts of single values, if no party has the rows
    tuples: Ints | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.l < 2:
            raise ValueError(f"l must be at least 2, not {self.l}")
        if len(self.columns) < 2 or len(set(self.columns)) < len(self.columns):
            raise ValueError("several sensitive columns must be at least two, each named once")
        for name, limit in self.most.items():
            if name not in self.columns:
                raise ValueError(f"'most' names '{name}', which is not among the sensitive columns")
            if not 0 <= limit <= self.l:
                raise ValueError(f"'most' of '{name}' must be 0 to l = {self.l}, not {limit}")

    @property
    def name(self) -> str:
        limits = ", ".join(f"{limit} of {name}" for name, limit in self.most.items())
        limited = f" (at most {limits})" if limits else ""
        way = " by frequencies" if self.by_frequency else ""
        return f"joint {self.l}-diversity of {' and '.join(self.columns)}{limited}{way}"

    @property
    def bound_from_above(self) -> bool:
        return False

    @property
    def limits(self) -> list[int]:
        """The number of values of each column that may be deleted."""
        return [min(self.most.get(name, self.l), self.l - 1) for name in self.columns]

    def for_tuples(self, tuples: Ints) -> JointDiversity:
        """The model for counts whose columns represent these tuples, one code per sensitive column."""
        return replace(self, tuples=tuples)

    def holds_for(self, groups: Ints, codes: Ints, count: int) -> Flags:
        """Which of `count` groups are diverse, from the group and the tuple number of each record."""
        if self.tuples is None:
            raise TypeError("the model has not been told which tuple is which")
        if self.by_frequency:
            return self._frequencies_hold(groups.astype(np.int64), codes, count)
        keys = np.unique(groups.astype(np.int64) * len(self.tuples) + codes)
        group, code = np.divmod(keys, max(len(self.tuples), 1))
        starts = np.searchsorted(group, np.arange(count + 1))
        rows = _apart(self.tuples)[code]
        flags: Flags = _greedy(rows, starts, self.l, int(rows.max(initial=-1)) + 1)
        for at in np.flatnonzero(~flags):
            part = rows[starts[at] : starts[at + 1]]
            flags[at] = not len(part) or is_diverse(part, self.l, self.limits)
        return flags

    def _satisfied(self, counts: Counts, overall: Counts) -> Any:
        groups, codes = np.nonzero(counts)
        times = counts[groups, codes] if self.by_frequency else 1
        return self.holds_for(np.repeat(groups, times), np.repeat(codes, times), len(counts))

    def _frequencies_hold(self, groups: Ints, codes: Ints, count: int) -> Flags:
        """Whether the l-1 most frequent values of all columns are in fewer rows than a group has."""
        assert self.tuples is not None  # noqa: S101
        counts = []
        for values in self.tuples.T:
            size = int(values.max(initial=0)) + 1
            key = groups * size + values[codes]
            counts.append(np.bincount(key, minlength=count * size).reshape(count, size))
        sizes = np.bincount(groups, minlength=count)
        largest = largest_together(counts, self.limits, self.l - 1)
        flags: Flags = np.logical_or(largest.sum(axis=1) < sizes, sizes == 0)
        return flags

    def measure(self, counts: Counts, overall: Counts) -> Measures:
        """The diversity of each group, counted no further than l."""
        found = np.where(counts.any(axis=1), 1.0, np.nan)
        for least in range(2, self.l + 1):
            smaller = replace(self, l=least, most={n: min(m, least) for n, m in self.most.items()})
            found[smaller.holds(counts, overall) & ~np.isnan(found)] = least
        return found


def largest_together(counts: Sequence[Ints], limits: Sequence[int], number: int) -> Ints:
    """For each row the `number` largest counts, descending; at most limits[c] of column c."""
    best = [
        -np.sort(-column, axis=1)[:, :limit] for column, limit in zip(counts, limits, strict=True)
    ]
    every = -np.sort(-np.hstack(best), axis=1)[:, :number]
    padded = np.zeros((len(every), number), np.int64)
    padded[:, : every.shape[1]] = every
    return padded


def join_columns(columns: Sequence[tuple[Ints, Sequence[str]]]) -> tuple[Ints, Ints, list[str]]:
    """Several columns as one column of tuples.

    Returns a number per record, the tuple of each number, and the text of each tuple.
    """
    stacked = np.stack([np.asarray(codes, np.int64) for codes, _ in columns], axis=1)
    tuples, numbers = np.unique(stacked, axis=0, return_inverse=True)
    texts = [
        ", ".join(values[code] for code, (_, values) in zip(row, columns, strict=True))
        for row in tuples
    ]
    return np.asarray(numbers, np.int64).reshape(-1), tuples, texts


def is_diverse(rows: Ints, least: int, limits: Sequence[int]) -> bool:
    """Whether no `least - 1` values, at most `limits[c]` of column c, empty these different rows.

    Values of different columns have different numbers.
    """
    for column, limit in enumerate(limits):
        if len(np.unique(rows[:, column])) <= min(limit, least - 1):
            return False
    if len(limits) == 2 and min(limits) >= least - 1:
        return _has_matching(rows, least)
    return not _Deletion(rows, limits).empties(least - 1)


def _apart(tuples: Ints) -> Ints:
    """The codes renumbered so that no two columns share one."""
    sizes = tuples.max(axis=0, initial=-1) + 1
    shifted: Ints = tuples + np.concatenate([[0], np.cumsum(sizes)[:-1]])
    return shifted


@compiled
def _greedy(rows: Ints, starts: Ints, least: int, values: int) -> Flags:
    """For each group whether the greedy packing finds `least` rows that share no value."""
    found = np.zeros(len(starts) - 1, np.bool_)
    frequency = np.zeros(values, np.int64)
    taken = np.full(values, -1, np.int64)
    for group in range(len(starts) - 1):
        low, high = starts[group], starts[group + 1]
        if high - low < least:
            continue
        for i in range(low, high):
            for value in rows[i]:
                frequency[value] += 1
        weight = np.zeros(high - low, np.int64)
        for i in range(low, high):
            for value in rows[i]:
                weight[i - low] += frequency[value]
        size = 0
        for i in np.argsort(weight, kind="mergesort"):
            free = True
            for value in rows[low + i]:
                free = free and taken[value] != group
            if free:
                for value in rows[low + i]:
                    taken[value] = group
                size += 1
                if size >= least:
                    break
        found[group] = size >= least
        for i in range(low, high):
            for value in rows[i]:
                frequency[value] = 0
    return found


def _has_matching(rows: Ints, size: int) -> bool:
    """Whether the bipartite graph of two columns has `size` edges without a common end."""
    neighbours: dict[int, list[int]] = {}
    for left, right in rows.tolist():
        neighbours.setdefault(left, []).append(right)
    partner: dict[int, int] = {}  # of a right value

    def augment(left: int, seen: set[int]) -> bool:
        for right in neighbours[left]:
            if right not in seen:
                seen.add(right)
                if right not in partner or augment(partner[right], seen):
                    partner[right] = left
                    return True
        return False

    return any(augment(left, set()) and len(partner) >= size for left in neighbours)


class _Deletion:
    """Looks for few values that all rows of one group contain; rows are bits of an integer."""

    def __init__(self, rows: Ints, limits: Sequence[int]) -> None:
        weight = np.bincount(rows.reshape(-1))[rows].sum(axis=1)
        self.rows = rows[np.argsort(weight, kind="stable")].tolist()
        self.limits = list(limits)
        self.containing: dict[int, int] = {}
        for at, row in enumerate(self.rows):
            for value in row:
                self.containing[value] = self.containing.get(value, 0) | 1 << at
        self.touching = [self._or(row) for row in self.rows]
        self.steps = 0

    def _or(self, row: Sequence[int]) -> int:
        total = 0
        for value in row:
            total |= self.containing[value]
        return total

    def empties(self, budget: int) -> bool:
        """Whether `budget` values delete all rows; True also if the search takes too many steps."""
        return self._empties((1 << len(self.rows)) - 1, budget, self.limits, frozenset())

    def _empties(self, left: int, budget: int, limits: list[int], kept: frozenset[int]) -> bool:
        """Whether the rows `left` can be deleted without the values `kept`."""
        if not left:
            return True
        self.steps += 1
        if self.steps > MOST_STEPS:
            return True
        if self._needs_more_than(left, budget):
            return False
        row = self.rows[left.bit_length() - 1]
        for column, value in enumerate(row):
            if value in kept or not limits[column]:
                continue
            fewer = [limit - (at == column) for at, limit in enumerate(limits)]
            if self._empties(left & ~self.containing[value], budget - 1, fewer, kept):
                return True
            kept |= {value}  # the deletions with this value have all been tried
        return False

    def _needs_more_than(self, left: int, budget: int) -> bool:
        """Rows without a common value need a deletion each."""
        while left:
            if budget == 0:
                return True
            lowest = (left & -left).bit_length() - 1
            left &= ~self.touching[lowest]
            budget -= 1
        return False
