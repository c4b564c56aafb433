"""Tables in spreadsheet files (.xlsx, .xlsm, .xls, .ods): the first row of a sheet is the header.

A cell has the text of `jobs.data.text_form`: 32 is `32`, though a spreadsheet keeps every number as
a floating-point one. Formulas count with the value that was last computed. Rows without a value are
left out. The file is read as a whole; python-calamine, which reads it, is imported when it is needed.
"""

from __future__ import annotations

import contextlib
import datetime
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from coterie.anonymity.table.scales import number_text
from coterie.base.errors import DataError
from coterie.jobs.data.require import require_columns

SUFFIXES = (".xlsx", ".xlsm", ".xls", ".ods")


@dataclass(frozen=True)
class Workbook:
    """A sheet of a spreadsheet file, or several with the same columns, their rows one after another.

    No name is needed if there is one sheet only.
    """

    path: Path
    sheet: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.path} ({', '.join(self.sheet)})" if self.sheet else str(self.path)

    def names(self) -> list[str]:
        return self._rows()[0]

    def read(self, columns: Sequence[str]) -> pa.Table:
        columns = list(dict.fromkeys(columns))
        header, rows = self._rows()
        require_columns(columns, header, str(self))
        for column in columns:
            if header.count(column) > 1:
                raise DataError(f"{self}: the header has the column '{column}' twice")
        places = [header.index(column) for column in columns]
        arrays = [pa.array([_text(row[at]) for row in rows], pa.string()) for at in places]
        return pa.table(arrays, names=columns)

    def sheets(self) -> list[str]:
        """The names of all sheets."""
        with self._opened() as book:
            return list(book.sheet_names)

    def _rows(self) -> tuple[list[str], list[list[Any]]]:
        """The header, and the rows below it that have a value."""
        with self._opened() as book:
            names = self._sheets_of(book.sheet_names)
            sheets = [_header_and_rows(book.get_sheet_by_name(name).to_python()) for name in names]
        header, rows = sheets[0]
        for name, (other, more) in zip(names, sheets, strict=True):
            if not other:
                raise DataError(f"{self}: the sheet must begin with a row of column names")
            if sorted(other) != sorted(header):
                raise DataError(
                    f"{self.path}: the sheets '{names[0]}' and '{name}' have different columns; "
                    "only sheets with the same columns can be read together"
                )
            if more is not rows:
                places = [other.index(column) for column in header]
                rows = rows + [[row[at] for at in places] for row in more]
        return header, rows

    @contextlib.contextmanager
    def _opened(self) -> Iterator[Any]:
        from python_calamine import CalamineError, CalamineWorkbook, PasswordError

        try:
            self.path.stat()  # a missing file has its own message
            with CalamineWorkbook.from_path(str(self.path)) as book:
                yield book
        except PasswordError:
            raise DataError(f"{self}: is protected by a password; save it without one") from None
        except OSError as error:
            raise DataError(f"{self}: {error.strerror or 'cannot be read'}") from None
        except CalamineError:
            raise DataError(f"{self}: not a spreadsheet file, or a damaged one") from None

    def _sheets_of(self, sheets: Sequence[str]) -> Sequence[str]:
        if not self.sheet and len(sheets) == 1:
            return sheets
        if self.sheet and set(self.sheet) <= set(sheets):
            return self.sheet
        what = "has no sheet of the name in 'sheet'" if self.sheet else "has several sheets"
        raise DataError(
            f"{what}; say data: {{excel: FILE, sheet: NAME}} with one of {{value}}",
            file=str(self.path),
            value=", ".join(sheets),
            bare=what,
        )


def _header_and_rows(rows: list[list[Any]]) -> tuple[list[str], list[list[Any]]]:
    """The names of the columns, none if the first row is empty, and the rows that have a value."""
    if not rows or not any(cell != "" for cell in rows[0]):
        return [], []
    header = [_text(cell) or "" for cell in rows[0]]
    return header, [row for row in rows[1:] if any(cell != "" for cell in row)]


def _text(value: Any) -> str | None:
    """A cell in the text form of every source; None if it is empty."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return number_text(value)
    if isinstance(value, datetime.datetime):
        return value.isoformat(" ")
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    return str(value) or None
