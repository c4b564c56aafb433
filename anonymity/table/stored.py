"""A table whose records stay on disk: columns that are read slice by slice.

A record has, for every column, the number of its text among the different texts of the column; a
small table says which code or label each text has. Both a column of codes and a column of labels
are such a pair, so that only what is different is in memory, once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from coterie.anonymity.table.columns import Column
from coterie.anonymity.table.table import Generalized, Labels, Table
from coterie.base.arrays import Array
from coterie.base.memory import let_go, read_part

SLICE = 1 << 16  # records that are read together


@dataclass(frozen=True)
class Stored:
    """For each record the number of its text, on disk, and the code that each text has."""

    texts: Array
    codes: Array

    def part(self, rows: slice | Array) -> Array:
        """The codes of these records."""
        found: Array = self.codes[np.asarray(self.texts[rows])]
        let_go(self.texts)
        return found


@dataclass(frozen=True)
class StoredTable:
    """The columns of the quasi-identifiers and all others, without their records in memory.

    The codes of `columns` and `labels` are those of the different texts; `stored` has the records.
    """

    records: int
    columns: Mapping[str, Column]
    labels: Mapping[str, Labels]
    stored: Mapping[str, Stored]
    at_most: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    priority: Mapping[str, float] = field(default_factory=dict)

    def slices(self) -> Iterator[slice]:
        for start in range(0, self.records, SLICE):
            yield slice(start, min(start + SLICE, self.records))

    def size(self, name: str) -> int:
        """How many codes, or labels, a column has."""
        return self.columns[name].size if name in self.columns else len(self.labels[name].values)

    def frequencies(self, names: Sequence[str], keep: Array | None = None) -> list[Array]:
        """How often each code of the columns occurs, among all records or those marked."""
        found = [np.zeros(self.size(name), np.int64) for name in names]
        for rows in self.slices():
            chosen = slice(None) if keep is None else read_part(keep, rows)
            for name, counts in zip(names, found, strict=True):
                codes = self.stored[name].part(rows)[chosen]
                counts += np.bincount(codes, minlength=len(counts))
        return found

    def without_records(self) -> Table:
        """Columns and labels as an algorithm knows them, whatever their records are."""
        return Table(tuple(self.columns.values()), self.labels, self.at_most, self.priority)

    def sample(self, rows: Array) -> Table:
        """These records as a table in memory."""
        table = self.without_records().take(np.zeros(0, np.int64))
        for column in table.columns:
            column.codes = self.stored[column.name].part(rows)
        labels = {
            name: Labels(self.stored[name].part(rows), one.values)
            for name, one in self.labels.items()
        }
        return Table(table.columns, labels, self.at_most, self.priority)


@dataclass(frozen=True)
class Grouped:
    """Columns that show one region per part, and the number of each record's part on disk.

    A record that is not released has the part -1.
    """

    part: Array
    sizes: Array
    columns: Mapping[str, Generalized]  # a region per part

    def parts(self, rows: slice | Array) -> Array:
        """The parts of these records."""
        return read_part(self.part, rows)
