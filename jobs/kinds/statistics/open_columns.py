"""A party's columns as codes, however many values they have: for `identify` and `rules` jobs.

These jobs compare values of one column with each other, or count them where they lie, so that nobody
else needs the list of values: a column of a million different values is coded like any other. A
domain that the job declares (`values`, `taxonomy`, `cuts`) is checked as in other statistics.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from coterie.anonymity.table.intervals import GAP
from coterie.base.arrays import Codes
from coterie.jobs.data.domains import CodedAttribute
from coterie.jobs.data.missing import CURE, Dropped, refuse_gaps, without_gaps
from coterie.jobs.data.scaled import spelling_of
from coterie.jobs.matching.identifiers import Matching, PreparedIdentifiers, prepare_identifiers


@dataclass(frozen=True)
class OpenColumn:
    """The code of every record, and the value of every code."""

    codes: Codes
    values: pa.Array

    @property
    def distinct(self) -> int:
        return len(self.values)

    @property
    def once(self) -> int:
        """How many values occur once."""
        return int((np.bincount(self.codes) == 1).sum())


@dataclass(frozen=True)
class OpenColumns:
    """A party's own columns, before anything is exchanged; `identifiers` if records are matched."""

    records: int
    columns: Mapping[str, OpenColumn]
    identifiers: PreparedIdentifiers | None
    dropped: Dropped = field(default_factory=Dropped)


def open_columns(
    own: Mapping[str, CodedAttribute], matching: Matching | None, table: pa.Table, source: str
) -> OpenColumns:
    """Codes of the columns; an error names a value that cannot be used."""
    dropping = {name: item.values or () for name, item in own.items() if item.missing == "drop"}
    table, dropped = without_gaps(table, dropping, source)
    with dropped.counted_as_read():
        spelling = spelling_of(table)
        columns = {}
        for name, item in own.items():
            if item.values is None:
                columns[name] = _as_it_is(item, table.column(name), source)
            else:
                codes, domain = item.encode(table.column(name), source, spelling)
                columns[name] = OpenColumn(codes, pa.array(domain, pa.string()))
        identifiers = prepare_identifiers(matching, table, source) if matching else None
    return OpenColumns(table.num_rows, columns, identifiers, dropped)


def _as_it_is(item: CodedAttribute, column: pa.ChunkedArray, source: str) -> OpenColumn:
    """A column whose values nobody declares."""
    if item.missing == "error":
        refuse_gaps(column, (GAP,), item.name, source, CURE)
    coded = pc.fill_null(column.cast(pa.string()), GAP).combine_chunks().dictionary_encode()
    if isinstance(coded, pa.ChunkedArray):
        coded = coded.combine_chunks()
    return OpenColumn(np.asarray(coded.indices), coded.dictionary)
