"""Joint diversity over several sensitive columns (Gal, Chen, Gangopadhyay; paper 5, definitions 5
to 7).

Rows stay linked in a release: an attacker that rules out a value of one sensitive column rules out
rows, and with them values of the other columns. tau(G) is the least number of sensitive values,
from any columns, whose deletion, with all rows that contain one, deletes every row of the group G.
The model asks for tau(G) >= l. With `most`, only deletions with at most `most[c]` values of column
c count.

tau(G) depends on which tuples of sensitive values occur in a group, not on how often. Merging
groups cannot lower it: values that delete all rows of the union delete all rows of each part.

Guarantee: whoever rules out any l-2 values still sees at least two values of every sensitive
column among the rows left (theorem 1). With `most`, of column c at most min(l-2, most[c]-1) values.
Values are counted, not shares.

How it is decided (`deletion_search`): greedily, where that proves diversity; else exactly. Above
`MOST_STEPS` steps of branch and bound the answer is no, which is the safe one.

Errata: figure 7, for `most`, answers yes wrongly (three equal rows, l = 3) and is not used.
Theorem 1 does not carry over to `most`: figure 4 with l = 4 and two treatments of three ruled out
shows the third. Theorem 3 calls the check NP-hard; for two columns it is polynomial.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from coterie.anonymity.models import deletion_search
from coterie.anonymity.models.model import Counts, Flags, Measures
from coterie.anonymity.models.tuple_model import TupleModel
from coterie.base.arrays import Ints
from coterie.base.distinct import distinct

MOST_STEPS = 100_000  # the most steps of branch and bound for one group


@dataclass(frozen=True)
class JointDiversity(TupleModel):
    """No l-1 values of the sensitive columns, deleted with their rows, empty a group."""

    most: Mapping[str, int] = field(default_factory=dict)
    by_frequency: bool = False  # decided by counts of single values, if no party has the rows

    def __post_init__(self) -> None:
        super().__post_init__()
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
    def grows(self) -> bool:
        return not self.by_frequency

    @property
    def limits(self) -> list[int]:
        """The number of values of each column that may be deleted."""
        return [min(self.most.get(name, self.l), self.l - 1) for name in self.columns]

    def holds_for(self, groups: Ints, codes: Ints, count: int) -> Flags:
        tuples = self.known_tuples
        if self.by_frequency:
            return self._frequencies_hold(groups.astype(np.int64), codes, count)
        keys = distinct(groups.astype(np.int64) * len(tuples) + codes)
        group, code = np.divmod(keys, max(len(tuples), 1))
        starts = np.searchsorted(group, np.arange(count + 1))
        rows = apart(tuples)[code]
        values = int(rows.max(initial=-1)) + 1
        flags: Flags = deletion_search.packed(rows, starts, self.l, values)
        for at in np.flatnonzero(~flags):
            part = rows[starts[at] : starts[at + 1]]
            flags[at] = not len(part) or is_diverse(part, self.l, self.limits)
        return flags

    def _satisfied(self, counts: Counts, overall: Counts) -> Any:
        if not self.by_frequency:
            return super()._satisfied(counts, overall)
        groups, codes = np.nonzero(counts)
        times = counts[groups, codes]
        return self.holds_for(np.repeat(groups, times), np.repeat(codes, times), len(counts))

    def _frequencies_hold(self, groups: Ints, codes: Ints, count: int) -> Flags:
        """Whether the l-1 most frequent values of all columns are in fewer rows than a group has."""
        counts = []
        for values in self.known_tuples.T:
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


def is_diverse(rows: Ints, least: int, limits: Sequence[int]) -> bool:
    """Whether no `least - 1` values, at most `limits[c]` of column c, empty these different rows.

    Values of different columns have different numbers.
    """
    found = deletion_search.decided(
        rows, int(rows.max()) + 1, least, np.array(limits, np.int64), MOST_STEPS
    )
    return bool(found == deletion_search.DIVERSE)


def apart(tuples: Ints) -> Ints:
    """The codes renumbered so that no two columns share one."""
    sizes = tuples.max(axis=0, initial=-1) + 1
    shifted: Ints = tuples + np.concatenate([[0], np.cumsum(sizes)[:-1]])
    return shifted
