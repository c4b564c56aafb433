"""Datafly: one table made k-anonymous by raising whole columns, a level at a time.

Sweeney, "Achieving k-anonymity privacy protection using generalization and suppression" (2002).
As long as some combination of values occurs fewer than k times, the column with the most distinct
values is raised by one level everywhere (ties: the first column). Nothing is suppressed here: the
topmost level of every column is a single value, so raising always ends.

It is the local step of the framework that `protocols.integration.dka` runs, and looks at no class
labels.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from coterie.anonymity.table.columns import CategoricalColumn, Column, ContinuousColumn
from coterie.anonymity.table.intervals import Interval, number_text
from coterie.base.arrays import Ints


@dataclass(frozen=True)
class Ladder:
    """A column and its levels: level 0 is the column itself, the last one has a single value."""

    name: str
    codes: Ints
    levels: tuple[Ints, ...]  # per level: the value that stands for each code
    labels: tuple[tuple[str, ...], ...]

    def at(self, level: int) -> Ints:
        """The column at a level, one number per record."""
        return self.levels[level][self.codes]

    def texts(self, level: int) -> list[str]:
        """The column at a level, as it is released."""
        names = self.labels[level]
        return [names[value] for value in self.at(level).tolist()]


def ladder(column: Column) -> Ladder:
    """The levels of a column: those of its taxonomy, or intervals that double in width."""
    if isinstance(column, CategoricalColumn):
        return _taxonomy_ladder(column)
    if isinstance(column, ContinuousColumn):
        return _number_ladder(column)
    raise TypeError(f"column '{column.name}' has neither a taxonomy nor an order")


def _taxonomy_ladder(column: CategoricalColumn) -> Ladder:
    """Level g shows no node deeper than g levels above the deepest leaf."""
    taxonomy = column.taxonomy
    levels = []
    for deepest in reversed(range(taxonomy.depth + 1)):
        nodes = np.zeros(len(taxonomy.leaves), np.int64)
        below = [0]
        for _ in range(deepest + 1):  # deeper nodes overwrite the shallower ones above them
            for node in below:
                nodes[taxonomy.first[node] : taxonomy.last[node]] = node
            below = [child for node in below for child in taxonomy.children[node]]
        levels.append(nodes)
    labels = (taxonomy.labels,) * len(levels)
    return Ladder(column.name, column.codes.astype(np.int64), tuple(levels), labels)


def _number_ladder(column: ContinuousColumn) -> Ladder:
    """Level 0 is the numbers themselves, then 2^m intervals of equal width, 2^(m-1), ..., one."""
    values = np.asarray(column.values, np.float64)
    low, high = column.tree.low[0], column.tree.high[0]
    levels: list[Ints] = [np.arange(len(values))]
    labels = [tuple(number_text(float(value)) for value in values)]
    parts = 1 << max(len(values) - 1, 0).bit_length()
    while parts > 1:
        parts //= 2
        edges = low + (high - low) * np.arange(parts + 1) / parts
        levels.append(np.clip(np.searchsorted(edges, values, "right") - 1, 0, parts - 1))
        ends = list(itertools.pairwise(edges.tolist()))
        labels.append(tuple(str(Interval(a, b, i == parts - 1)) for i, (a, b) in enumerate(ends)))
    return Ladder(column.name, column.codes.astype(np.int64), tuple(levels), tuple(labels))


def groups(ladders: Sequence[Ladder], levels: Sequence[int]) -> Ints:
    """For each record the number of its group: records alike in all columns at these levels."""
    number = np.zeros(len(ladders[0].codes), np.int64)
    for column, level in zip(ladders, levels, strict=True):
        values = column.at(level)
        _, number = np.unique(
            number * (int(values.max(initial=0)) + 1) + values, return_inverse=True
        )
    return number


def raised(ladders: Sequence[Ladder], levels: Sequence[int]) -> tuple[int, ...] | None:
    """The levels after one step of generalization; None when all columns are at the top."""
    distinct = [
        len(np.unique(column.at(level))) if level + 1 < len(column.levels) else 0
        for column, level in zip(ladders, levels, strict=True)
    ]
    if not any(distinct):
        return None
    widest = int(np.argmax(distinct))
    return tuple(level + (i == widest) for i, level in enumerate(levels))


def datafly(ladders: Sequence[Ladder], k: int) -> tuple[int, ...]:
    """The levels at which every group has at least k records."""
    levels: tuple[int, ...] | None = (0,) * len(ladders)
    while levels is not None:
        if np.bincount(groups(ladders, levels)).min(initial=k) >= k:
            return levels
        levels = raised(ladders, levels)
    raise ValueError(f"the table has fewer than k = {k} records")
