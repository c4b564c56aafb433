"""The sources of a party's table, which is read as Arrow columns of text.

    data: people.csv                                          CSV or Parquet, by the suffix
    data: {csv: people.txt, delimiter: ";"}
    data: {parquet: people.parquet}
    data: {sqlite: people.db, table: people}                  table or query
    data: {duckdb: people.duckdb, query: SELECT … FROM …}
    data: {postgresql: postgresql://reader@db/bank, table: public.people}
    data: {odbc: "DSN=bank", table: people}                   MySQL and others, with an ODBC driver
    data: {excel: people.xlsx, sheet: [2023, 2024]}          a sheet, or several below each other
    data: {delta: warehouse/people}                           or iceberg
    data: {csv: people.txt, decimal: ",", thousands: ".", dates: "%d.%m.%Y"}

The last three keys, which any source may have, say how it writes numbers and dates. They count where
a job or table file says that a column is one of numbers or dates; other columns stay as they are.

Columns of all sources are read as strings, so that equal data gives equal jobs. In a CSV file a
value is exactly the written text; `jobs.data.text_form` has the one text of a typed value. A missing
value and the empty text are both null. Only the requested columns are read.
"""

from __future__ import annotations

import csv
import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from coterie.anonymity.table.scales import PLAIN, Spelling
from coterie.base.errors import DataError, UsageError
from coterie.base.text import numbered
from coterie.jobs.data.encodings import (
    UTF8,
    encoding_of,
    ends_open,
    guessed,
    is_encoding,
    other_kind,
)
from coterie.jobs.data.require import MissingColumnsError, require_columns
from coterie.jobs.data.scaled import with_spelling
from coterie.jobs.data.text_form import as_text
from coterie.jobs.data.workbooks import SUFFIXES as SPREADSHEETS
from coterie.jobs.data.workbooks import Workbook
from coterie.jobs.file.document import Node, Section

_SUFFIXES = {".csv": "csv", ".parquet": "parquet", ".pq": "parquet"} | dict.fromkeys(
    SPREADSHEETS, "excel"
)
_OPEN_END = "the last line has no line break; was the file copied whole?"
_DELIMITERS = (";", "\t", "|", ",", ":")


class Source(Protocol):
    """A table that can be read; `str` is its name in errors.

    Both methods raise `DataError` and nothing else.
    """

    def names(self) -> list[str]:
        """The columns that the table has, in its order."""
        ...

    def read(self, columns: Sequence[str]) -> pa.Table:
        """The named columns in this order, as strings."""
        ...


def parse_source(node: Node, folder: Path) -> Source:
    """The source that a `data` key describes; file names are relative to `folder`."""
    if not node.is_mapping:
        path = folder / node.text()
        if path.suffix.lower() not in _SUFFIXES:
            raise node.error(
                f"'{path.name}' does not end in .csv, .parquet or .xlsx; "
                "name its type, as in {sqlite: FILE, table: NAME}"
            )
        return file_source(path)
    section = node.section()
    named = [kind for kind in _READERS if kind in section.keys()]  # noqa: SIM118 (not a dict)
    if len(named) != 1:
        close = difflib.get_close_matches("".join(section.keys()[:1]), [*_READERS], 1)
        hint = f"; did you mean '{close[0]}'?" if close and not named else ""
        raise node.error(f"must have one of the keys {', '.join(_READERS)}{hint}")
    place = section.required(named[0]).text()
    source = _READERS[named[0]](section, place, folder)
    spelling = _spelling(section)
    section.close()
    return source if spelling == PLAIN else Spelt(source, spelling)


def _spelling(section: Section) -> Spelling:
    """How the source writes numbers and dates."""
    decimal = section.read("decimal", lambda node: node.choice(".", ","), ".")
    thousands = ""
    if node := section.optional("thousands"):
        thousands = str(node.raw.value)
        if len(thousands) != 1 or thousands.isalnum() or thousands in "+-" or node.is_mapping:
            raise node.error("must be one mark between digits, such as '.', ',' or ' '")
        if thousands == decimal:
            raise node.error(f"is also the decimal mark: '{decimal}'")
    dates: tuple[str, ...] = ()
    if node := section.optional("dates"):
        dates = tuple(node.texts())
        for form in dates:
            if not all(re.search(f"%[{letters}]", form) for letters in ("Yy", "mbB", "d")):
                raise node.error(f"'{form}' lacks a year (%Y), a month (%m) or a day (%d)")
    return Spelling(decimal, thousands, dates)


