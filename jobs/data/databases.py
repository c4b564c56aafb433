"""Tables in databases, read as Arrow tables: SQLite and PostgreSQL by ADBC, DuckDB natively.

A database is opened for reading only. Columns are selected from a table or from a query that the
data steward wrote. Nothing from a job file enters the SQL except column names, which are quoted,
and only if these columns exist.
"""

from __future__ import annotations

import contextlib
import difflib
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

import pyarrow as pa
import pyarrow.compute as pc

from coterie.base.errors import DataError
from coterie.jobs.data.require import require_columns
from coterie.jobs.data.text_form import as_text, empty_to_null

CONNECT_SECONDS = 10
_SHOWN = 12  # names of tables in an error
_TABLES = (
    "SELECT CASE WHEN table_schema IN ('main', 'public') THEN table_name "
    "ELSE table_schema || '.' || table_name END FROM information_schema.tables "
    "WHERE table_schema NOT IN ('information_schema', 'pg_catalog') ORDER BY 1"
)


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


@dataclass(frozen=True)
class Selection:
    """A table (`name` or `schema.name`) or a query; exactly one of them."""

    table: str | None
    query: str | None

    @property
    def rows(self) -> str:
        """The SQL text after FROM."""
        if self.query is not None:
            return f"({self.query.strip().rstrip(';')}) AS coterie_source"
        return ".".join(quoted(part) for part in (self.table or "").split("."))

    def __str__(self) -> str:
        return f"table {self.table}" if self.table else "query"


@contextlib.contextmanager
def _complaints(source: object, kind: type[Exception], rows: bool = False) -> Iterator[None]:
    """Turns a driver's exceptions into one line about the source.

    Once `rows` are read, a driver may quote a value: then only the data's holder may see its text.
    """
    try:
        yield
    except (kind, pa.ArrowException, OSError) as error:  # Arrow's own OSError, of a driver's stream
        text = " ".join(str(error).split())
        # The driver's own message comes after its code and its name.
        text = re.sub(r"^[A-Z_]+: ", "", text)
        text = re.sub(r"^\[\w+\] ", "", text)
        if rows:
            raise DataError("cannot be read: {value}", file=str(source), value=text) from None
        raise DataError(f"{source}: {text}") from None


def _no_table(source: object, table: str, tables: Sequence[str]) -> DataError:
    """The error about a table that the database lacks; only the data's holder sees which it has."""
    close = difflib.get_close_matches(table, tables, 1, cutoff=0.7)
    listed = ", ".join(tables[:_SHOWN]) + (" and more" if len(tables) > _SHOWN else "")
    hint = "; did you mean {value}?" if close else "; it has {value}" if tables else ""
    what = f"no table '{table}'"
    return DataError(
        what + hint, file=str(source), value=close[0] if close else listed or None, bare=what
    )


# An opened query: a reader of its rows, and the function that turns a table of them into texts.
Opened = tuple[pa.RecordBatchReader, Callable[[pa.Table], pa.Table]]


class Database(ABC):
    """A source whose rows come from a query, as a whole or piece by piece."""

    selection: Selection

    @abstractmethod
    def table_names(self) -> list[str]:
        """The tables and views that may be selected from."""

    def _check_table(self) -> None:
        """Refuses a table that the database does not have; called after a query has failed."""
        table = self.selection.table
        if table is None:
            return
        known = self.table_names()
        bare = {table, table.removeprefix("public."), table.removeprefix("main.")}
        if not bare & set(known):
            raise _no_table(self, table, known)

    @abstractmethod
    def _opened(self, columns: Sequence[str]) -> AbstractContextManager[Opened]:
        """The rows of these columns, while the database is open."""

    def read(self, columns: Sequence[str]) -> pa.Table:
        with self._opened(columns) as (rows, text):
            return text(rows.read_all())

    def pieces(self, columns: Sequence[str]) -> Iterator[pa.Table]:
        """The same rows, piece by piece; errors count rows from the first piece on."""
        before = 0
        with self._opened(columns) as (rows, text):
            for batch in rows:
                try:
                    yield text(pa.Table.from_batches([batch]))
                except DataError as error:
                    raise error.at([before + row for row in error.rows]) from None  # type: ignore[operator]
                before += batch.num_rows


