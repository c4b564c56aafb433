"""Sources that are read more than once: files as they are, all others from a copy on disk.

A CSV or Parquet file can be read again. A pipe cannot, and a database may have other rows, or the
same in another order, the second time. So these are read once, piece by piece, into a temporary file
that nobody but its owner can read. It is removed together with its folder, which the caller made.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from coterie.base.errors import DataError
from coterie.jobs.data.batches import batches
from coterie.jobs.data.sources import CsvFile, ParquetFile, Source, Spelt


@dataclass(frozen=True)
class SpooledCsv(CsvFile):
    """A copy of a CSV source; `shown` is the source's name in errors."""

    shown: str = ""

    def __str__(self) -> str:
        return self.shown


@dataclass(frozen=True)
class SpooledParquet(ParquetFile):
    """A copy of a source as a Parquet file; `shown` is the source's name in errors."""

    shown: str = ""

    def __str__(self) -> str:
        return self.shown


def can_be_read_again(source: Source) -> bool:
    """Whether a source is a file on disk, which has the same rows every time."""
    if isinstance(source, Spelt):
        return can_be_read_again(source.source)
    return isinstance(source, CsvFile | ParquetFile) and source.path.is_file()


def rereadable(source: Source, columns: Sequence[str], folder: Path, memory: int) -> Source:
    """The source itself, or a copy of its columns in `folder`, within about `memory` bytes."""
    if isinstance(source, Spelt):
        return Spelt(rereadable(source.source, columns, folder, memory), source.spelling)
    if can_be_read_again(source):
        return source
    if isinstance(source, CsvFile | ParquetFile) and source.path.exists():
        return _copied(source, folder)
    file = folder / "spooled.parquet"
    names = list(dict.fromkeys(columns))
    with _owned(file) as out, pq.ParquetWriter(out, _texts(names), compression="zstd") as writer:
        for piece in batches(source, names, memory):
            writer.write_table(piece.select(names).cast(_texts(names)))
    return SpooledParquet(file, str(source))


def _copied(source: CsvFile | ParquetFile, folder: Path) -> Source:
    """A copy of what a pipe gives, byte by byte."""
    file = folder / f"spooled{source.path.suffix}"
    try:
        with source.path.open("rb") as pipe, _owned(file) as out:
            shutil.copyfileobj(pipe, out, 1 << 20)
    except OSError as error:
        raise DataError(f"{source}: {error.strerror}") from None
    if isinstance(source, CsvFile):
        return SpooledCsv(file, source.delimiter, source.encoding, str(source))
    return SpooledParquet(file, str(source))


def _owned(file: Path) -> BinaryIO:
    """A new file that only its owner can read."""
    return os.fdopen(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb")


def _texts(names: Sequence[str]) -> pa.Schema:
    return pa.schema([(name, pa.string()) for name in names])
