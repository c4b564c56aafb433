"""Where a table lies: the value of a `data` key for a file, a sheet or a table of a database.

people.csv                       its encoding and the mark between values are guessed
people.xlsx, people.ods          with several sheets, one of them must be named
people.parquet
people.db, people.duckdb         SQLite or DuckDB, by the file's first bytes
postgresql://reader@db/bank
DSN=bank                     or another ODBC connection string
warehouse/people             a folder of Delta Lake or Iceberg
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace
from pathlib import Path

from coterie.base.errors import DataError, UsageError
from coterie.jobs.data.databases import Database, DuckDb, PostgreSql, Selection, Sqlite
from coterie.jobs.data.encodings import encoding_of, first_bytes, guessed, is_text_in
from coterie.jobs.data.odbc import Odbc
from coterie.jobs.data.sources import CsvFile, Source, parse_source
from coterie.jobs.data.workbooks import SUFFIXES as SPREADSHEETS
from coterie.jobs.data.workbooks import Workbook
from coterie.jobs.file.document import read_document
from coterie.onetable.advice.proposal import written

_ADDRESSES = ("postgresql://", "postgres://")
_ODBC = re.compile(r"(dsn|driver)=", re.IGNORECASE)
_TEXTS = (".csv", ".txt", ".tsv")
_PLAIN = re.compile(r"[A-Za-z0-9_.][\w./-]*", re.ASCII)


@dataclass(frozen=True)
class Place:
    """A table's place; `more` are the keys beside it, in the order in which they are written."""

    kind: str  # a key of `data`
    where: str
    more: tuple[tuple[str, str], ...] = ()

    @property
    def is_file(self) -> bool:
        return self.kind not in ("postgresql", "odbc")

    def with_keys(self, **keys: str) -> Place:
        return replace(self, more=(*self.more, *keys.items()))

    def key(self, folder: Path) -> str:
        """The value of `data` in a file that lies in `folder`."""
        where = relative(Path(self.where), folder) if self.is_file else self.where
        if not self.more and self.kind in ("csv", "excel", "parquet") and _ends_right(self):
            return _text(where)
        keys = [(self.kind, _text(where)), *((name, text) for name, text in self.more)]
        return "{" + ", ".join(f"{name}: {text}" for name, text in keys) + "}"

    def source(self) -> Source:
        """The table, read by the same function as every data key."""
        document = read_document(f"data: {self.key(Path.cwd())}", self.where)
        return parse_source(document.required("data"), Path.cwd())


def tables_at(text: str) -> list[str]:
    """The tables of a database, or the sheets of a spreadsheet; none of another file."""
    kind = _kind(text)
    if kind == "excel":
        return Workbook(Path(text)).sheets()
    database = _database(kind, text, "")
    return [] if database is None else database.table_names()


def find_place(text: str, table: str | None) -> Place:
    """The place of a table, with what has to be said about it; the table may be the only one."""
    kind = _kind(text)
    if kind == "csv":
        if table is not None:
            raise UsageError(f"{text}: --table is for databases and spreadsheets")
        return _csv(text)
    if kind in ("parquet", "delta", "iceberg"):
        return Place(kind, text)
    tables = tables_at(text)
    what = "sheet" if kind == "excel" else "table"
    if table is None and len(tables) != 1:
        listed = f"has the {what}s {', '.join(tables)}" if tables else f"has no {what}"
        raise UsageError(f"{text}: {listed}; name one with --table NAME")
    if table is not None and table not in tables:
        raise UsageError(f"{text}: has no {what} '{table}', but {', '.join(tables)}")
    if kind == "excel" and len(tables) == 1:
        return Place(kind, text)
    return Place(kind, text, ((what, _text(table or tables[0])),))


def _kind(text: str) -> str:
    if text.startswith(_ADDRESSES):
        return "postgresql"
    if _ODBC.match(text):
        return "odbc"
    path = Path(text)
    if not path.exists():
        raise UsageError(f"{text}: no such file")
    if (path / "_delta_log").is_dir():
        return "delta"
    if (path / "metadata").is_dir():
        return "iceberg"
    if path.is_dir():
        raise UsageError(f"{text}: is a folder; name a file in it")
    start, suffix = first_bytes(path, 16), path.suffix.lower()
    if start.startswith(b"SQLite format 3"):
        return "sqlite"
    if start[8:12] == b"DUCK":
        return "duckdb"
    if suffix in SPREADSHEETS or start.startswith(b"PK\x03\x04"):
        return "excel"
    if suffix in (".parquet", ".pq") or start.startswith(b"PAR1"):
        return "parquet"
    if suffix in _TEXTS:
        return "csv"
    raise UsageError(
        f"{text}: is not a CSV, Parquet or spreadsheet file, nor a SQLite or DuckDB database; "
        "a text of values divided by a mark may be named .csv or .txt"
    )


def _database(kind: str, text: str, table: str) -> Database | None:
    selection = Selection(table, None)
    if kind == "postgresql":
        return PostgreSql(text, selection)
    if kind == "odbc":
        return Odbc(text, selection)
    if kind == "sqlite":
        return Sqlite(Path(text), selection)
    return DuckDb(Path(text), selection) if kind == "duckdb" else None


def _csv(text: str) -> Place:
    """A text file with the mark between its values and its encoding, where these are unusual."""
    path, more = Path(text), []
    codec = encoding_of(path)
    if not is_text_in(path, codec):
        codec = guessed(path)
        more.append(("encoding", codec))
    elif codec == "utf-16-le":  # without a mark at its beginning
        more.append(("encoding", codec))
    file = CsvFile(path, encoding=codec if more else "")
    if not (header := file.names()):
        raise DataError(f"{text}: the file is empty; it must begin with a header")
    if mark := file.other_delimiter(header):
        more.insert(0, ("delimiter", '"\\t"' if mark == "\t" else f'"{mark}"'))
    return Place("csv", text, tuple(more))


def _ends_right(place: Place) -> bool:
    suffix = Path(place.where).suffix.lower()
    known = {"csv": (".csv",), "excel": SPREADSHEETS, "parquet": (".parquet", ".pq")}
    return suffix in known[place.kind]


def relative(path: Path, folder: Path) -> str:
    """The path as a file in `folder` names it."""
    return os.path.relpath(path.resolve(), folder.resolve())


def _text(text: str) -> str:
    return text if _PLAIN.fullmatch(text) else written(text)