@dataclass(frozen=True)
class Sqlite(Database):
    path: Path
    selection: Selection

    def __str__(self) -> str:
        return f"{self.path} ({self.selection})"

    @contextlib.contextmanager
    def _opened(self, columns: Sequence[str]) -> Iterator[Opened]:
        columns = list(dict.fromkeys(columns))
        with self._cursor() as (cursor, error):
            require_columns(columns, [item[0] for item in cursor.description], str(self))
            with _complaints(self, error, rows=True):
                kinds = self._kinds(cursor, columns)
                cursor.execute(self._select(columns, kinds))

                def text(table: pa.Table) -> pa.Table:
                    return pa.table(
                        {
                            name: self._merge(table, at)
                            if "real" in kinds[name]
                            else _texts(table, at)
                            for at, name in enumerate(columns)
                        }
                    )

                yield cursor.fetch_record_batch(), text

    def names(self) -> list[str]:
        with self._cursor() as (cursor, _):
            return [item[0] for item in cursor.description]

    def table_names(self) -> list[str]:
        listed = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name"
        with self._connected() as (cursor, _):
            cursor.execute(listed)
            return [str(name) for (name,) in cursor.fetchall() if not name.startswith("sqlite_")]

    @contextlib.contextmanager
    def _cursor(self) -> Iterator[tuple[Any, type[Exception]]]:
        """A cursor that describes the columns, and the driver's class of errors."""
        with self._connected() as (cursor, error):
            try:
                cursor.execute(f"SELECT * FROM {self.selection.rows} LIMIT 0")  # noqa: S608
            except error:
                self._check_table()
                raise
            yield cursor, error

    @contextlib.contextmanager
    def _connected(self) -> Iterator[tuple[Any, type[Exception]]]:
        import adbc_driver_sqlite.dbapi as driver

        if not self.path.is_file():
            raise DataError(f"{self.path}: no such file")
        uri = f"file:{quote(str(self.path.resolve()))}?mode=ro"
        with (
            _complaints(self, driver.Error),
            driver.connect(uri) as connection,
            connection.cursor() as cursor,
        ):
            yield cursor, driver.Error

    def _kinds(self, cursor: Any, columns: Sequence[str]) -> dict[str, set[str]]:
        """The types of each column's values: in SQLite a type belongs to a value, not to a column."""
        found = {}
        for name in columns:
            cursor.execute(
                f"SELECT DISTINCT typeof({quoted(name)}) FROM {self.selection.rows}"  # noqa: S608
            )
            found[name] = {str(kind) for (kind,) in cursor.fetchall()}
            if "blob" in found[name]:
                raise DataError(f"{self}: column '{name}' holds binary values")
        return found

    def _select(self, columns: Sequence[str], kinds: dict[str, set[str]]) -> str:
        """A query without nulls and with one type per column, because the driver infers types."""
        parts = []
        for at, name in enumerate(columns):
            column = quoted(name)
            parts.append(f"COALESCE(CAST({column} AS TEXT), '') AS t{at}")
            if "real" in kinds[name]:
                real = f"typeof({column}) = 'real'"
                parts.append(f"CASE WHEN {real} THEN {column} ELSE 0.0 END AS r{at}")
                parts.append(f"CASE WHEN {real} THEN 1 ELSE 0 END AS b{at}")
        return f"SELECT {', '.join(parts)} FROM {self.selection.rows}"  # noqa: S608

    def _merge(self, table: pa.Table, at: int) -> pa.ChunkedArray:
        """Replaces SQLite's text of numbers, rounded to 15 digits, by Arrow's, which is exact."""
        real = table.column(f"r{at}").cast(pa.float64())
        exact = as_text(pa.table({"real": real}), str(self)).column(0)
        return pc.if_else(pc.equal(table.column(f"b{at}"), 1), exact, _texts(table, at))


def _texts(table: pa.Table, at: int) -> pa.ChunkedArray:
    return empty_to_null(table.column(f"t{at}").cast(pa.string()))


