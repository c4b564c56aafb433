"""`coterie verify` of a release that was made on disk: the same checks, slice by slice.

`release.csv` is read once into files of codes (`coded`). In memory are the different values of each
column, one number for each group, and the slice at hand. Groups are numbered anew, by code that
shares nothing with the one that made them: records get a number by their first columns, then
by that number and further columns, until all columns of the qid have been looked at.
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
from coterie.base.errors import DataError, VerificationError
from coterie.base.memory import give_back, let_go, read_part
from coterie.house.checks.numbers import check_discernibility, check_numbers
from coterie.house.checks.values import check_values
from coterie.house.coded import CodedColumn, CodedTable, coded_table
from coterie.house.table_file import TableFile
from coterie.jobs.data.batches import batches
from coterie.jobs.data.release_file import check_claims, check_header
from coterie.jobs.data.sources import file_source

_SLICE = 1 << 16
_READ = 1 << 26  # the memory that reading is told to keep to
_COUNTS = 1 << 20  # counts of sensitive values that are looked at together
_ROOM = 2**62


def verify_stored(file: TableFile, result: Any, path: Path) -> dict[str, Any]:
    """What was found; raises a `VerificationError` for the first thing that does not hold."""
    check_header(path, file.columns, "the table file")
    try:
        table = coded_table(
            batches(file_source(path), file.columns, _READ), file.columns, str(path), 0, gap=""
        )
    except DataError as error:
        raise VerificationError(str(error)) from None
    give_back()
    with tempfile.TemporaryDirectory(prefix="coterie-") as folder:
        try:
            return _checked(file, result, path, _Groups(table, Path(folder)))
        finally:
            if table.folder is not None:
                table.folder.cleanup()


def _checked(file: TableFile, result: Any, path: Path, groups: _Groups) -> dict[str, Any]:
    table, records = groups.table, groups.table.records
    _check_parquet(table, path.with_suffix(".parquet"), path.name)
    suppressed = check_numbers(file, result, records, path)
    _check_order(table, path)
    for attribute in file.attributes:
        values = table.column(attribute.name).values.to_pylist()
        check_values(attribute, values, path, local=True)
    requirements = check_claims(
        file.requirements, result["anonymity"], groups.audited, "the table file"
    )
    qids = [attribute.name for attribute in file.attributes if attribute.in_qid]
    check_discernibility(result, groups.sizes(qids), records, suppressed)
    check_counted_risk(groups.sizes, result, qids, [one.qid for one in file.requirements])
    return {"records": records, "suppressed": suppressed, "requirements": requirements}


def _slices(records: int, further: int = 0) -> Iterator[slice]:
    for start in range(0, records, _SLICE):
        yield slice(start, min(start + _SLICE + further, records))


def _check_parquet(table: CodedTable, path: Path, other: str) -> None:
    """The Parquet file, where there is one, has the same rows."""
    if not path.exists():
        return
    names = [column.name for column in table.columns]
    start = 0
    try:
        for piece in batches(file_source(path), names, _READ):
            rows = slice(start, start + piece.num_rows)
            start = rows.stop
            for column in table.columns:
                own = column.values.take(pa.array(read_part(column.codes, rows)))
                shown = pc.fill_null(piece.column(column.name), "").combine_chunks()
                if not own.equals(shown.cast(pa.string())):
                    raise VerificationError(
                        f"{path}: column '{column.name}' is not that of {other}"
                    )
    except DataError as error:
        raise VerificationError(str(error)) from None
    if start != table.records:
        raise VerificationError(f"{path}: has {start} rows, and {other} {table.records}")


def _check_order(table: CodedTable, path: Path) -> None:
    """Rows are sorted by their values; each slice ends with the first row of the next."""
    ranks = []
    for column in table.columns:
        texts = column.values.to_pylist()
        rank = np.empty(len(texts), np.int64)
        rank[sorted(range(len(texts)), key=texts.__getitem__)] = np.arange(len(texts))
        ranks.append(rank)
    for rows in _slices(table.records, 1):
        undecided = np.ones(rows.stop - rows.start - 1, bool)
        for column, rank in zip(table.columns, ranks, strict=True):
            place = rank[read_part(column.codes, rows)]
            wrong = undecided & (place[1:] < place[:-1])
            if wrong.any():
                row = rows.start + int(wrong.argmax()) + 2
                raise VerificationError(f"{path}: row {row} is out of order")
            undecided &= place[1:] == place[:-1]


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
        """Groups by as many further columns as one whole number holds; which are left, and groups."""
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
        waiting.append(np.unique(keys(rows)))
        if sum(map(len, waiting)) > max(len(known), _SLICE):
            known, waiting = np.unique(np.concatenate([known, *waiting])), []
    return np.unique(np.concatenate([known, *waiting]))
