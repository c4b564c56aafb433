"""Tables behind an ODBC driver: MySQL, MariaDB, SQL Server, Oracle and others, read by `arrow-odbc`.

    data: {odbc: "DSN=bank", table: people}
    data: {odbc: "Driver={MariaDB Unicode};Server=db.example;Database=bank;User=reader", query: SELECT …}

ODBC has no session that only reads: the database's user should have no right but SELECT. A DSN keeps
the password out of the file, and no error shows the connection string. The package (the extra `odbc`)
comes as a wheel; a driver manager and the database's driver belong to the operating system.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from coterie.base.errors import DataError
from coterie.jobs.data.databases import CONNECT_SECONDS, Database, Opened, Selection
from coterie.jobs.data.require import require_columns, required_package
from coterie.jobs.data.text_form import as_text

_LONGEST = 1 << 16  # bytes of a text; a longer one is an error
_BATCH = 1 << 26  # bytes
_SHOWN = ("dsn", "server", "database", "dbq")  # keys of a connection string
_TABLES = (
    "SELECT table_name FROM information_schema.tables WHERE table_schema NOT IN "
    "('information_schema', 'mysql', 'performance_schema', 'pg_catalog', 'sys') ORDER BY 1"
)
_HINTS = {
    "can't open lib": "; 'odbcinst -q -d' lists the drivers that this machine has",
    "data source name": "; 'odbcinst -q -s' lists the sources of this machine, '-d' its drivers",
}


@dataclass(frozen=True)
class Odbc(Database):
    connection: str
    selection: Selection

    def __str__(self) -> str:
        """The server and the database of the connection string, without users and passwords."""
        parts = re.findall(r"(\w+)\s*=\s*(\{[^}]*\}|[^;]*)", self.connection)
        place = [value for key, value in parts if key.lower() in _SHOWN]
        return f"{' '.join(['odbc', *place])} ({self.selection})"

    @contextlib.contextmanager
    def _opened(self, columns: Sequence[str]) -> Iterator[Opened]:
        columns = list(dict.fromkeys(columns))
        mark = self._mark()
        require_columns(columns, self._names(mark), str(self))
        names = ", ".join(_quoted(name, mark) for name in columns)
        with self._complaints(rows=True):
            rows = self._query(f"SELECT {names} FROM {self._rows(mark)}")  # noqa: S608
            reader = rows.into_pyarrow_record_batch_reader()
            yield reader, lambda table: as_text(table, str(self))

    def names(self) -> list[str]:
        return self._names(self._mark())

    def _names(self, mark: str) -> list[str]:
        try:
            with self._complaints():
                rows = self._query(f"SELECT * FROM {self._rows(mark)} WHERE 1 = 0")  # noqa: S608
                return [str(name) for name in rows.schema.names]
        except DataError:
            self._check_table()
            raise

    def table_names(self) -> list[str]:
        """The tables, where the database has an information schema as in standard SQL."""
        try:
            with self._complaints():
                rows = self._query(_TABLES).into_pyarrow_record_batch_reader()
                return [str(name) for name in rows.read_all().column(0).to_pylist()]
        except DataError:
            return []

    def _check_table(self) -> None:
        if self.table_names():
            super()._check_table()

    def _mark(self) -> str:
        """What stands around names. MySQL takes quotation marks for those of a value."""
        try:
            with self._complaints():
                self._query("SELECT `a` FROM (SELECT 1 AS `a`) b")
        except DataError:
            return '"'
        return "`"

    def _rows(self, mark: str) -> str:
        if self.selection.query is not None:  # without the AS that Oracle does not know
            return f"({self.selection.query.strip().rstrip(';')}) coterie_source"
        return ".".join(_quoted(part, mark) for part in (self.selection.table or "").split("."))

    def _query(self, text: str) -> Any:
        return required_package("arrow_odbc", "odbc", str(self)).read_arrow_batches_from_odbc(
            query=text,
            connection_string=self.connection,
            max_bytes_per_batch=_BATCH,
            max_text_size=_LONGEST,
            login_timeout_sec=CONNECT_SECONDS,
        )

    @contextlib.contextmanager
    def _complaints(self, rows: bool = False) -> Iterator[None]:
        """The driver's error as one line; once `rows` are read, only the data's holder may see it."""
        kind = required_package("arrow_odbc", "odbc", str(self)).Error
        try:
            yield
        except (kind, pa.ArrowException, OSError) as error:
            text = " ".join(str(error).split()).rpartition("Message: ")[2]
            text = re.sub(r"^(\[[^]]*\])+ *", "", text)
            if rows:
                raise DataError("cannot be read: {value}", file=str(self), value=text) from None
            hint = next((hint for part, hint in _HINTS.items() if part in text.lower()), "")
            raise DataError(f"{self}: {text}{hint}") from None


def _quoted(name: str, mark: str) -> str:
    return mark + name.replace(mark, mark * 2) + mark
