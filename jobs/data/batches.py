"""Reads a source in batches, and the names of its columns.

`Source.read` returns a whole table of texts. Code that only counts values need not hold the table:
`batches` returns the same rows in the same text form, some ten thousand at a time, if the source is
a CSV or Parquet file; a database gives its rows in the pieces of its driver. Other sources are read in
one batch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol, runtime_checkable

import pyarrow as pa
import pyarrow.parquet as pq

from coterie.base.errors import DataError
from coterie.jobs.data.require import require_columns
from coterie.jobs.data.scaled import with_spelling
from coterie.jobs.data.sources import CsvFile, ParquetFile, Source, Spelt
from coterie.jobs.data.text_form import as_text

_BLOCK = 1 << 24  # bytes of a CSV file that are parsed together
_LEAST = 1 << 18  # a row must not be longer than a block
_AHEAD = 256  # Arrow reads up to 32 blocks ahead: an eighth of the memory
_BYTES = 16  # bytes of a block that a row of a Parquet file counts for
_BUFFER = 1 << 20


@runtime_checkable
class InPieces(Protocol):
    """A source that gives its rows piece by piece, in one pass from the first to the last."""

    def pieces(self, columns: Sequence[str]) -> Iterator[pa.Table]: ...


def column_names(source: Source) -> list[str]:
    """The columns of a source, in its order; a repeated column is an error."""
    names = source.names()
    for name in names:
        if names.count(name) > 1:
            raise DataError(f"{source}: has the column '{name}' twice")
    return names


def batches(
    source: Source, columns: Sequence[str], memory: int | None = None
) -> Iterator[pa.Table]:
    """The named columns as texts, in pieces of the source's rows: smaller ones for less memory.

    With the largest blocks several threads parse. Texts take more room in memory than in the file.
    """
    block = _BLOCK if memory is None else min(max(memory // _AHEAD, _LEAST), _BLOCK)
    if isinstance(source, Spelt):
        for piece in batches(source.source, columns, memory):
            yield with_spelling(piece, source.spelling)
    elif isinstance(source, CsvFile) and source.path.is_file():
        require_columns(columns, source.names(), str(source))
        yield from _csv(source, list(columns), block)
    elif isinstance(source, ParquetFile) and source.path.is_file():
        require_columns(columns, source.names(), str(source))
        yield from _parquet(source, list(columns), block // _BYTES)
    elif isinstance(source, InPieces):
        yield from source.pieces(columns)
    else:
        yield source.read(columns)


def _csv(source: CsvFile, columns: list[str], block: int) -> Iterator[pa.Table]:
    if source.path.stat().st_size <= block:
        yield source.read(columns)
        return
    source.check_header(columns)
    source.check_quotes()
    try:
        with source.stream(columns, block, threads=block == _BLOCK) as reader:
            for batch in reader:
                yield pa.table(batch)
    except (pa.ArrowInvalid, UnicodeError):
        source.read(columns)  # raises an error with the row that cannot be read
        raise DataError(f"{source}: cannot be read piece by piece") from None


def _parquet(source: ParquetFile, columns: list[str], rows: int) -> Iterator[pa.Table]:
    try:
        # With a buffer, a column of a row group is read page by page and not as a whole.
        with pq.ParquetFile(source.path, buffer_size=_BUFFER) as file:
            before = 0
            for batch in file.iter_batches(rows, columns=columns):
                try:
                    yield as_text(pa.table(batch).select(columns), str(source))
                except DataError as error:
                    moved = [before + row for row in error.rows]  # type: ignore[operator]
                    raise error.at(moved) from None
                before += batch.num_rows
    except (OSError, pa.ArrowException):
        source.read(columns)  # raises an error that explains the fault
        raise DataError(f"{source}: cannot be read piece by piece") from None
