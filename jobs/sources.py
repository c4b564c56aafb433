"""A party's table, from wherever it is kept, as Arrow columns of text."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pacsv

from coterie.errors import DataError


def read_table(path: Path, columns: Sequence[str]) -> pa.Table:
    """The named columns of a CSV file, each value exactly as it is written."""
    try:
        return pacsv.read_csv(
            path,
            convert_options=pacsv.ConvertOptions(
                column_types=dict.fromkeys(columns, pa.string()),
                include_columns=list(columns),
                strings_can_be_null=True,
                null_values=[""],
            ),
        )
    except OSError as error:
        raise DataError(f"{path}: {error.strerror}") from None
    except (pa.ArrowInvalid, KeyError) as error:
        raise DataError(f"{path}: {error}") from None
