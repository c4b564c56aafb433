"""The base class of models that bound several sensitive columns together.

The counts of such a model have a column for each tuple of sensitive values that occurs, and the
model must be told which tuple is which (`for_tuples`). There may be many thousand tuples, so that a
matrix of groups by tuples would be large and nearly empty: `holds_for` answers from the group and
the tuple number of each record.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from coterie.anonymity.models.model import Counts, Flags, Model
from coterie.base.arrays import Ints


@dataclass(frozen=True)
class TupleModel(Model):
    """At least l values, in one sense or another, of several sensitive columns."""

    l: int  # noqa: E741
    columns: tuple[str, ...]
    tuples: Ints | None = field(default=None, compare=False, repr=False, kw_only=True)

    def __post_init__(self) -> None:
        if self.l < 2:
            raise ValueError(f"l must be at least 2, not {self.l}")
        if len(self.columns) < 2 or len(set(self.columns)) < len(self.columns):
            raise ValueError("several sensitive columns must be at least two, each named once")

    @property
    def bound_from_above(self) -> bool:
        return False

    @property
    def grows(self) -> bool:
        """Whether every group that contains a group that satisfies the model satisfies it, too.

        That is more than `monotone`, which speaks of merging two groups that both satisfy it.
        """
        return False

    def for_tuples(self, tuples: Ints) -> Self:
        """The model for counts whose columns represent these tuples, one code per sensitive column."""
        return replace(self, tuples=tuples)

    @property
    def known_tuples(self) -> Ints:
        if self.tuples is None:
            raise TypeError("the model has not been told which tuple is which")
        return self.tuples

    @abstractmethod
    def holds_for(self, groups: Ints, codes: Ints, count: int) -> Flags:
        """Which of `count` groups satisfy the model, from the group and the tuple of each record.

        Unless a model says otherwise, it does not matter how often a tuple occurs in a group.
        """

    def _satisfied(self, counts: Counts, overall: Counts) -> Any:
        groups, codes = np.nonzero(counts)
        return self.holds_for(groups, codes, len(counts))


def join_columns(columns: Sequence[tuple[Ints, Sequence[str]]]) -> tuple[Ints, Ints, list[str]]:
    """Several columns as one column of tuples.

    Returns a number per record, the tuple of each number, and the text of each tuple.
    """
    stacked = np.stack([np.asarray(codes, np.int64) for codes, _ in columns], axis=1)
    tuples, numbers = _different(stacked, [len(values) for _, values in columns])
    texts = [
        ", ".join(values[code] for code, (_, values) in zip(row, columns, strict=True))
        for row in tuples.tolist()
    ]
    return numbers, tuples, texts


def _different(rows: Ints, sizes: Sequence[int]) -> tuple[Ints, Ints]:
    """The different rows in order, and for each row which of them it is."""
    room = 1
    for size in sizes:
        room *= max(size, 1)
    if room >= 2**62:
        found, numbers = np.unique(rows, axis=0, return_inverse=True)
        return found, np.asarray(numbers, np.int64).reshape(-1)
    key = np.zeros(len(rows), np.int64)
    for column, size in zip(rows.T, sizes, strict=True):
        key = key * max(size, 1) + column
    _, first, numbers = np.unique(key, return_index=True, return_inverse=True)
    return rows[first], np.asarray(numbers, np.int64).reshape(-1)