@dataclass(frozen=True)
class Spelt:
    """A source that writes numbers or dates in its own way, which its tables then say."""

    source: Source
    spelling: Spelling

    def __str__(self) -> str:
        return str(self.source)

    def names(self) -> list[str]:
        return self.source.names()

    def read(self, columns: Sequence[str]) -> pa.Table:
        return with_spelling(self.source.read(columns), self.spelling)


def file_source(path: Path) -> Source:
    """A CSV, Parquet or spreadsheet file; its suffix says which."""
    kind = _SUFFIXES.get(path.suffix.lower())
    if kind is None:
        raise UsageError(f"{path}: a data file ends in .csv, .parquet or .xlsx")
    if kind == "excel":
        return Workbook(path)
    return CsvFile(path) if kind == "csv" else ParquetFile(path)


def read_table(path: Path, columns: Sequence[str]) -> pa.Table:
    """The named columns of a CSV or Parquet file."""
    return file_source(path).read(columns)


@dataclass(frozen=True)
class CsvFile:
    """Comma-separated values with a header; quotation marks as in RFC 4180.

    Without an `encoding` the file is in UTF-8, or in UTF-16 if it begins with the mark of that.
    """

    path: Path
    delimiter: str = ","
    encoding: str = ""

    def __str__(self) -> str:
        return str(self.path)

    def read(self, columns: Sequence[str]) -> pa.Table:
        columns = list(dict.fromkeys(columns))
        header = self.check_header(columns)
        self.check_quotes()
        try:
            return self._parse(columns, threads=True)
        except pa.ArrowInvalid:
            pass
        except UnicodeError:
            raise self._wrong_encoding() from None
        try:  # again in one thread, so that Arrow reports the row
            return self._parse(columns, threads=False)
        except pa.ArrowInvalid as error:
            hint = self._hint() if "UTF8" in str(error) else ""
            if "columns, got" in str(error) and ends_open(self.path):
                hint = f"; {_OPEN_END}"
            raise _explained(str(error), header, str(self), hint) from None

    @property
    def codec(self) -> str:
        return self.encoding or encoding_of(self.path)

    def _hint(self) -> str:
        """The encoding to name."""
        codec = guessed(self.path)
        return f"; it looks like {codec}: say data: {{csv: FILE, encoding: {codec}}} ('coterie init' writes that), or save it as UTF-8"

    def _wrong_encoding(self) -> DataError:
        if self.codec == UTF8:
            return DataError(f"{self}: not a CSV file in UTF-8{self._hint()}")
        return DataError(f"{self}: not a text in the encoding '{self.codec}'")

    def check_header(self, columns: Sequence[str]) -> list[str]:
        """The header, which must have each of the columns once."""
        header = self.names()
        require_columns(columns, header, str(self), self.other_delimiter(header))
        for column in columns:
            if header.count(column) > 1:
                raise DataError(f"{self}: the header has the column '{column}' twice")
        return header

    def names(self) -> list[str]:
        """The header as it stands, also where a column is in it twice."""
        try:
            # Arrow finds a wrong byte further down, and reports its row.
            if kind := other_kind(self.path):
                raise DataError(f"{self}: is {kind}")
            codec = self.codec
            name, errors = ("utf-8-sig", "surrogateescape") if codec == UTF8 else (codec, "strict")
            with self.path.open(encoding=name, newline="", errors=errors) as text:
                header = next(csv.reader(text, delimiter=self.delimiter), [])
            " ".join(header).encode()
        except OSError as error:
            raise DataError(f"{self}: {error.strerror}") from None
        except (UnicodeError, csv.Error):
            raise self._wrong_encoding() from None
        if not header:
            raise DataError(f"{self}: the file is empty; it must begin with a header")
        return header

    def other_delimiter(self, header: Sequence[str]) -> str:
        """The mark that probably divides the values, where the header looks like a single column."""
        if len(header) > 1:
            return ""
        counts = {mark: header[0].count(mark) for mark in _DELIMITERS if mark != self.delimiter}
        most = max(counts, key=counts.__getitem__)
        return most if counts[most] else ""

    def check_quotes(self) -> None:
        """Refuses an unclosed quotation mark, for Arrow would read one value to the file's end."""
        with self.path.open("rb") as content:
            marks = sum(block.count(b'"') for block in iter(lambda: content.read(1 << 20), b""))
        codec = self.codec
        if marks % 2 == 0 and not codec.startswith("utf-16"):  # where a letter may have such a byte
            return
        row = 0
        try:
            with self.path.open(
                encoding="utf-8-sig" if codec == UTF8 else codec, newline=""
            ) as text:
                for _ in csv.reader(text, delimiter=self.delimiter, strict=True):
                    row += 1
        except UnicodeDecodeError:
            return  # Arrow reports the row
        except csv.Error:
            raise DataError(
                "a quotation mark is not closed, or not doubled", file=str(self), rows=[row]
            ) from None

    def _parse(self, columns: list[str], threads: bool) -> pa.Table:
        content = self.path.stat().st_size
        if content < 1 << 16 and len(self.path.read_bytes().splitlines()) < 2:
            return pa.table({column: pa.array([], pa.string()) for column in columns})
        return pacsv.read_csv(
            self.path,
            read_options=pacsv.ReadOptions(use_threads=threads, encoding=self.codec),
            parse_options=self._parsing(),
            convert_options=self._conversion(columns),
        )

    def stream(
        self, columns: list[str], block: int, threads: bool = True
    ) -> pacsv.CSVStreamingReader:
        """The columns in blocks of so many bytes; threads read some blocks ahead."""
        return pacsv.open_csv(
            self.path,
            read_options=pacsv.ReadOptions(
                block_size=block, use_threads=threads, encoding=self.codec
            ),
            parse_options=self._parsing(),
            convert_options=self._conversion(columns),
        )

    def _parsing(self) -> pacsv.ParseOptions:
        return pacsv.ParseOptions(
            delimiter=self.delimiter, newlines_in_values=True, ignore_empty_lines=True
        )

    @staticmethod
    def _conversion(columns: list[str]) -> pacsv.ConvertOptions:
        return pacsv.ConvertOptions(
            column_types=dict.fromkeys(columns, pa.string()),
            include_columns=columns,
            strings_can_be_null=True,
            null_values=[""],
        )


