"""One table as the algorithms see it, and columns whose values were generalized.

A `Table` has the columns of the quasi-identifiers as codes, and the class and sensitive columns as
labels. A `Generalized` column has a region per record: a range of the column's codes, which is a
node of a taxonomy or an interval of numbers, and the text that a release shows for it. The results
of all algorithms have generalized columns, so that all results are measured, written and checked in
the same way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from coterie.anonymity.table.columns import CategoricalColumn, Column, ContinuousColumn
from coterie.anonymity.table.intervals import GAP, Interval
from coterie.base.arrays import Array
from coterie.base.distinct import distinct, ranks


@dataclass(frozen=True)
class Labels:
    """A column that is counted and not generalized: the class, or a sensitive attribute."""

    codes: Array
    values: tuple[str, ...]

    def take(self, rows: Array | slice) -> Labels:
        return Labels(self.codes[rows], self.values)

    def compact(self) -> Labels:
        """The same column without the values that no record has."""
        occurs = np.bincount(self.codes, minlength=len(self.values)) > 0
        if occurs.all():
            return self
        number = np.cumsum(occurs) - 1
        kept = tuple(value for value, there in zip(self.values, occurs, strict=True) if there)
        return Labels(number[self.codes].astype(self.codes.dtype), kept)


@dataclass(frozen=True)
class Table:
    """The columns of the quasi-identifiers in order, and the class and sensitive columns.

    `at_most` names, per attribute, the values of its taxonomy above which no value may be
    generalized; `priority` weighs the attributes against each other.
    """

    columns: tuple[Column, ...]
    labels: Mapping[str, Labels] = field(default_factory=dict)
    at_most: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    priority: Mapping[str, float] = field(default_factory=dict)

    @property
    def records(self) -> int:
        return len(self.columns[0])

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    def column(self, name: str) -> Column:
        return next(column for column in self.columns if column.name == name)

    def take(self, rows: Array) -> Table:
        """The table of these records. Numbers keep their ranks, so regions stay comparable."""
        return Table(
            tuple(_rows_of(column, rows) for column in self.columns),
            {name: labels.take(rows) for name, labels in self.labels.items()},
            self.at_most,
            self.priority,
        )

    def matrix(self, names: Sequence[str]) -> Array:
        """The codes of these columns, a row per record."""
        return np.stack([self.column(name).codes for name in names], axis=1).astype(np.int32)


def _rows_of(column: Column, rows: Array) -> Column:
    if isinstance(column, ContinuousColumn):
        span = column.tree.low[0], column.tree.high[0]
        return ContinuousColumn(
            column.name, column.codes[rows], column.values, span, column.scale, column.gap,
            column.given_places,
        )  # fmt: skip
    return column.take(rows)


@dataclass(frozen=True)
class Generalized:
    """A column after generalization: per record the number of its region, and the regions.

    Region r covers the codes from `first[r]` up to, not including, `last[r]`.
    """

    codes: Array
    labels: tuple[str, ...]
    first: Array
    last: Array


def regions_of_nodes(column: CategoricalColumn, nodes: Array) -> Generalized:
    """A categorical column that shows these nodes of its taxonomy, one per record."""
    shown, codes = distinct(nodes), ranks(nodes)
    taxonomy = column.taxonomy
    return Generalized(
        codes,
        tuple(taxonomy.labels[node] for node in shown.tolist()),
        np.array([taxonomy.first[node] for node in shown.tolist()], np.int64),
        np.array([taxonomy.last[node] for node in shown.tolist()], np.int64),
    )


def regions_of_ranks(
    column: ContinuousColumn, first: Array, last: Array, tight: bool
) -> Generalized:
    """A column of numbers that shows an interval per record, given as a range of ranks.

    A tight interval is closed and ends at values that occur; a single value is shown as itself. Any
    other interval is half open, except at the top, and begins and ends where the table was cut.
    A range with the last code of a column with gaps also stands for records without a value.
    """
    size = column.size
    key = np.asarray(first, np.int64) * (size + 1) + np.asarray(last, np.int64)
    shown, codes = distinct(key), ranks(key)
    first, last = shown // (size + 1), shown % (size + 1)
    ends = zip(first.tolist(), last.tolist(), strict=True)
    text = _tight_text if tight else _cut_text
    return Generalized(codes, tuple(text(column, a, b) for a, b in ends), first, last)


def _tight_text(column: ContinuousColumn, first: int, last: int) -> str:
    known, scale = len(column.values), column.scale
    if first >= known:
        return GAP
    gap = last > known
    low, high = float(column.values[first]), float(column.values[min(last, known) - 1])
    return (
        scale.write(low) if low == high and not gap else str(Interval(low, high, True, scale, gap))
    )


def _cut_text(column: ContinuousColumn, first: int, last: int) -> str:
    known = len(column.values)
    if first >= known:
        return GAP
    low = column.tree.low[0] if first == 0 else float(column.values[first])
    topmost = last >= known
    high = column.tree.high[0] if topmost else float(column.values[last])
    return str(Interval(low, high, topmost, column.scale, last > known))
