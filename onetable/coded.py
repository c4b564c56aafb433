"""The columns of a table as codes, read in batches, so that the table itself is never in memory.

A code takes one to four bytes where the text takes many more. If even the codes are too much for
the memory given, they go to files in a temporary folder, which is removed with the table, and are
read from there as they are needed. The values of a column are kept once each.

An empty value and `?` count as one value: that something is unknown about a person distinguishes
people, too.
"""

from __future__ import annotations

import math
import os
import re
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from coterie.anonymity.table.columns import code_type
from coterie.anonymity.table.intervals import GAP
from coterie.anonymity.table.scales import DATE, DATETIME, NUMBER, PLAIN, Scale, Spelling
from coterie.base.arrays import Array, Codes, Ints, Mask
from coterie.base.errors import DataError
from coterie.base.memory import give_back
from coterie.jobs.data.scaled import spelling_of

_SLICE = 1 << 20  # records that are counted together
_TRIMMED = 32  # pieces after which freed memory goes back, where it is scarce
_NUMBER = r"^\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*$"
_DATE = r"^\d{4}-\d{2}-\d{2}([ T].*)?$"
_NOT_FINITE = re.compile(r"[-+]?(nan|inf|infinity)", re.IGNORECASE)


@dataclass(frozen=True)
class CodedColumn:
    """A code for each record, and the values that the codes stand for."""

    name: str
    codes: Codes
    values: pa.Array
    missing: int
    spelling: Spelling = PLAIN  # how the source writes numbers and dates

    @property
    def distinct(self) -> int:
        return len(self.values)

    @property
    def once(self) -> int:
        """How many values occur once."""
        return int((self.counts() == 1).sum())

    @property
    def kind(self) -> str:
        """`number`, `date`, `text`, `mixed` (some numbers, some not) or `empty`."""
        known = self.values.filter(pc.not_equal(self.values, GAP))
        if not len(known):
            return "empty"
        numbers = int(self._are_numbers(known).sum())
        if numbers == len(known):
            return "number"
        if pc.all(pc.match_substring_regex(known, _DATE)).as_py() or self._spelt(DATETIME, known):
            return "date"
        return "mixed" if numbers * 2 >= len(known) else "text"

    def _are_numbers(self, values: pa.Array) -> Mask:
        """Which values are numbers as the source writes them."""
        if self.spelling == PLAIN:
            plain = pc.match_substring_regex(values, _NUMBER)
            return np.asarray(plain.to_numpy(zero_copy_only=False), bool)
        read = (NUMBER.read_as(value, self.spelling) for value in values.to_pylist())
        return np.isfinite(np.fromiter(read, np.float64, len(values)))

    def _spelt(self, scale: Scale, known: pa.Array) -> bool:
        """Whether all values are of this scale in a form that the source declares."""
        return bool(self.spelling.dates) and all(
            math.isfinite(scale.read_as(value, self.spelling)) for value in known.to_pylist()
        )

    @property
    def type_of_dates(self) -> str:
        """The `type` of a column of the kind `date`, as files write it."""
        known = self.values.filter(pc.not_equal(self.values, GAP))
        if self.spelling.dates:
            return "date" if self._spelt(DATE, known) else "datetime"
        return "datetime" if pc.max(pc.utf8_length(known)).as_py() > len("2020-01-31") else "date"

    def counts(self) -> Ints:
        """How often each value occurs."""
        found = np.zeros(self.distinct, np.int64)
        for start in range(0, len(self.codes), _SLICE):
            part = np.asarray(self.codes[start : start + _SLICE])
            found += np.bincount(part, minlength=self.distinct)
        return found

    def _first_of(self, wanted: Array) -> int:
        """The first record with one of these codes."""
        marked = np.zeros(self.distinct, bool)
        marked[wanted] = True
        for start in range(0, len(self.codes), _SLICE):
            found = marked[np.asarray(self.codes[start : start + _SLICE])]
            if found.any():
                return start + int(found.argmax())
        return 0

    def notes(self) -> list[str]:
        """Remarks that a person should read before the table is used."""
        found = []
        if self.kind == "mixed":
            gaps = pc.equal(self.values, GAP).to_numpy(zero_copy_only=False)
            odd = np.flatnonzero(~self._are_numbers(self.values) & ~gaps)
            row = self._first_of(odd)
            value = self.values[int(self.codes[row])].as_py()
            what = "is not finite" if _NOT_FINITE.fullmatch(value) else "is not a number"
            found.append(
                f"row {row + 1}: column '{self.name}': '{value}' {what}, as {len(odd):,} of its "
                f"{self.distinct:,} values are not"
            )
        if self.distinct == 1:
            found.append(f"column '{self.name}' has only one value, which distinguishes nobody")
        return found


