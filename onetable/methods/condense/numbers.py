"""Pieces of a stream of records as numbers and classes, with errors that name the row of the stream."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

from coterie.anonymity.table.columns import NUMBERS_ONLY, continuous_column, encode_text
from coterie.anonymity.table.scales import NUMBER, PLAIN
from coterie.anonymity.table.table import Labels
from coterie.base.arrays import Floats
from coterie.base.errors import DataError
from coterie.base.text import numbered
from coterie.jobs.data.attributes import Attribute
from coterie.jobs.data.missing import DROP, gaps_of, refuse_gaps
from coterie.jobs.data.require import require_columns
from coterie.jobs.data.scaled import spelling_of
from coterie.onetable.table_file import TableFile

_EXACT = 2.0**53
_BLOCK = 1 << 20  # bytes that are asked of a stream at once


def read_numbers(
    file: TableFile, text: pa.Table, source: str, before: int
) -> tuple[Floats, Labels, int]:
    """Records a row each, their classes, and how many rows were left out for a gap.

    `before` is the number of rows that came earlier, so that an error counts from the first one.
    """
    stays = np.ones(text.num_rows, bool)
    for attribute in file.attributes:
        if attribute.missing == "drop":
            stays &= ~gaps_of(text.column(attribute.name))
    rows = np.flatnonzero(stays)
    text = text.filter(pa.array(stays))
    try:
        columns = [_column(attribute, text, source) for attribute in file.attributes]
        classes = Labels(np.zeros(len(rows), np.int64), ("",))
        if file.class_name is not None:
            codes, values = encode_text(file.class_name, text.column(file.class_name), source)
            classes = Labels(codes, tuple(values))
    except DataError as error:
        found = [int(rows[row - 1]) + 1 + before for row in error.rows if isinstance(row, int)]
        raise error.at(found) from None
    return np.stack(columns, axis=1), classes, int((~stays).sum())


def _column(attribute: Attribute, text: pa.Table, source: str) -> Floats:
    column, spelling = text.column(attribute.name), spelling_of(text)
    refuse_gaps(column, (), attribute.name, source, DROP)
    if attribute.scale is NUMBER and spelling == PLAIN:
        try:
            found = np.asarray(pc.cast(column, pa.float64()).to_numpy())
        except pa.ArrowInvalid:
            pass  # the slower way below takes more forms, and names the row that has none
        else:
            low, high = attribute.limits or (-_EXACT, _EXACT)
            if ((found >= low) & (found <= high) & (np.abs(found) < _EXACT)).all():
                return found
    read = continuous_column(
        attribute.name, column, attribute.limits, source, attribute.scale, spelling,
        otherwise=NUMBERS_ONLY,
    )  # fmt: skip
    values: Floats = read.values[read.codes]
    return values


def csv_lines(stream: BinaryIO, file: TableFile, source: str) -> Iterator[pa.Table]:
    """The columns of a table file from CSV lines with a header, as soon as they come.

    A piece ends at the end of a line that no quotation mark is open in.
    """
    header: list[str] | None = None
    rest, rows = b"", 0
    while True:
        block = stream.read1(_BLOCK)  # type: ignore[attr-defined]
        if not block and rest and not rest.endswith(b"\n"):
            rest += b"\n"  # the last line need not end
        rest += block
        end = rest.rfind(b"\n")
        while end >= 0 and rest.count(b'"', 0, end + 1) % 2:
            end = rest.rfind(b"\n", 0, end)
        whole, rest = rest[: end + 1], rest[end + 1 :]
        if whole and header is None:
            first, _, whole = whole.partition(b"\n")
            header = _header(first, file, source)
        if whole.strip():
            assert header is not None  # noqa: S101
            piece = _parsed(whole, header, file, source, rows)
            rows += piece.num_rows
            yield piece
        if not block:
            break
    if rest.strip():
        raise DataError("a quotation mark is not closed", file=source, rows=[rows + 1])
    if header is None:
        raise DataError(f"{source}: is empty; it must begin with a header")


def _header(line: bytes, file: TableFile, source: str) -> list[str]:
    try:
        header = next(csv.reader([line.decode("utf-8-sig").strip()]), [])
    except (UnicodeDecodeError, csv.Error):
        raise DataError(f"{source}: not a CSV file in UTF-8") from None
    require_columns(file.columns, header, source)
    for name in file.columns:
        if header.count(name) > 1:
            raise DataError(f"{source}: the header has the column '{name}' twice")
    return header


def _parsed(lines: bytes, header: list[str], file: TableFile, source: str, before: int) -> pa.Table:
    try:
        return pacsv.read_csv(
            pa.py_buffer(lines),
            read_options=pacsv.ReadOptions(column_names=header, use_threads=False),
            parse_options=pacsv.ParseOptions(newlines_in_values=True, ignore_empty_lines=True),
            convert_options=pacsv.ConvertOptions(
                column_types=dict.fromkeys(file.columns, pa.string()),
                include_columns=file.columns,
                strings_can_be_null=True,
                null_values=[""],
            ),
        )
    except pa.ArrowInvalid as error:
        at = re.search(r"Row #(\d+)", str(error))
        ragged = re.search(r"Expected (\d+) columns, got (\d+)", str(error))
        what = (
            f"has {numbered(int(ragged[2]), 'value')} where the header has {numbered(int(ragged[1]), 'column')}"
            if ragged
            else "cannot be read as CSV in UTF-8"
        )
        raise DataError(
            what, file=source, rows=[int(at[1]) + before] if at else [before + 1]
        ) from None