def _explained(message: str, header: Sequence[str], source: str, hint: str) -> DataError:
    """Arrow's error with the row counted from the first after the header, and the column's name."""
    at = re.search(r"Row #(\d+)", message)
    rows = [int(at[1]) - 1] if at else []
    ragged = re.search(r"Expected (\d+) columns, got (\d+)", message)
    if ragged:
        what = (
            f"has {numbered(int(ragged[2]), 'value')} where the header has "
            f"{numbered(int(ragged[1]), 'column')}"
        )
        bare = f"a row has another number of values than the header has columns, {ragged[1]}"
        return DataError(what + hint, file=source, rows=rows, bare=bare)
    if "straddling" in message:  # Arrow's blocks of a megabyte
        return DataError(
            "a row is longer than a megabyte; is a quotation mark not closed?", file=source
        )
    column = re.search(r"CSV column #(\d+)", message)
    if column and "UTF8" in message:
        name = header[int(column[1])]
        return DataError("{column} is not UTF-8 text" + hint, file=source, column=name, rows=rows)
    # Arrow's own message may contain a value.
    words = " ".join(message.split())
    return DataError("cannot be read: {value}", file=source, rows=rows, value=words)


@dataclass(frozen=True)
class ParquetFile:
    path: Path

    def __str__(self) -> str:
        return str(self.path)

    def names(self) -> list[str]:
        try:
            with pq.ParquetFile(self.path) as file:
                return list(file.schema_arrow.names)
        except OSError as error:
            raise DataError(f"{self}: {error.strerror or 'cannot be read'}") from None
        except pa.ArrowException:
            raise DataError(f"{self}: not a Parquet file, or a damaged one") from None

    def read(self, columns: Sequence[str]) -> pa.Table:
        columns = list(dict.fromkeys(columns))
        try:
            with pq.ParquetFile(self.path) as file:
                require_columns(columns, file.schema_arrow.names, str(self))
                table = file.read(columns)
        except OSError as error:
            if error.strerror:
                raise DataError(f"{self}: {error.strerror}") from None
            words = " ".join(str(error).split())  # Arrow's own message, which may contain a value
            raise DataError("cannot be read: {value}", file=str(self), value=words) from None
        except pa.ArrowException:
            raise DataError(f"{self}: not a Parquet file, or a damaged one") from None
        return as_text(table.select(columns), str(self))


