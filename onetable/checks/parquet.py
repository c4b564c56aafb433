"""Is the Parquet file of a release the same table as its CSV file?"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pyarrow.compute as pc

from coterie.anonymity.models.audit import Released
from coterie.base.errors import DataError, VerificationError
from coterie.jobs.data.sources import read_table
from coterie.onetable.released import RELEASE


def check_parquet(table: Mapping[str, Released], path: Path) -> None:
    """The Parquet file, where there is one, has the same rows."""
    if not path.exists():
        return
    try:
        other = read_table(path, list(table))
    except DataError as error:
        raise VerificationError(str(error)) from None
    for name, column in table.items():
        own = [column.values[code] for code in column.codes.tolist()]
        if own != pc.fill_null(other.column(name), "").to_pylist():
            raise VerificationError(f"{path}: column '{name}' is not that of {RELEASE}")
