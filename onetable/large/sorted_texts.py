"""Sorts rows of texts that the memory does not hold, whatever and however many their values are.

`jobs.data.sorted_files` sorts ranks, for which all different values of a column must be known. Here
rows come as a table, and are sorted by their values: as many as fit are sorted in memory and left in a
file, and the files are merged. From each file a block is in memory; the rows up to the least of the
blocks' last rows come before all others, so these are sorted together and given out, and the next
blocks are read.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

_FILES = 64  # that are merged at a time
_LEAST = 1 << 16  # bytes of a block


class SortedTexts:
    """Rows of a schema, added piece by piece and read back in their order."""

    def __init__(self, folder: Path, schema: pa.Schema, memory: int) -> None:
        """Files go to `folder`; about `memory` bytes of rows are held."""
        self._folder, self._schema = folder, schema
        self._most = max(memory // 4, _LEAST)  # a table, its order and its sorted copy at a time
        self._waiting: list[pa.Table] = []
        self._held = 0
        self._files: list[Path] = []
        self._names = itertools.count()

    def add(self, rows: pa.Table) -> None:
        self._waiting.append(rows)
        self._held += rows.nbytes
        if self._held >= self._most:
            self._sort()

    def read(self) -> Iterator[pa.Table]:
        """The rows in their order, some at a time. They are gone afterwards."""
        self._sort()
        while len(self._files) > _FILES:
            first, self._files = self._files[:_FILES], self._files[_FILES:]
            self._files.append(self._written(self._merged(first)))
        yield from self._merged(self._files)
        self._files = []

    def _sort(self) -> None:
        if self._waiting:
            rows = _in_order(pa.concat_tables(self._waiting))
            self._waiting, self._held = [], 0
            self._files.append(self._written([rows]))

    def _written(self, tables: Any) -> Path:
        """A file of these rows in blocks of which every file that is merged can have one in memory."""
        path = self._folder / f"{next(self._names)}.rows"
        with pa.OSFile(str(path), "wb") as out, pa.ipc.new_stream(out, self._schema) as writer:
            for table in tables:
                each = max(table.nbytes // max(table.num_rows, 1), 1)
                rows = max(max(self._most // _FILES, _LEAST) // each, 1)
                writer.write_table(table.combine_chunks(), rows)
        return path

    def _merged(self, files: Sequence[Path]) -> Iterator[pa.Table]:
        runs = [_Run(path) for path in files]
        while runs := [run for run in runs if run.fill()]:
            if len(runs) == 1:
                yield runs[0].take(None)
                continue
            until = min(run.last for run in runs)
            parts = [run.take(until) for run in runs]
            yield _in_order(pa.concat_tables([part for part in parts if part.num_rows]))
        for path in files:
            path.unlink()


class _Run:
    """A file of sorted rows, of which one block is in memory."""

    def __init__(self, path: Path) -> None:
        self._file = pa.OSFile(str(path), "rb")
        self._blocks = iter(pa.ipc.open_stream(self._file))
        self._rows: pa.Table | None = None

    def fill(self) -> bool:
        """Reads the next block if there are no rows; whether there are any now."""
        while self._rows is None or not self._rows.num_rows:
            block = next(self._blocks, None)
            if block is None:
                self._file.close()
                return False
            self._rows = pa.Table.from_batches([block])
        return True

    def _row(self, at: int) -> tuple[Any, ...]:
        assert self._rows is not None  # noqa: S101
        return tuple(column[at].as_py() for column in self._rows.columns)

    @property
    def last(self) -> tuple[Any, ...]:
        assert self._rows is not None  # noqa: S101
        return self._row(self._rows.num_rows - 1)

    def take(self, until: tuple[Any, ...] | None) -> pa.Table:
        """The rows up to `until`, equal ones among them; all of the block for None."""
        assert self._rows is not None  # noqa: S101
        low, high = 0, self._rows.num_rows
        if until is None or self.last <= until:
            low = high
        while low < high:
            middle = (low + high) // 2
            if self._row(middle) <= until:  # type: ignore[operator]
                low = middle + 1
            else:
                high = middle
        taken, self._rows = self._rows.slice(0, low), self._rows.slice(low)
        return taken


def _in_order(rows: pa.Table) -> pa.Table:
    keys = [(name, "ascending") for name in rows.column_names]
    return rows.take(pc.sort_indices(rows, sort_keys=keys))
