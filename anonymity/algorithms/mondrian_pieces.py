"""Mondrian of a table that one memory does not hold: first cuts from counts, then piece by piece.

Which cut of a part is best follows from how often each code occurs in the part, and, with models on
sensitive attributes, how often each label occurs beside it. These counts take as much room as there
are different values, not records. So a part that is too large is counted slice by slice, cut, and
its records are divided into two pieces; a piece that fits is finished in memory by the compiled
loops of `mondrian_kernels`. A piece may lie in files (`FilePiece`) or on the machines of a cluster.

Guarantee: the same parts as `mondrian.partition_table`, since every cut is chosen by the same
function from the same counts, and records keep their order in both halves of a cut.

Cost: for a table of m times the memory about log2(m) levels, each two readings and one writing of
the records; then the cost of Mondrian. Kept in memory: the counts, and the boxes of all parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from coterie.anonymity.algorithms import mondrian_kernels as kernels
from coterie.anonymity.algorithms.mondrian import CutSettings, Sensitive, best_cuts, partition_codes
from coterie.base.arrays import Array
from coterie.base.memory import let_go

SLICE = 1 << 16  # records that are read together


@dataclass(frozen=True)
class Rules:
    """All that is needed to cut a part: the same for every part of a table."""

    settings: CutSettings
    judged: Sensitive
    totals: Array  # how often each label occurs in the table

    @property
    def sizes(self) -> Array:
        """How many codes each attribute has."""
        return self.settings.sizes

    @property
    def width(self) -> int:
        """Counts for each code: of the records, and of every label among them."""
        return 1 + self.judged.values

    @property
    def starts(self) -> Array:
        return np.concatenate([[0], np.cumsum(self.sizes * self.width)[:-1]]).astype(np.int64)

    def counted(self, matrix: Array) -> Array:
        """The counts of some records; see `kernels.count_codes`."""
        counts = np.zeros(int(self.sizes.sum()) * self.width, np.int64)
        kernels.count_codes(matrix, self.starts, self.width, counts)
        return counts

    def of_attribute(self, counts: Array, j: int) -> Array:
        """The counts of one attribute: a row per code."""
        start = int(self.starts[j])
        return counts[start : start + int(self.sizes[j]) * self.width].reshape(-1, self.width)


@dataclass(frozen=True)
class Cut:
    """Records below `code` go left, and the first `taken` of those with this code."""

    attribute: int
    code: int
    taken: int


@dataclass(frozen=True)
class Finished:
    """The parts of a piece: its rows in the order of the parts, and where each part ends.

    `low` and `high` are the regions between cuts, `first` and `last` those that the records fill.
    """

    rows: Array
    ends: Array
    low: Array
    high: Array
    first: Array
    last: Array


class Piece(Protocol):
    """Some records of the table, wherever they are, in the order of the table."""

    @property
    def records(self) -> int: ...

    def counts(self) -> Array: ...

    def ties(self, cut: Cut) -> Array:
        """How often each label occurs among the records with the cut's code that go left."""
        ...

    def split(self, cut: Cut, left: int) -> tuple[Piece, Piece]:
        """Two pieces in the place of this one; `left` records are in the first."""
        ...

    def finish(self) -> Callable[[], Finished]:
        """Begins to cut the piece to its end; returns a function that waits for the parts."""
        ...

    def rows(self) -> Iterator[Array]: ...


