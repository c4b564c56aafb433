"""Levels of whole columns: from the values themselves, step by step, to a single value.

A `Ladder` is a column with its levels. Those of a taxonomy are the columns of its file
(`anonymity.table.taxonomy`). The levels of numbers are the numbers themselves, then
intervals that double in width.

If `at_most` bounds an attribute, no level shows a value above its highest permitted one; the last
level then has one value for each bound.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from coterie.anonymity.table.columns import CategoricalColumn, Column, ContinuousColumn
from coterie.anonymity.table.groups import group_numbers
from coterie.anonymity.table.hierarchy import parents_and_leaves
from coterie.anonymity.table.intervals import GAP, Interval
from coterie.anonymity.table.table import Generalized, regions_of_nodes
from coterie.base.arrays import Array, Ints
from coterie.base.distinct import distinct, ranks


@dataclass(frozen=True)
class Ladder:
    """A column and its levels: level 0 is the column itself, the last one has a single value."""

    name: str
    codes: Ints
    levels: tuple[Ints, ...]  # per level: the value that represents each code
    label: Callable[[int, int], str]  # the text of a value at a level; made when it is asked for
    column: Column

    def at(self, level: int) -> Ints:
        """The column at a level, one number per record."""
        return self.levels[level][self.codes]

    def texts(self, level: int) -> list[str]:
        """The column at a level, as it is released."""
        nodes = self.at(level)
        shown, place = distinct(nodes), ranks(nodes)
        names = [self.label(level, value) for value in shown.tolist()]
        return [names[at] for at in place.tolist()]

    def regions(self, level: int, rows: Array) -> Generalized:
        """The column of these records at a level, with the codes that each value covers."""
        values = self.at(level)[rows]
        if isinstance(self.column, CategoricalColumn):
            return regions_of_nodes(self.column, values)
        shown, codes = np.unique(values, return_inverse=True)
        first = np.searchsorted(self.levels[level], shown, "left")
        last = np.searchsorted(self.levels[level], shown, "right")
        return Generalized(
            codes, tuple(self.label(level, value) for value in shown.tolist()), first, last
        )


def ladder(column: Column, highest: Array | None = None) -> Ladder:
    """The levels of a column: those of its taxonomy, or intervals that double in width.

    `highest` has, per leaf, the highest node that may be released for it.
    """
    if isinstance(column, CategoricalColumn):
        return _taxonomy_ladder(column, highest)
    if isinstance(column, ContinuousColumn):
        return _number_ladder(column)
    raise TypeError(f"column '{column.name}' has neither a taxonomy nor an order")


def _taxonomy_ladder(column: CategoricalColumn, highest: Array | None) -> Ladder:
    """Level g shows for each leaf the lowest node above it that does not end before column g."""
    taxonomy = column.taxonomy
    above, leaf_nodes = map(np.array, parents_and_leaves(taxonomy))
    tops = np.array(taxonomy.tops)
    nodes = leaf_nodes.astype(np.int64)
    levels = []
    for level in range(taxonomy.tops[0] + 1):
        while (ended := tops[nodes] < level).any():
            nodes = np.where(ended, above[nodes], nodes)
        # Both are on the path from the leaf to the root, where the deeper node has the larger
        # number.
        levels.append(nodes if highest is None else np.maximum(nodes, highest))
    codes = column.codes.astype(np.int64)
    return Ladder(column.name, codes, tuple(levels), lambda _, node: taxonomy.labels[node], column)


def _number_ladder(column: ContinuousColumn) -> Ladder:
    """Level 0 is the numbers themselves, then 2^m intervals of equal width, 2^(m-1), ..., one.

    Gaps stand apart at every level but the last.
    """
    values, scale = np.asarray(column.values, np.float64), column.scale
    low, high = column.tree.low[0], column.tree.high[0]
    levels: list[Ints] = [np.arange(column.size)]
    edges: list[Array] = [values]
    parts = 1 << max(column.size - 1, 0).bit_length()
    while parts > 1:
        parts //= 2
        edges.append(low + (high - low) * np.arange(parts + 1) / parts)
        level = np.clip(np.searchsorted(edges[-1], values, "right") - 1, 0, parts - 1)
        if column.gap:
            level = np.append(level, 0 if parts == 1 else parts)
        levels.append(level)

    def label(level: int, value: int) -> str:
        ends = edges[level]
        if level == 0:
            return GAP if value >= len(ends) else scale.write(float(ends[value]))
        inside = len(ends) - 1
        if value >= inside:
            return GAP
        whole = column.gap and inside == 1
        closed = value == inside - 1
        return str(Interval(float(ends[value]), float(ends[value + 1]), closed, scale, whole))

    codes = column.codes.astype(np.int64)
    return Ladder(column.name, codes, tuple(levels), label, column)


def groups(ladders: Sequence[Ladder], levels: Sequence[int]) -> Ints:
    """For each record the number of its group: records equal in all columns at these levels."""
    return group_numbers([column.at(level) for column, level in zip(ladders, levels, strict=True)])