@dataclass(frozen=True)
class DuckDb(Database):
    path: Path
    selection: Selection

    def __str__(self) -> str:
        return f"{self.path} ({self.selection})"

    @contextlib.contextmanager
    def _opened(self, columns: Sequence[str]) -> Iterator[Opened]:
        columns = list(dict.fromkeys(columns))
        with self._rows() as (rows, error):
            require_columns(columns, rows.columns, str(self))
            with _complaints(self, error, rows=True):
                chosen = rows.project(", ".join(map(quoted, columns)))
                yield chosen.to_arrow_reader(), lambda table: as_text(table, str(self))

    def names(self) -> list[str]:
        with self._rows() as (rows, _):
            return list(rows.columns)

    @contextlib.contextmanager
    def _rows(self) -> Iterator[tuple[Any, type[Exception]]]:
        """The selected rows, of which nothing is read yet, and the driver's class of errors."""
        with self._connected() as (connection, error):
            try:
                rows = connection.sql(f"SELECT * FROM {self.selection.rows}")  # noqa: S608
            except error:
                self._check_table()
                raise
            yield rows, error

    def table_names(self) -> list[str]:
        with self._connected() as (connection, _):
            return [str(name) for (name,) in connection.sql(_TABLES).fetchall()]

    @contextlib.contextmanager
    def _connected(self) -> Iterator[tuple[Any, type[Exception]]]:
        import duckdb

        if not self.path.is_file():
            raise DataError(f"{self.path}: no such file")
        with (
            _complaints(self, duckdb.Error),
            duckdb.connect(str(self.path), read_only=True) as connection,
        ):
            yield connection, duckdb.Error


@dataclass(frozen=True)
class PostgreSql(Database):
    """A PostgreSQL database. The password is in PGPASSWORD, in ~/.pgpass or in the address."""

    uri: str
    selection: Selection

    def __str__(self) -> str:
        """The address without user and password, because others read errors."""
        parts = urlsplit(self.uri)
        place = parts.netloc.rpartition("@")[2]
        return f"postgresql://{place}{parts.path} ({self.selection})"

    @contextlib.contextmanager
    def _opened(self, columns: Sequence[str]) -> Iterator[Opened]:
        columns = list(dict.fromkeys(columns))
        with self._described() as (cursor, error):
            require_columns(columns, [item[0] for item in cursor.description], str(self))
            # The server converts to text, because Arrow does not have all of its types.
            names = ", ".join(f"CAST({quoted(name)} AS text) AS {quoted(name)}" for name in columns)
            with _complaints(self, error, rows=True):
                cursor.execute(f"SELECT {names} FROM {self.selection.rows}")  # noqa: S608
                yield cursor.fetch_record_batch(), lambda table: as_text(table, str(self))

    def names(self) -> list[str]:
        with self._described() as (cursor, _):
            return [item[0] for item in cursor.description]

    def table_names(self) -> list[str]:
        with self._connected() as (cursor, _):
            cursor.execute(_TABLES)
            return [str(name) for (name,) in cursor.fetchall()]

    @contextlib.contextmanager
    def _described(self) -> Iterator[tuple[Any, type[Exception]]]:
        """A cursor that describes the columns, and the driver's class of errors."""
        with self._connected() as (cursor, error):
            try:
                cursor.execute(f"SELECT * FROM {self.selection.rows} LIMIT 0")  # noqa: S608
            except error:
                self._check_table()
                raise
            yield cursor, error

    @contextlib.contextmanager
    def _connected(self) -> Iterator[tuple[Any, type[Exception]]]:
        import adbc_driver_postgresql.dbapi as driver

        with (
            _complaints(self, driver.Error),
            # Each statement is a transaction of its own, so that the settings apply to later
            # statements.
            driver.connect(self._address(), autocommit=True) as connection,
            connection.cursor() as cursor,
        ):
            cursor.execute("SET default_transaction_read_only = on")
            cursor.execute("SET DateStyle = 'ISO, YMD'")
            cursor.execute("SET TimeZone = 'UTC'")
            yield cursor, driver.Error

    def _address(self) -> str:
        """The address with a time limit, so that the party does not wait for a silent server."""
        parts = urlsplit(self.uri)
        options = dict(parse_qsl(parts.query))
        options.setdefault("connect_timeout", str(CONNECT_SECONDS))
        return urlunsplit(parts._replace(query=urlencode(options)))
