"""The Adult table as codes for experiments that count; `?` is a value like any other."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from coterie.base.errors import DataError
from coterie.jobs.data.sources import read_table
from coterie.onetable.coded import CodedTable, coded_table

TRAINING, TEST = "adult.train.csv", "adult.test.csv"


def load_census(
    folder: Path, names: Sequence[str], files: Sequence[str] = (TRAINING,), distinct: bool = False
) -> CodedTable:
    """These columns of the files' rows; with `distinct`, every different row once."""
    for file in files:
        if not (folder / file).exists():
            raise DataError(f"{folder / file}: not there; --data names another folder")
    table = pa.concat_tables([read_table(folder / file, names) for file in files])
    if distinct:
        table = table.group_by(list(names), use_threads=False).aggregate([])
    return coded_table([table], names, str(folder))


def markdown(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    lines = [list(head), ["---"] * len(head), *(list(map(str, row)) for row in rows)]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)