@dataclass
class CodedTable:
    """The columns of a table, all of the same length."""

    columns: list[CodedColumn]
    records: int
    source: str
    folder: tempfile.TemporaryDirectory[str] | None = field(default=None, repr=False)

    def column(self, name: str) -> CodedColumn:
        return next(column for column in self.columns if column.name == name)

    def codes(self, names: Sequence[str]) -> list[Codes]:
        return [self.column(name).codes for name in names]


def free_memory() -> int:
    """The bytes of memory that are free on this machine now."""
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError):
        return 1 << 32


def _no_records(source: str) -> DataError:
    return DataError(f"{source}: the table has no records")


def coded_table(
    pieces: Iterable[pa.Table],
    names: Sequence[str],
    source: str,
    memory: int | None = None,
    gap: str | None = GAP,
    empty: Callable[[str], DataError] = _no_records,
) -> CodedTable:
    """Codes of all columns; in files if they take more than `memory` bytes (default: half of free).

    An empty value counts as the text `gap`; None keeps it apart, as a null among the values.
    `empty` makes the error about a source without records.
    """
    limit = free_memory() // 2 if memory is None else memory
    folder: tempfile.TemporaryDirectory[str] | None = None
    growing = [_Growing(name, gap) for name in names]
    records = 0
    for number, piece in enumerate(pieces):
        records += piece.num_rows
        if folder is not None and number % _TRIMMED == 0:
            give_back()
        for column in growing:
            column.add(piece.column(column.name))
            column.spelling = spelling_of(piece)
        if folder is None and sum(column.bytes for column in growing) > limit:
            folder = tempfile.TemporaryDirectory(prefix="coterie-", ignore_cleanup_errors=True)
            for at, column in enumerate(growing):
                column.spill(Path(folder.name) / str(at))
    if not records:
        raise empty(source)
    return CodedTable([column.finished(records) for column in growing], records, source, folder)


class _Growing:
    """A column while its pieces come in."""

    def __init__(self, name: str, gap: str | None) -> None:
        self.name, self.gap = name, gap
        self.values = pa.array([], pa.string())
        self.missing = 0
        self.spelling = PLAIN
        self._waiting: list[pa.Array] = []  # texts that have no codes yet
        self._pieces: list[Codes] = []
        self._file: Path | None = None
        self.bytes = 0

    def add(self, text: pa.ChunkedArray) -> None:
        """Takes in further texts.

        Looking texts up among the known values takes time in proportion to these, so texts wait until
        they are half as many: a column of different values then takes no more than n log n.
        """
        self._waiting += (text if self.gap is None else pc.fill_null(text, self.gap)).chunks
        if 2 * sum(map(len, self._waiting)) >= len(self.values):
            self._number()

    def _number(self) -> None:
        """Gives codes to the texts that wait."""
        waiting, self._waiting = self._waiting, []
        filled = pa.concat_arrays(waiting) if waiting else pa.array([], pa.string())
        encoded = filled.dictionary_encode("encode")
        place = pc.index_in(encoded.dictionary, value_set=self.values)
        fresh = encoded.dictionary.filter(pc.is_null(place))
        numbers = place.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
        numbers[numbers < 0] = len(self.values) + np.arange(len(fresh))
        if len(fresh):
            self.values = pa.concat_arrays([self.values, fresh])
        codes = numbers[encoded.indices.to_numpy()] if len(filled) else np.zeros(0, np.int64)
        self._keep(codes.astype(code_type(len(self.values))))
        self.missing += filled.null_count + int(pc.sum(pc.equal(filled, GAP)).as_py() or 0)

    def _keep(self, codes: Codes) -> None:
        if self._file is not None:
            with self._file.open("ab") as out:
                out.write(codes.astype(np.uint32).tobytes())
            return
        self._pieces.append(codes)
        self.bytes += codes.nbytes

    def spill(self, file: Path) -> None:
        """Moves the codes so far to a file, to which further codes are appended."""
        self._file, pieces, self._pieces, self.bytes = file, self._pieces, [], 0
        for codes in pieces:
            self._keep(codes)

    def finished(self, records: int) -> CodedColumn:
        self._number()
        codes: Any
        if self._file is not None:
            codes = np.memmap(self._file, np.uint32, "r", shape=(records,))
        else:
            kind = code_type(len(self.values))
            codes = np.concatenate([piece.astype(kind) for piece in self._pieces])
        return CodedColumn(self.name, codes, self.values, self.missing, self.spelling)