@dataclass
class Boxes:
    """The parts found so far: `part`, a file, has the number of each record's part.

    `low` and `high` are the sides of the boxes: tight ones, or those between cuts.
    """

    part: Array
    tight: bool
    sizes: list[Array]
    low: list[Array]
    high: list[Array]
    number: int = 0

    @staticmethod
    def into(part: Array, tight: bool) -> Boxes:
        return Boxes(part, tight, [], [], [])

    def add(self, found: Finished) -> None:
        sizes = np.diff(np.concatenate([[0], found.ends]))
        numbers = np.repeat(np.arange(self.number, self.number + len(sizes), dtype=np.int32), sizes)
        order = np.argsort(found.rows)  # along the file, so that few of its pages are in memory
        for start in range(0, len(order), SLICE):
            some = order[start : start + SLICE]
            self.part[found.rows[some]] = numbers[some]
            let_go(self.part)
        self._keep(sizes, found.low, found.high, found.first, found.last)

    def add_whole(self, piece: Piece, box: tuple[Array, ...]) -> None:
        """A piece that is one part and may be too large for the memory."""
        for rows in piece.rows():
            self.part[rows] = self.number
            let_go(self.part)
        self._keep(np.array([piece.records]), *(side[None, :] for side in box))

    def _keep(self, sizes: Array, low: Array, high: Array, first: Array, last: Array) -> None:
        self.number += len(sizes)
        self.sizes.append(np.asarray(sizes, np.int64))
        if self.tight:
            low, high = first, last
        self.low.append(low.astype(np.int32))
        self.high.append(high.astype(np.int32))


def partition_pieces(roots: Sequence[Piece], rules: Rules, most: int, boxes: Boxes) -> None:
    """Cuts the pieces as long as Mondrian would; pieces of at most `most` records in memory."""
    bottom, top = np.zeros(len(rules.sizes), np.int64), rules.sizes
    waiting = [(piece, bottom, top) for piece in reversed(roots) if piece.records]
    begun: list[tuple[Callable[[], Finished], Array, Array]] = []
    while waiting:
        piece, low, high = waiting.pop()
        if piece.records <= most:
            begun.append((piece.finish(), low, high))
            continue
        counts = piece.counts()
        cut = best_cut(piece, counts, rules)
        if cut is None:
            boxes.add_whole(piece, (low, high, *_extents(counts, rules)))
            continue
        j, code = cut.attribute, cut.code
        under = int(rules.of_attribute(counts, j)[:code, 0].sum()) + cut.taken
        left, right = piece.split(cut, under)
        left_high, right_low = high.copy(), low.copy()
        left_high[j], right_low[j] = code + (cut.taken > 0), code
        waiting += [(right, right_low, high), (left, low, left_high)]
    for wait, low, high in begun:
        found = wait()
        # A finished piece knows of its own cuts only: the cuts around it bound it, too.
        boxes.add(
            Finished(found.rows, found.ends, np.maximum(found.low, low),
                     np.minimum(found.high, high), found.first, found.last)
        )  # fmt: skip


def best_cut(piece: Piece, counts: Array, rules: Rules) -> Cut | None:
    """The cut that Mondrian makes in a part with these counts; None if no cut is allowed."""
    found: list[tuple[Array, ...]] = []
    allowed: list[Array] = []
    for j in range(len(rules.sizes)):
        own = rules.of_attribute(counts, j)
        listed = kernels.cuts_of_counts(np.ascontiguousarray(own[:, 0]), j, *rules.settings)
        cut, taken, score, near = listed
        found.append((np.full(len(cut), j), cut, taken, score, near))
        allowed.append(_allowed(piece, own, j, cut, taken, rules))
    attribute, cut, taken, score, near = (np.concatenate(side) for side in zip(*found, strict=True))
    places = np.flatnonzero(np.concatenate(allowed))
    best = best_cuts(places, np.zeros(len(cut), np.int64), attribute, score, near)
    if not len(best):
        return None
    at = int(best[0])
    return Cut(int(attribute[at]), int(cut[at]), int(taken[at]))


def _allowed(piece: Piece, own: Array, j: int, cut: Array, taken: Array, rules: Rules) -> Array:
    """Whether both sides of each cut satisfy the models."""
    if not rules.judged.models or not len(cut):
        return np.ones(len(cut), bool)
    labels = np.cumsum(own[:, 1:], axis=0)
    left = np.where((cut > 0)[:, None], labels[cut - 1], 0)
    if rules.settings.relaxed:  # one cut, which may divide records with one code
        left = left + piece.ties(Cut(j, int(cut[0]), int(taken[0])))
    right = labels[-1] - left
    return rules.judged.holds(left, rules.totals) & rules.judged.holds(right, rules.totals)


