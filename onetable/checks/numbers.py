"""What `result.json` says of the numbers of a release of one table, compared with what was counted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from coterie.base.arrays import Array
from coterie.base.errors import VerificationError
from coterie.jobs.file.result_file import RESULT
from coterie.onetable.table_file import TableFile


def check_numbers(file: TableFile, result: Any, records: int, path: Path) -> int:
    """Checks the method, the records and those suppressed, whose number is returned."""
    for key, own in (("method", file.method), ("records", records)):
        if result[key] != own:
            raise VerificationError(f"{path}: {key} is {own}, but {RESULT} says {result[key]}")
    suppressed = int(result["suppressed"])
    total = records + suppressed
    if suppressed < 0 or suppressed > file.max_suppression * total + 1e-9:
        raise VerificationError(
            f"{suppressed} of {total} records were suppressed; the table file allows a share of "
            f"{file.max_suppression:g}"
        )
    return suppressed


def check_discernibility(result: Any, sizes: Array, records: int, suppressed: int) -> None:
    """The sum of the squared sizes of all groups; a suppressed record is charged with the table."""
    squares = sum(int(size) ** 2 for size in sizes) + suppressed * (records + suppressed)
    claimed = result["utility"]["discernibility"]
    if claimed != squares:
        raise VerificationError(
            f"{RESULT} says a discernibility of {claimed}, the release {squares}"
        )
