"""`coterie anonymise` with `clusters: sampled` of a table that the memory does not hold: two passes.

The first pass over the source draws a sample of each quasi-identifier; the second counts between the
cuts (`one_dimension.streamed`), and leaves on disk what the release and its measures need: numbers,
the labels of bounded columns and the class as codes, and the texts of all other columns. These are then
sorted there (`sorted_texts`) and written piece by piece. Whatever the two passes read, k holds for
what the second counted, and only that is released.

In memory are the sample, the groups, the different values of the class and of bounded sensitive
columns, and a piece; not the records, nor the different values of any other column.
"""

from __future__ import annotations

import contextlib
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from coterie.anonymity.algorithms.one_dimension.streamed import (
    Counted,
    Drawn,
    Shape,
    Streamed,
    quantiles_streamed,
)
from coterie.anonymity.table.columns import (
    NUMBERS_ONLY,
    ContinuousColumn,
    NoValueError,
    encode_text,
)
from coterie.anonymity.table.scales import Spelling
from coterie.anonymity.table.stored import SLICE, Grouped
from coterie.anonymity.table.table import Labels
from coterie.base.arrays import Array
from coterie.base.errors import DataError
from coterie.base.memory import give_back
from coterie.jobs.data.batches import batches
from coterie.jobs.data.missing import gaps_of
from coterie.jobs.data.own_columns import plain_column, qid_column
from coterie.jobs.data.scaled import spelling_of
from coterie.jobs.data.sources import Source
from coterie.onetable.large.result import Large, result_of
from coterie.onetable.large.sorted_texts import SortedTexts
from coterie.onetable.large.spooled import rereadable
from coterie.onetable.methods.quantiles.label_files import Different, LabelFile
from coterie.onetable.prepare import may_not_single_out, named_in_errors, singles_out
from coterie.onetable.released import about_job
from coterie.onetable.table_file import TableAttribute, TableFile

_NAMED = 100_000  # rows that an error names at most
_SHARE = 4  # sorting texts takes at most 1/_SHARE of the memory


T = TypeVar("T")


@dataclass(frozen=True)
class StreamedTable(Large):
    """A release whose rows wait on disk, sorted in part."""

    sorted_rows: SortedTexts
    shown: dict[str, pa.Array]  # what the ranks of a quasi-identifier stand for

    def rows(self, schema: pa.Schema) -> Iterator[pa.Table]:
        for part in self.sorted_rows.read():
            columns = {
                name: self.shown[name].take(part.column(name).combine_chunks())
                if name in self.shown
                else part.column(name)
                for name in self.file.columns
            }
            yield pa.table(columns, schema=schema)


@contextlib.contextmanager
def anonymise_stream(file: TableFile, memory: int) -> Iterator[StreamedTable]:
    """Reads, anonymises and measures a stream; temporary files last as long as the context."""
    begun = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="coterie-") as place, named_in_errors(file.source):
        folder = Path(place)
        source = rereadable(file.source, file.columns, folder, memory)
        passes = _Passes(replace(file, source=source), memory, folder)
        passes.draw()
        passes.count()
        give_back()
        read = time.perf_counter()
        made = passes.grouped()
        result = result_of(file, passes.dropped, made.release, folder, made.losses)
        give_back()
        sorted_rows, shown = passes.sorted_rows(made.release.columns)
        result["seconds"] = {
            "read": round(read - begun, 3),
            "anonymise": round(time.perf_counter() - read, 3),
        }
        result["job"] = about_job(file)
        give_back()
        yield StreamedTable(file, result, sorted_rows, shown)


@dataclass(frozen=True)
class _Piece:
    """Rows of the source without those that are dropped; `origin` has their numbers in it."""

    text: pa.Table
    spelling: Spelling
    origin: Array
    before: int  # rows of the pieces before this one

    @contextlib.contextmanager
    def located(self) -> Iterator[None]:
        """Errors inside count the rows of the piece; outside, those of the source."""
        try:
            yield
        except DataError as error:
            raise error.at([int(self.origin[int(row) - 1]) + 1 for row in error.rows]) from None  # type: ignore[arg-type]