def _extents(counts: Array, rules: Rules) -> tuple[Array, Array]:
    """The first code of each attribute that occurs, and the one after the last."""
    there = [np.flatnonzero(rules.of_attribute(counts, j)[:, 0]) for j in range(len(rules.sizes))]
    return np.array([codes[0] for codes in there]), np.array([codes[-1] + 1 for codes in there])


def goes_left(matrix: Array, cut: Cut) -> tuple[Array, int]:
    """Which records a cut sends to the left, and how many of them have its code."""
    codes = matrix[:, cut.attribute]
    left = codes < cut.code
    if not cut.taken:
        return left, 0
    equal = np.flatnonzero(codes == cut.code)[: cut.taken]
    left[equal] = True
    return left, len(equal)


def finished(matrix: Array, rows: Array, rules: Rules) -> Finished:
    """Cuts records that are in memory to the end."""
    d = len(rules.sizes)
    codes = np.ascontiguousarray(matrix[:, :d].T)
    labels = matrix[:, d:].astype(np.int64)
    order = np.arange(len(rows))
    starts = np.array([0, len(rows)], np.int64)
    ends, low, high = partition_codes(
        codes, order, starts, rules.settings, labels, rules.judged, rules.totals
    )
    begins = np.concatenate([[0], ends[:-1]]).astype(np.int64)
    first = np.minimum.reduceat(codes, begins, axis=1).T
    last = np.maximum.reduceat(codes, begins, axis=1).T + 1
    return Finished(rows[order], ends, low, high, first, last)


class FilePiece:
    """Records in two files: codes and labels, and the rows of the table that they are."""

    def __init__(self, folder: Path, names: Iterator[int], rules: Rules) -> None:
        self.folder, self.names, self.rules = folder, names, rules
        self.width = len(rules.sizes) + len(rules.judged.names)
        self.records = 0
        name = next(names)
        self._codes, self._rows = folder / f"{name}.codes", folder / f"{name}.rows"

    def append(self, matrix: Array, rows: Array) -> None:
        with self._codes.open("ab") as codes, self._rows.open("ab") as numbers:
            codes.write(np.ascontiguousarray(matrix, np.int32).data)
            numbers.write(np.ascontiguousarray(rows, np.int64).data)
        self.records += len(rows)

    def _read(self, slice_: int = SLICE) -> Iterator[tuple[Array, Array]]:
        if not self.records:
            return
        with self._codes.open("rb") as codes, self._rows.open("rb") as numbers:
            for start in range(0, self.records, slice_):
                count = min(slice_, self.records - start)
                matrix = np.fromfile(codes, np.int32, count * self.width)
                yield matrix.reshape(-1, self.width), np.fromfile(numbers, np.int64, count)

    def counts(self) -> Array:
        total = np.zeros(int(self.rules.sizes.sum()) * self.rules.width, np.int64)
        for matrix, _ in self._read():
            kernels.count_codes(matrix, self.rules.starts, self.rules.width, total)
        return total

    def ties(self, cut: Cut) -> Array:
        found = np.zeros(self.rules.judged.values, np.int64)
        left = cut.taken
        for matrix, _ in self._read():
            equal = np.flatnonzero(matrix[:, cut.attribute] == cut.code)[:left]
            labels = matrix[equal, len(self.rules.sizes) :]
            found += np.bincount(labels.ravel(), minlength=len(found))
            left -= len(equal)
        return found

    def split(self, cut: Cut, left: int) -> tuple[FilePiece, FilePiece]:
        low, high = (FilePiece(self.folder, self.names, self.rules) for _ in range(2))
        taken = cut.taken
        for matrix, rows in self._read():
            goes, used = goes_left(matrix, Cut(cut.attribute, cut.code, taken))
            taken -= used
            low.append(matrix[goes], rows[goes])
            high.append(matrix[~goes], rows[~goes])
        self.remove()
        return low, high

    def finish(self) -> Callable[[], Finished]:
        def work() -> Finished:
            matrix, rows = next(self._read(self.records))
            self.remove()
            return finished(matrix, rows, self.rules)

        return work

    def rows(self) -> Iterator[Array]:
        for _, rows in self._read():
            yield rows

    def remove(self) -> None:
        self._codes.unlink()
        self._rows.unlink()
