"""Reads a table file's source into files of codes, for a table that the memory does not hold.

The source is read in batches. Of every column the different texts are kept in memory, once each,
and for each record the number of its text in a file (`coded`). Each column is then prepared from
its different texts alone, by the functions that prepare a column in memory: so it has the same
codes, and the same errors, whose rows are looked up in the file.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from coterie.anonymity.table.columns import Column, NoValueError, encode_text
from coterie.anonymity.table.scales import PLAIN, Spelling
from coterie.anonymity.table.stored import SLICE, Stored, StoredTable
from coterie.anonymity.table.table import Labels
from coterie.base.arrays import Array
from coterie.base.errors import DataError
from coterie.jobs.data.batches import batches
from coterie.jobs.data.missing import gaps_of
from coterie.jobs.data.own_columns import plain_column, qid_column
from coterie.jobs.data.scaled import spelling_of
from coterie.onetable.coded import CodedTable, coded_table
from coterie.onetable.prepare import may_not_single_out, singles_out
from coterie.onetable.table_file import TableAttribute, TableFile


@dataclass(frozen=True)
class StoredData:
    """The table, the number of dropped rows; `coded` keeps the files as long as they are needed."""

    table: StoredTable
    dropped: int
    coded: CodedTable


def store(file: TableFile, memory: int) -> StoredData:
    """Reads the source; raises a `DataError` with row and column for an unusable value."""
    source = str(file.source)
    reading = _Reading(file, memory)
    coded = coded_table(reading.pieces(), file.columns, source, 0, gap=None, empty=reading)
    with reading.counted_as_read():
        return StoredData(_prepared(file, coded, reading.spelling), reading.dropped, coded)


class _Reading:
    """The rows of a source without those that are dropped for a gap."""

    def __init__(self, file: TableFile, memory: int) -> None:
        self.file, self.memory = file, memory
        self.spelling: Spelling = PLAIN
        self.dropping = {a.name: a.declared for a in file.attributes if a.missing == "drop"}
        self.dropped = 0
        self._gaps: list[Array] = []  # of each piece, as bits, the rows that are dropped
        self._sizes: list[int] = []
        self._names: dict[str, None] = {}

    def pieces(self) -> Iterator[pa.Table]:
        for piece in batches(self.file.source, self.file.columns, self.memory):
            self.spelling = spelling_of(piece)
            gone = np.zeros(piece.num_rows, bool)
            for name, known in self.dropping.items():
                gaps = gaps_of(piece.column(name), known)
                if gaps.any():
                    self._names[name] = None
                    gone |= gaps
            self._gaps.append(np.packbits(gone))
            self._sizes.append(len(gone))
            self.dropped += int(gone.sum())
            yield piece.filter(pa.array(~gone)) if gone.any() else piece

    def __call__(self, source: str) -> DataError:
        """The error about a table of which no record is left."""
        if self.dropped:
            return DataError(
                "every row lacks a value in {column}, so that none is left",
                file=source,
                column=[name for name in self.dropping if name in self._names],
            )
        return DataError(f"{source}: the table has no records")

    @contextlib.contextmanager
    def counted_as_read(self) -> Iterator[None]:
        """Errors inside name rows of the table that is left; outside, those of the table as read."""
        try:
            yield
        except DataError as error:
            if not self.dropped or not error.rows:
                raise
            gone = [
                np.unpackbits(bits, count=size).astype(bool)
                for bits, size in zip(self._gaps, self._sizes, strict=True)
            ]
            stays = np.flatnonzero(~np.concatenate(gone))
            rows = [int(stays[int(row) - 1]) + 1 for row in error.rows]  # type: ignore[arg-type]
            raise error.at(rows) from None


@contextlib.contextmanager
def _located(texts: Array, different: int) -> Iterator[None]:
    """Errors inside count different texts; outside, the records that have them."""
    try:
        yield
    except DataError as error:
        if not error.rows:
            raise
        bad = np.zeros(different, bool)
        bad[np.array(error.rows, np.int64) - 1] = True
        one = not isinstance(error, NoValueError)  # a value that does not fit is named once
        rows: list[int] = []
        for start in range(0, len(texts), SLICE):
            found = np.flatnonzero(bad[np.asarray(texts[start : start + SLICE])]) + start + 1
            rows += found[:1].tolist() if one else found.tolist()
            if one and rows:
                break
        if isinstance(error, NoValueError):
            raise NoValueError(
                error.name, rows, len(rows), len(texts), error.file, error.cure
            ) from None
        raise error.at(rows) from None


def _prepared(file: TableFile, coded: CodedTable, spelling: Spelling) -> StoredTable:
    columns: dict[str, Column] = {}
    labels: dict[str, Labels] = {}
    sensitive = {name for r in file.requirements for name in r.sensitive_columns}
    source = str(file.source)
    stored: dict[str, Stored] = {}
    by_name: Mapping[str, TableAttribute] = {a.name: a for a in file.attributes}
    for name in file.columns:
        texts, different = coded.column(name).codes, pa.chunked_array([coded.column(name).values])
        prepared: Any
        with _located(texts, len(different)):
            if name not in by_name:
                codes, found = encode_text(name, different, source)
                prepared = labels[name] = Labels(codes, tuple(found))
            elif not by_name[name].in_qid:
                prepared = labels[name] = plain_column(
                    by_name[name], different, source, spelling, name in sensitive
                )
            else:
                attribute = by_name[name]
                if attribute.gap and not gaps_of(different, attribute.declared).any():
                    attribute = replace(attribute, missing=None)
                prepared = columns[name] = qid_column(
                    attribute, different, source, spelling, most_flat=None
                )
        stored[name] = Stored(texts, prepared.codes)
    for name in labels.keys() & by_name.keys():
        if may_not_single_out(by_name[name], sensitive) and (
            len(labels[name].values) == coded.records > 1
        ):
            raise singles_out(name, source)
    for requirement in file.requirements:
        if requirement.model is not None and isinstance(requirement.sensitive, str):
            try:
                requirement.model.check(labels[requirement.sensitive].values)
            except ValueError as error:
                raise DataError(f"{source}: column '{requirement.sensitive}': {error}") from None
    return StoredTable(
        coded.records,
        columns,
        labels,
        stored,
        {a.name: a.at_most for a in file.attributes if a.at_most},
        {a.name: a.priority for a in file.attributes if a.in_qid},
    )
