"""`coterie verify` of a release that was made on disk: the same checks, slice by slice.

`release.csv` is read piece by piece: the order of its rows and the values of columns in no qid are
looked at on the way, and the columns that groups are formed by, or that are bounded in them, go to
files of codes (`coded`). In memory are the different values of these columns, one number for each
group, and the piece at hand; with the table at hand (`verify_source`) the different values of all
columns. Groups are numbered anew, by code that shares nothing with the one that made them: records
get a number by their first columns, then by that number and further columns, until all columns of
the qid have been looked at.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from coterie.anonymity.models.audit import audit_counted, check_counted_risk
from coterie.anonymity.models.privacy import TupleModel
from coterie.anonymity.specialization.generalized import Requirement
from coterie.base.arrays import Array
from coterie.base.distinct import distinct
from coterie.base.errors import DataError, VerificationError
from coterie.base.memory import give_back, let_go, read_part
from coterie.jobs.data.batches import batches
from coterie.jobs.data.release_file import check_claims, check_header
from coterie.jobs.data.released.together import together_counted
from coterie.jobs.data.sources import file_source
from coterie.onetable.checks.numbers import check_discernibility, check_numbers
from coterie.onetable.checks.values import check_values
from coterie.onetable.coded import CodedColumn, CodedTable, coded_table
from coterie.onetable.methods.generalizing.method import Generalizing
from coterie.onetable.methods.generalizing.verify_source import check_source
from coterie.onetable.table_file import TableFile

_SLICE = 1 << 16
_READ = 1 << 26  # bytes of memory for reading
_COUNTS = 1 << 20  # counts of sensitive values that are looked at together
_ROOM = 2**62


def verify_stored(
    method: Generalizing, file: TableFile, result: Any, path: Path, data: Path | None = None
) -> dict[str, Any]:
    """What was found; raises a `VerificationError` for the first thing that does not hold."""
    check_header(path, file.columns, "the table file")
    counted = file.columns if data is not None else _counted_columns(file)
    try:
        pieces = _Watched(file, path, set(counted)).pieces()
        table = coded_table(pieces, counted, str(path), 0, gap="")
    except DataError as error:
        raise VerificationError(str(error)) from None
    give_back()
    with tempfile.TemporaryDirectory(prefix="coterie-") as folder:
        try:
            return _checked(method, file, result, path, _Groups(table, Path(folder)), data)
        finally:
            if table.folder is not None:
                table.folder.cleanup()


def _counted_columns(file: TableFile) -> list[str]:
    """The columns that groups are formed by, or that are bounded in them; of others no value is kept."""
    bounded = {name for one in file.requirements for name in one.sensitive_columns}
    in_qid = {attribute.name for attribute in file.attributes if attribute.in_qid}
    return [name for name in file.columns if name in in_qid | bounded]


def _checked(
    method: Generalizing,
    file: TableFile,
    result: Any,
    path: Path,
    groups: _Groups,
    data: Path | None,
) -> dict[str, Any]:
    table, records = groups.table, groups.table.records
    _check_parquet(file.columns, records, path.with_suffix(".parquet"), path)
    suppressed = check_numbers(file, result, records, path)
    for attribute in file.attributes:
        if attribute.in_qid:
            values = table.column(attribute.name).values.to_pylist()
            check_values(attribute, values, path, method.is_local(file))
    requirements = check_claims(
        file.requirements, result["anonymity"], groups.audited, "the table file"
    )
    qids = [attribute.name for attribute in file.attributes if attribute.in_qid]
    method.check_shown(file, result, lambda name: _times(table.column(name)))
    check_discernibility(result, groups.sizes(qids), records, suppressed)
    check_counted_risk(groups.sizes, result, qids, [one.qid for one in file.requirements])
    found = {
        "records": records,
        "suppressed": suppressed,
        "requirements": requirements,
        "together": together_counted(file.requirements, groups.sizes(qids)),
    }
    if data is not None:
        shown = {column.name: _times(column) for column in table.columns}
        found["measures"] = check_source(method, file, result, shown, data)
    return found


def _times(column: CodedColumn) -> dict[str, int]:
    """How often each value of a column occurs."""
    return dict(zip(column.values.to_pylist(), column.counts().tolist(), strict=True))


def _slices(records: int) -> Iterator[slice]:
    for start in range(0, records, _SLICE):
        yield slice(start, min(start + _SLICE, records))


class _Watched:
    """The rows of a release while they are read: their order, and the values of columns in no qid."""

    def __init__(self, file: TableFile, path: Path, counted: set[str]) -> None:
        self._file, self._path, self._counted = file, path, counted
        self._plain = [attribute for attribute in file.attributes if not attribute.in_qid]

    def pieces(self) -> Iterator[pa.Table]:
        """The columns that are counted, piece by piece, after the piece has been checked."""
        last: pa.Table | None = None
        row = 0
        for piece in batches(file_source(self._path), self._file.columns, _READ):
            for start in range(0, piece.num_rows, _SLICE):
                part = piece.slice(start, _SLICE)
                self._check_order(part if last is None else pa.concat_tables([last, part]), row)
                for attribute in self._plain:
                    values = pc.unique(pc.fill_null(part.column(attribute.name), ""))
                    check_values(attribute, values.to_pylist(), self._path, local=True)
                row += part.num_rows
                last = part.slice(part.num_rows - 1)
                yield part.select([name for name in part.column_names if name in self._counted])

    def _check_order(self, rows: pa.Table, before: int) -> None:
        """Rows are sorted by their values; `rows` begin with the last one of the part before."""
        undecided = np.ones(max(rows.num_rows - 1, 0), bool)
        for column in rows.columns:
            texts = pc.fill_null(column, "").combine_chunks()
            low, high = texts.slice(0, len(undecided)), texts.slice(1)
            wrong = undecided & pc.less(high, low).to_numpy(zero_copy_only=False)
            if wrong.any():
                row = before + int(wrong.argmax()) + (1 if before else 2)
                raise VerificationError(f"{self._path}: row {row} is out of order")
            undecided &= pc.equal(high, low).to_numpy(zero_copy_only=False)


def _check_parquet(names: Sequence[str], records: int, path: Path, release: Path) -> None:
    """The Parquet file, where there is one, has the same rows."""
    if not path.exists():
        return
    start = 0
    own = _Pieces(release, names)
    try:
        for piece in batches(file_source(path), names, _READ):
            start += piece.num_rows
            same = own.next(piece.num_rows)
            for name in names:
                shown = pc.fill_null(piece.column(name), "").combine_chunks().cast(pa.string())
                if not same.column(name).combine_chunks().equals(shown):
                    raise VerificationError(
                        f"{path}: column '{name}' is not that of {release.name}"
                    )
    except DataError as error:
        raise VerificationError(str(error)) from None
    if start != records:
        raise VerificationError(f"{path}: has {start} rows, and {release.name} {records}")


class _Pieces:
    """A release that is read again, as many rows at a time as somebody asks for."""

    def __init__(self, path: Path, names: Sequence[str]) -> None:
        self._pieces = batches(file_source(path), names, _READ)
        self._rows = pa.table({name: pa.array([], pa.string()) for name in names})

    def next(self, number: int) -> pa.Table:
        """The next rows, fewer at the end; an empty value is the empty text."""
        while self._rows.num_rows < number and (piece := next(self._pieces, None)) is not None:
            filled = [pc.fill_null(column, "") for column in piece.columns]
            piece = pa.table(filled, names=piece.column_names)
            self._rows = pa.concat_tables([self._rows, piece])
        found, self._rows = self._rows.slice(0, number), self._rows.slice(number)
        return found


class _Groups:
    """The groups that columns form: the number of each record's group, in a file."""

    def __init__(self, table: CodedTable, folder: Path) -> None:
        self.table, self._folder = table, folder
        self._known: dict[tuple[str, ...], tuple[Array, Array]] = {}

    def sizes(self, names: Sequence[str]) -> Array:
        return self._numbered(names)[1]

    def _numbered(self, names: Sequence[str]) -> tuple[Array, Array]:
        """The number of each record's group and the sizes of all groups; found once."""
        known = tuple(names)
        if known not in self._known:
            records = self.table.records
            file = self._folder / str(len(self._known))
            numbers = np.memmap(file, np.uint32, "w+", shape=(records,))
            waiting, groups = list(names), 1
            while waiting:
                waiting, groups = self._refined(numbers, waiting, groups)
            sizes = np.zeros(groups, np.int64)
            for rows in _slices(records):
                sizes += np.bincount(read_part(numbers, rows), minlength=groups)
            self._known[known] = numbers, sizes
        return self._known[known]

    def _refined(self, numbers: Array, names: list[str], groups: int) -> tuple[list[str], int]:
        """Refines groups by as many columns as one whole number holds; the columns left, and the groups."""
        columns: list[CodedColumn] = []
        while names and (not columns or groups * self.table.column(names[0]).distinct < _ROOM):
            columns.append(self.table.column(names[0]))
            names = names[1:]
            groups *= columns[-1].distinct

        def keys(rows: slice) -> Array:
            key = read_part(numbers, rows).astype(np.int64)
            for column in columns:
                key = key * column.distinct + read_part(column.codes, rows)
            return key

        different = _distinct(keys, self.table.records)
        for rows in _slices(self.table.records):
            numbers[rows] = np.searchsorted(different, keys(rows))
            let_go(numbers)
        return names, len(different)

    def audited(self, requirement: Requirement) -> dict[str, Any]:
        qid, sensitive, model = requirement.qid, requirement.sensitive, requirement.model
        numbers, sizes = self._numbered(qid)

        def describe(at: int) -> str:
            for rows in _slices(self.table.records):
                found = np.flatnonzero(read_part(numbers, rows) == at)
                if len(found):
                    row = rows.start + int(found[0])
                    columns = [self.table.column(name) for name in qid]
                    return ", ".join(f"{c.name}={c.values[int(c.codes[row])]}" for c in columns)
            return "without records"

        if isinstance(model, TupleModel):
            raise VerificationError(f"{model.name} cannot be checked of a release made on disk")
        if model is None or not isinstance(sensitive, str):
            return audit_counted(qid, requirement.k, sizes, describe, sensitive, model)
        column = self.table.column(sensitive)
        return audit_counted(
            qid, requirement.k, sizes, describe, sensitive, model,
            tuple(column.values.to_pylist()), column.counts(),
            lambda: self._counts(numbers, len(sizes), sensitive),
        )  # fmt: skip

    def _counts(self, numbers: Array, groups: int, name: str) -> Iterator[tuple[int, Array]]:
        """How often each value of a column occurs in the groups, some groups at a time."""
        column = self.table.column(name)
        values = column.distinct
        step = max(_COUNTS // values, 1)
        for start in range(0, groups, step):
            number = min(step, groups - start)
            found = np.zeros(number * values, np.int64)
            for rows in _slices(self.table.records):
                group = read_part(numbers, rows).astype(np.int64) - start
                inside = (group >= 0) & (group < number)
                codes = read_part(column.codes, rows)[inside]
                found += np.bincount(group[inside] * values + codes, minlength=len(found))
            yield start, found.reshape(number, values)


def _distinct(keys: Callable[[slice], Array], records: int) -> Array:
    """The different keys of all records, in ascending order; gathered keys are joined when they
    are as many as those known, so that each takes part in few joinings."""
    known = np.zeros(0, np.int64)
    waiting: list[Array] = []
    for rows in _slices(records):
        waiting.append(distinct(keys(rows)))
        if sum(map(len, waiting)) > max(len(known), _SLICE):
            known, waiting = distinct(np.concatenate([known, *waiting])), []
    return distinct(np.concatenate([known, *waiting]))
