"""Sorts the rows of a release that the memory does not hold.

A row has a rank for every column, in the order of the column's texts. Rows are dealt out to files
by ranges of the first column's ranks, so that a file fits into the memory; where one rank alone has
too many rows, these are dealt out by the next column, and rows that are equal in all columns need
no sorting. The files are then sorted one after the other.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from coterie.base.arrays import Array

_SLICE = 1 << 16
_OUT = 1 << 14  # rows that are given out together; their texts take much more room than ranks
_FILES = 64  # files that rows are dealt out to at a time


class SortedRows:
    """Rows of ranks, written slice by slice and read back in their order."""

    def __init__(self, folder: Path, sizes: Sequence[int], most: int) -> None:
        """`sizes` says how many ranks each column has; at most `most` rows are in memory."""
        self._folder, self._sizes, self._most = folder, list(sizes), most
        self._names = itertools.count()
        self._all = self._file()

    def add(self, ranks: Array) -> None:
        """Adds rows: one for each record, with a rank for each column."""
        _append(self._all, ranks)

    def read(self) -> Iterator[Array]:
        """Slices of the rows in their order. The rows are gone afterwards."""
        yield from self._sorted(self._all, 0)

    def _file(self) -> Path:
        return self._folder / f"{next(self._names)}.ranks"

    def _slices(self, path: Path) -> Iterator[Array]:
        width = len(self._sizes)
        if not path.exists():
            return
        with path.open("rb") as file:
            while len(part := np.fromfile(file, np.uint32, _SLICE * width)):
                yield part.reshape(-1, width)

    def _sorted(self, path: Path, column: int) -> Iterator[Array]:
        width = len(self._sizes)
        rows = path.stat().st_size // (4 * width) if path.exists() else 0
        if rows <= self._most or column == width:
            if column == width:  # all are equal
                yield from self._slices(path)
            elif rows:
                yield from _in_order(np.fromfile(path, np.uint32).reshape(-1, width))
            path.unlink(missing_ok=True)
            return
        counts = np.zeros(self._sizes[column], np.int64)
        for part in self._slices(path):
            counts += np.bincount(part[:, column], minlength=len(counts))
        files, file_of = self._dealt(counts)
        for part in self._slices(path):
            places = file_of[part[:, column]]
            for at in np.unique(places).tolist():
                _append(files[at][0], part[places == at])
        path.unlink()
        for file, one_rank in files:
            yield from self._sorted(file, column + one_rank)

    def _dealt(self, counts: Array) -> tuple[list[tuple[Path, bool]], Array]:
        """Files for ranges of ranks, whether a file has one rank only, and the file of each rank."""
        room = max(self._most, -(-int(counts.sum()) // _FILES))
        file_of = np.zeros(len(counts), np.int64)
        files: list[tuple[Path, bool]] = []
        ranks, held = 0, 0
        for rank in np.flatnonzero(counts).tolist():
            if not files or held + counts[rank] > room:
                files.append((self._file(), False))
                ranks, held = 0, 0
            ranks, held = ranks + 1, held + int(counts[rank])
            files[-1] = (files[-1][0], ranks == 1)
            file_of[rank] = len(files) - 1
        return files, file_of


def _append(path: Path, ranks: Array) -> None:
    with path.open("ab") as file:
        file.write(np.ascontiguousarray(ranks, np.uint32).data)


def _in_order(ranks: Array) -> Iterator[Array]:
    order = np.lexsort(ranks.T[::-1])
    for start in range(0, len(order), _OUT):
        yield ranks[order[start : start + _OUT]]