def remarks(source: Source) -> list[str]:
    """What a person should look at, though the source can be read."""
    if isinstance(source, Spelt):
        return remarks(source.source)
    if isinstance(source, CsvFile) and ends_open(source.path):
        return [f"{source}: {_OPEN_END}"]
    return []


def read_wanted(source: Source, required: Sequence[str], optional: Sequence[str]) -> pa.Table:
    """The required columns, and of the optional ones those that the source has."""
    try:
        return source.read([*required, *optional])
    except MissingColumnsError as error:
        present = [column for column in optional if column not in error.missing]
        return source.read([*required, *present])


def _csv(section: Section, place: str, folder: Path) -> Source:
    node = section.optional("delimiter")
    delimiter = "," if node is None else node.text()
    if node is not None and (len(delimiter) != 1 or delimiter in '"\r\n' or ord(delimiter) > 127):
        raise node.error(f"must be one ASCII character, not '{delimiter}'")
    encoding = section.optional("encoding")
    if encoding is not None and not is_encoding(encoding.text()):
        raise encoding.error(
            f"'{encoding.text()}' is not an encoding; examples are cp1252, latin-1, utf-16"
        )
    return CsvFile(folder / place, delimiter, "" if encoding is None else encoding.text())


def _parquet(section: Section, place: str, folder: Path) -> Source:
    return ParquetFile(folder / place)


def _excel(section: Section, place: str, folder: Path) -> Source:
    node = section.optional("sheet")
    return Workbook(folder / place, tuple(node.texts()) if node else ())


def _delta(section: Section, place: str, folder: Path) -> Source:
    from coterie.jobs.data.lakes import DeltaTable

    return DeltaTable(folder / place)


def _iceberg(section: Section, place: str, folder: Path) -> Source:
    from coterie.jobs.data.lakes import IcebergTable

    return IcebergTable(folder / place)


def _database(section: Section, place: str, folder: Path) -> Source:
    from coterie.jobs.data.databases import DuckDb, PostgreSql, Selection, Sqlite
    from coterie.jobs.data.odbc import Odbc

    table, query = section.optional("table"), section.optional("query")
    if (table is None) == (query is None):
        raise section.error("must have one of the keys table, query")
    selection = Selection(table.text() if table else None, query.text() if query else None)
    if "postgresql" in section.keys():  # noqa: SIM118 (not a dict)
        node = section.required("postgresql")
        if not place.startswith(("postgresql://", "postgres://")):
            raise node.error("must be an address as in postgresql://USER@HOST:PORT/DATABASE")
        return PostgreSql(place, selection)
    if "odbc" in section.keys():  # noqa: SIM118 (not a dict)
        if "=" not in place:
            raise section.required("odbc").error('must be a connection string, as in "DSN=bank"')
        return Odbc(place, selection)
    if "sqlite" in section.keys():  # noqa: SIM118 (not a dict)
        return Sqlite(folder / place, selection)
    return DuckDb(folder / place, selection)


# One line for each key that names a source.
_READERS = {
    "csv": _csv,
    "parquet": _parquet,
    "excel": _excel,
    "sqlite": _database,
    "duckdb": _database,
    "postgresql": _database,
    "odbc": _database,
    "delta": _delta,
    "iceberg": _iceberg,
}