class _Passes:
    """The two passes over the source of a table file, and what the second leaves on disk."""

    def __init__(self, file: TableFile, memory: int, folder: Path) -> None:
        self.file, self.memory, self.folder = file, memory, folder
        self.numbers = [a for a in file.attributes if a.in_qid]
        self.dropped = 0
        self._with_gaps: set[str] = set()  # columns for which rows are dropped
        self._drawn = {a.name: Drawn(file.options) for a in self.numbers}
        self._counted: dict[str, Counted] = {}
        self._labels: dict[str, LabelFile] = {}
        self._different: dict[str, Different] = {}  # columns of which no value has come twice
        own = {a.name for a in self.numbers}
        self._plain = [name for name in file.columns if name not in own]

    @property
    def records(self) -> int:
        return next(iter(self._drawn.values())).records

    def draw(self) -> None:
        """The first pass: samples. Only the columns that it needs are read."""
        dropping = [a.name for a in self.file.attributes if a.missing == "drop"]
        names = list(dict.fromkeys([*(a.name for a in self.numbers), *dropping]))
        pieces = self._pieces(names)
        for piece in pieces:
            for attribute in self.numbers:
                work = partial(_numbers, attribute, self.file.source)
                self._drawn[attribute.name].add(_checked(piece, pieces, work))
        if not self.records:
            raise self._nothing()

    def _nothing(self) -> DataError:
        if self.dropped:
            names = [a.name for a in self.file.attributes if a.name in self._with_gaps]
            return DataError(
                "every row lacks a value in {column}, so that none is left", column=names
            )
        return DataError("the table has no records")

    def count(self) -> None:
        """The second pass: exact counts between the cuts, and what the release shows beside."""
        for at, attribute in enumerate(self.numbers):
            name = attribute.name
            k = max((r.k for r in self.file.requirements if r.qid == (name,)), default=1)
            self._counted[name] = Counted(self._drawn[name], k, self.folder / f"numbers{at}")
        bounded = {name for r in self.file.requirements for name in r.sensitive_columns}
        for at, name in enumerate(self._plain):
            if name in bounded or name == self.file.class_name:
                self._labels[name] = LabelFile(self.folder / f"labels{at}", self.records)
        for at, attribute in enumerate(self.file.attributes):
            if may_not_single_out(attribute, bounded):
                file = self.folder / f"different{at}"
                self._different[attribute.name] = Different(file, self.records)
        seen, self.dropped = 0, 0
        schema = pa.schema([(name, pa.string()) for name in self._plain])
        pieces = self._pieces(self.file.columns)
        with (
            pa.OSFile(str(self.folder / "texts"), "wb") as out,
            pa.ipc.new_stream(out, schema) as writer,
        ):
            for piece in pieces:
                seen += piece.text.num_rows
                if seen > self.records:
                    raise self._changed()
                for attribute in self.numbers:
                    with piece.located():
                        numbers = _numbers(attribute, self.file.source, piece)
                    self._counted[attribute.name].add(numbers)
                writer.write_table(self._texts(piece, pieces, bounded, schema))
        if seen != self.records:
            raise self._changed()
        for name, different in self._different.items():
            if self.records > 1 and different.all():
                raise singles_out(name, str(self.file.source))
        for counted in self._counted.values():
            counted.finish()

    def _changed(self) -> DataError:
        return DataError("was changed while it was read")

    def _texts(
        self, piece: _Piece, pieces: Iterator[_Piece], bounded: set[str], schema: pa.Schema
    ) -> pa.Table:
        """The columns in no qid, as the release shows them; labels go to their files, too."""
        by_name = {a.name: a for a in self.file.attributes}
        found = []
        for name in self._plain:
            attribute, source = by_name.get(name), self.file.source
            work = partial(_plain, name, attribute, source, name in bounded)
            own = _checked(piece, pieces, work)
            if name in self._labels:
                self._labels[name].add(own)
            if name in self._different and not self._different[name].add(own):
                del self._different[name]
            values = pa.array(list(own.values), pa.string())
            found.append(values.take(pa.array(own.codes.astype(np.int64))))
        return pa.table(found, schema=schema)

    def _pieces(self, names: Sequence[str]) -> Iterator[_Piece]:
        dropping = {a.name: a.declared for a in self.file.attributes if a.missing == "drop"}
        read = kept = 0
        for text in batches(self.file.source, names, self.memory):
            gone = np.zeros(text.num_rows, bool)
            for name, known in dropping.items():
                gaps = gaps_of(text.column(name), known)
                if gaps.any():
                    self._with_gaps.add(name)
                    gone |= gaps
            spelling = spelling_of(text)
            origin = read + np.flatnonzero(~gone)
            read += text.num_rows
            self.dropped += int(gone.sum())
            stays = text.filter(pa.array(~gone)) if gone.any() else text
            if stays.num_rows:
                yield _Piece(stays, spelling, origin, kept)
                kept += stays.num_rows

    def grouped(self) -> Streamed:
        labels = {name: one.finished() for name, one in self._labels.items()}
        for requirement in self.file.requirements:
            if requirement.model is not None and isinstance(requirement.sensitive, str):
                try:
                    requirement.model.check(labels[requirement.sensitive][0].values)
                except ValueError as error:
                    raise DataError(f"column '{requirement.sensitive}': {error}") from None
        shapes = {a.name: Shape(a.scale, a.limits) for a in self.numbers}
        return quantiles_streamed(
            self._counted, shapes, labels, self.file.requirements, self.file.options,
            self.memory, self.folder,
        )  # fmt: skip

    def sorted_rows(self, shown: dict[str, Grouped]) -> tuple[SortedTexts, dict[str, pa.Array]]:
        """The rows of the release, in files, and the texts of the groups by rank."""
        ranks, texts = {}, {}
        for name, group in shown.items():
            regions = group.columns[name]
            order = sorted(range(len(regions.labels)), key=regions.labels.__getitem__)
            rank = np.empty(len(order), np.uint32)
            rank[order] = np.arange(len(order))
            ranks[name] = rank[regions.codes]
            texts[name] = pa.array([regions.labels[at] for at in order], pa.string())
        schema = pa.schema(
            [(name, pa.uint32() if name in shown else pa.string()) for name in self.file.columns]
        )
        place = self.folder / "sorted"
        place.mkdir()
        found = SortedTexts(place, schema, self.memory // _SHARE)
        for rows, plain in self._kept_texts():
            columns = [
                pa.array(ranks[name][shown[name].parts(rows)]) if name in shown else plain[name]
                for name in self.file.columns
            ]
            found.add(pa.table(columns, schema=schema))
        return found, texts

    def _kept_texts(self) -> Iterator[tuple[slice, dict[str, pa.Array]]]:
        """The texts that the second pass left, piece by piece, and which records they are of."""
        if not self._plain:  # a file without columns does not know how many rows it has
            for start in range(0, self.records, SLICE):
                yield slice(start, min(start + SLICE, self.records)), {}
            return
        start = 0
        with pa.OSFile(str(self.folder / "texts"), "rb") as file:
            for block in pa.ipc.open_stream(file):
                yield (
                    slice(start, start + block.num_rows),
                    dict(zip(self._plain, block.columns, strict=True)),
                )
                start += block.num_rows


def _checked(piece: _Piece, rest: Iterator[_Piece], work: Callable[[_Piece], T]) -> T:
    """The work on a piece; an error about empty rows counts those of all pieces that are left."""
    try:
        with piece.located():
            return work(piece)
    except NoValueError as error:
        raise _counted_on(error, piece, rest, work) from None


def _counted_on(
    error: NoValueError, piece: _Piece, rest: Iterator[_Piece], work: Callable[[_Piece], Any]
) -> NoValueError:
    """The error about a piece with the empty rows of the whole table."""
    rows, number, total = list(error.rows), error.number, piece.before + piece.text.num_rows
    for other in rest:
        total += other.text.num_rows
        try:
            with other.located():
                work(other)
        except NoValueError as further:
            number += further.number
            rows += further.rows[: max(_NAMED - len(rows), 0)]
        except DataError:  # the error about the first piece is the one that is reported
            continue
    return NoValueError(error.name, rows, number, total, error.file, error.cure)


def _numbers(attribute: TableAttribute, source: Source, piece: _Piece) -> Array:
    """The numbers of a column; nan where a record has no value."""
    text = piece.text.column(attribute.name)
    column = qid_column(
        attribute, text, str(source), piece.spelling, most_flat=None, otherwise=NUMBERS_ONLY
    )
    assert isinstance(column, ContinuousColumn)  # noqa: S101
    return np.append(column.values, np.nan)[column.codes]


def _plain(
    name: str, attribute: TableAttribute | None, source: Source, bounded: bool, piece: _Piece
) -> Labels:
    """A column in no qid, as it is released; the class is no attribute."""
    text = piece.text.column(name)
    if attribute is None:
        codes, values = encode_text(name, text, str(source))
        return Labels(codes, tuple(values))
    return plain_column(attribute, text, str(source), piece.spelling, bounded)
