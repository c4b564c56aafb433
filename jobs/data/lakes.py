"""Tables in folders of Parquet files with a log: Delta Lake and Apache Iceberg, as they stand last.

    data: {delta: warehouse/people}
    data: {iceberg: warehouse/people}           the folder that has `metadata`, or a metadata file

Only files on this machine are read, no catalogue is asked. `deltalake` and `pyiceberg` are the extras
`delta` and `iceberg`; they are imported when such a table is read.
"""

from __future__ import annotations

import contextlib
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from coterie.base.errors import DataError
from coterie.jobs.data.require import require_columns, required_package
from coterie.jobs.data.text_form import as_text


@dataclass(frozen=True)
class _Lake(ABC):
    """A table in a folder."""

    path: Path

    def __str__(self) -> str:
        return str(self.path)

    def names(self) -> list[str]:
        with self._opened() as (names, _):
            return names

    def read(self, columns: Sequence[str]) -> pa.Table:
        columns = list(dict.fromkeys(columns))
        with self._opened() as (names, table):
            require_columns(columns, names, str(self))
            return as_text(self._rows(table, columns).select(columns), str(self))

    @contextlib.contextmanager
    def _opened(self) -> Iterator[tuple[list[str], Any]]:
        """The names of the columns, and the package's table."""
        if not self.path.exists():
            raise DataError(f"{self}: no such folder")
        try:
            yield self._load()
        except DataError:
            raise
        except Exception as error:  # of two packages with many classes of errors
            words = " ".join(str(error).split())
            raise DataError("cannot be read: {value}", file=str(self), value=words) from None

    @abstractmethod
    def _load(self) -> tuple[list[str], Any]: ...

    @abstractmethod
    def _rows(self, table: Any, columns: list[str]) -> pa.Table: ...


class DeltaTable(_Lake):
    """The newest version of a Delta table."""

    def _load(self) -> tuple[list[str], Any]:
        table = required_package("deltalake", "delta", str(self)).DeltaTable(self.path)
        return [field.name for field in table.schema().fields], table

    def _rows(self, table: Any, columns: list[str]) -> pa.Table:
        return table.to_pyarrow_table(columns=columns)


class IcebergTable(_Lake):
    """The current snapshot of an Iceberg table."""

    def _load(self) -> tuple[list[str], Any]:
        package = required_package("pyiceberg.table", "iceberg", str(self))
        table = package.StaticTable.from_metadata(str(self._metadata().absolute()))
        return [field.name for field in table.schema().fields], table

    def _rows(self, table: Any, columns: list[str]) -> pa.Table:
        return table.scan(selected_fields=tuple(columns)).to_arrow()

    def _metadata(self) -> Path:
        """The metadata file of the highest number: 00002-….metadata.json, or v2.metadata.json."""
        if self.path.is_file():
            return self.path
        files = [*(self.path / "metadata").glob("*.metadata.json")]
        if not files:
            raise DataError(f"{self}: no Iceberg table: the folder has no metadata/*.metadata.json")
        return max(files, key=lambda file: int((re.findall(r"\d+", file.name) or ["0"])[0]))
