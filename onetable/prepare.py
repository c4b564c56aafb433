"""Prepares a data source for the algorithms: drops rows with gaps, and codes values."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

import pyarrow as pa

from coterie.anonymity.table.columns import CATEGORIES, NUMBERS_ONLY, Column, encode_text
from coterie.anonymity.table.table import Labels, Table
from coterie.base.errors import DataError
from coterie.jobs.data.missing import CURE, gaps_of, without_gaps
from coterie.jobs.data.own_columns import plain_column, qid_column
from coterie.jobs.data.scaled import spelling_of
from coterie.onetable.table_file import TableAttribute, TableFile


@dataclass(frozen=True)
class Prepared:
    """The attributes in a qid as a table, all others unchanged, and the number of dropped rows."""

    table: Table
    plain: dict[str, Labels]
    dropped: int  # rows with a gap, left out on request


@contextlib.contextmanager
def named_in_errors(source: object) -> Iterator[None]:
    """Errors of the algorithms, which know no files, name the source outside."""
    try:
        yield
    except DataError as error:
        if error.file:
            raise
        raise DataError(
            error.what, file=str(source), column=error.columns, rows=error.rows,
            value=error.value, bare=error.bare,
        ) from None  # fmt: skip


def prepare(file: TableFile, only_numbers: bool = False, cure: str = CURE) -> Prepared:
    """Reads the source; raises a `DataError` with row and column for an unusable value.

    With `only_numbers` nothing but numbers, dates and times is of use; `cure` says what to do about gaps.
    """
    text = file.source.read(file.columns)
    return prepare_text(file, text, str(file.source), only_numbers, cure)


def prepare_text(
    file: TableFile, text: pa.Table, source: str, only_numbers: bool = False, cure: str = CURE
) -> Prepared:
    """What `prepare` returns, from a table of texts."""
    if not text.num_rows:
        raise DataError(f"{source}: the table has no records")
    dropping = {a.name: a.declared for a in file.attributes if a.missing == "drop"}
    text, dropped = without_gaps(text, dropping, source)
    with dropped.counted_as_read():
        found = _prepare(file, text, source, only_numbers, cure)
        return replace(found, dropped=len(dropped.rows))


def _prepare(
    file: TableFile, text: pa.Table, source: str, only_numbers: bool, cure: str
) -> Prepared:
    columns: list[Column] = []
    plain: dict[str, Labels] = {}
    sensitive = {name for r in file.requirements for name in r.sensitive_columns}
    spelling = spelling_of(text)
    for attribute in file.attributes:
        values = text.column(attribute.name)
        if not attribute.in_qid:
            judged = attribute.name in sensitive
            plain[attribute.name] = plain_column(attribute, values, source, spelling, judged)
            continue
        if attribute.gap and not gaps_of(values, attribute.declared).any():
            attribute = replace(attribute, missing=None)
        columns.append(
            qid_column(
                attribute, values, source, spelling, most_flat=None,
                otherwise=NUMBERS_ONLY if only_numbers else CATEGORIES,
                cure=cure,
            )
        )  # fmt: skip
    if file.class_name is not None:
        plain[file.class_name] = _labels(file.class_name, text.column(file.class_name), source)
    for requirement in file.requirements:
        if requirement.model is not None and isinstance(requirement.sensitive, str):
            try:
                requirement.model.check(plain[requirement.sensitive].values)
            except ValueError as error:
                raise DataError(f"{source}: column '{requirement.sensitive}': {error}") from None
    for attribute in file.attributes:
        if attribute.name in plain and may_not_single_out(attribute, sensitive):
            labels = plain[attribute.name]
            if len(labels.values) == len(labels.codes) > 1:
                raise singles_out(attribute.name, source)
    table = Table(
        tuple(columns),
        {name: labels for name, labels in plain.items() if name in {*sensitive, file.class_name}},
        {a.name: a.at_most for a in file.attributes if a.at_most},
        {a.name: a.priority for a in file.attributes if a.in_qid},
    )
    return Prepared(table, plain, 0)


def may_not_single_out(attribute: TableAttribute, sensitive: Collection[str]) -> bool:
    """Whether a column is released as it is and nothing says that it may tell all records apart."""
    return not (attribute.in_qid or attribute.keep or attribute.name in sensitive)


def singles_out(name: str, source: str) -> DataError:
    """The error about a column that would be released as it is and is an identifier by its values."""
    return DataError(
        "{column} has a different value in every record, so it identifies every record; "
        "leave it out of 'attributes' (or name it in 'id'), put it into a 'qid', or say "
        "'keep: true' of it to release it unchanged",
        file=source,
        column=name,
    )


def _labels(name: str, values: pa.ChunkedArray, source: str) -> Labels:
    codes, found = encode_text(name, values, source)
    return Labels(codes, tuple(found))
