"""Columns and packages that a source must have, and the error if one is missing."""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Sequence
from typing import Any

from coterie.base.errors import DataError

_COLUMNS_SHOWN = 12


class MissingColumnsError(DataError):
    """Wanted columns are missing. Only the data's holder sees in the text which columns exist."""

    def __init__(
        self, missing: Sequence[str], present: Sequence[str], source: str, delimiter: str = ""
    ) -> None:
        names = ", ".join(f"'{column}'" for column in missing)
        what = f"no column{'s' if len(missing) > 1 else ''} {names}"
        close = difflib.get_close_matches(missing[0], present, 1, cutoff=0.7)
        value: str | None = close[0] if close else None
        hint = "; did you mean {value}?" if close else ""
        if not close and present:
            listed = ", ".join(present[:_COLUMNS_SHOWN])
            more = len(present) - _COLUMNS_SHOWN
            value = listed + (f" and {more} more" if more > 0 else "")
            hint = "; it has {value}"
        if delimiter:
            shown = "\\t" if delimiter == "\t" else delimiter
            value = present[0]
            hint = (
                "; its one column is {value}: if the values are divided by "
                f"'{shown}', say data: {{csv: FILE, delimiter: \"{shown}\"}}"
            )
        super().__init__(what + hint, file=source, value=value, bare="" if close else what)
        self.missing = tuple(missing)


def require_columns(
    wanted: Sequence[str], present: Sequence[str], source: str, delimiter: str = ""
) -> None:
    """Raises an error that names the missing columns, and a similar column or all that exist.

    `delimiter` is the mark that probably divides the values, where another one was expected.
    """
    missing = [column for column in wanted if column not in present]
    if missing:
        raise MissingColumnsError(missing, present, source, delimiter)


def required_package(module: str, extra: str, source: str) -> Any:
    """A module that only this kind of source needs, from the extra of this name."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        reason = "" if isinstance(error, ModuleNotFoundError) else f" ({error})"
        raise DataError(
            f"{source}: needs a package that is not installed: "
            f"pip install 'coterie[{extra}]'{reason}"
        ) from None
