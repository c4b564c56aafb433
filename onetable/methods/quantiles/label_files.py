"""Columns of a stream of which no more than codes or numbers are kept, in files."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from coterie.anonymity.table.stored import SLICE, Stored
from coterie.anonymity.table.table import Labels
from coterie.base.arrays import Array
from coterie.base.memory import let_go, read_part


class LabelFile:
    """A column that is counted: its different values in memory, the codes of records in a file."""

    def __init__(self, file: Path, records: int) -> None:
        self._codes = np.memmap(file, np.uint32, "w+", shape=(records,))
        self._number: dict[str, int] = {}
        self._seen = 0

    def add(self, labels: Labels) -> None:
        number = [self._number.setdefault(value, len(self._number)) for value in labels.values]
        codes = np.array(number, np.uint32)[labels.codes]
        self._codes[self._seen : self._seen + len(codes)] = codes
        self._seen += len(codes)
        let_go(self._codes)

    def finished(self) -> tuple[Labels, Stored]:
        each = np.arange(len(self._number))
        return Labels(each, tuple(self._number)), Stored(self._codes, each)


class Different:
    """A column of which all values differ so far: a number for each value in a file, not the value."""

    def __init__(self, file: Path, records: int) -> None:
        self._file, self._records, self._seen = file, records, 0
        self._numbers: Array | None = None

    def add(self, labels: Labels) -> bool:
        """Takes in further values; whether they differ from each other."""
        if len(labels.values) < len(labels.codes):
            return False
        if self._numbers is None:
            self._numbers = np.memmap(self._file, np.int64, "w+", shape=(self._records,))
        numbers = np.fromiter(map(hash, labels.values), np.int64, len(labels.values))
        self._numbers[self._seen : self._seen + len(numbers)] = numbers
        self._seen += len(numbers)
        let_go(self._numbers)
        return True

    def all(self) -> bool:
        """Whether all values of all pieces differ; two that share a number are taken for equal."""
        assert self._numbers is not None  # noqa: S101
        self._numbers.sort()
        for start in range(0, self._records, SLICE):
            part = read_part(self._numbers, slice(start, start + SLICE + 1))
            if (part[1:] == part[:-1]).any():
                return False
        return True
