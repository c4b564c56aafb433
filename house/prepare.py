"""Prepares a data source for the algorithms: drops rows with gaps, and codes values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from coterie.anonymity.table.columns import (
    Column,
    categorical_column,
    continuous_column,
    encode_text,
)
from coterie.anonymity.table.table import Labels, Table
from coterie.anonymity.table.taxonomy import Taxonomy, taxonomy_of
from coterie.base.arrays import Mask
from coterie.base.errors import DataError
from coterie.house.table_file import TableAttribute, TableFile

GAP = "?"  # how a release shows a missing value; many tables also write it so
_TOP = "*"


@dataclass(frozen=True)
class Prepared:
    """The attributes in a qid as a table, all others unchanged, and the number of dropped rows."""

    table: Table
    plain: dict[str, Labels]
    dropped: int  # rows with a gap, left out on request


def prepare(file: TableFile) -> Prepared:
    """Reads the source; raises a `DataError` with row and column for an unusable value."""
    return prepare_text(file, file.source.read(file.columns), str(file.source))


def prepare_text(file: TableFile, text: pa.Table, source: str) -> Prepared:
    """The same, from a table of texts."""
    if not text.num_rows:
        raise DataError(f"{source}: the table has no records")
    stays = np.ones(text.num_rows, bool)
    for attribute in file.attributes:
        gaps = _gaps(text.column(attribute.name), attribute)
        if attribute.in_qid and attribute.missing == "error" and gaps.any():
            raise DataError(_told(gaps, attribute.name, source))
        if attribute.missing == "drop":
            stays &= ~gaps
    if not stays.any():
        raise DataError(f"{source}: every row has a missing value, so none is left to release")
    if not stays.all():
        text = text.filter(pa.array(stays))
    columns: list[Column] = []
    plain: dict[str, Labels] = {}
    sensitive = {name for r in file.requirements for name in r.sensitive_columns}
    for attribute in file.attributes:
        values = text.column(attribute.name)
        if attribute.in_qid:
            columns.append(_column(attribute, values, source))
        else:
            _check(attribute, values, source)
            if attribute.name not in sensitive:  # an empty value is released unchanged
                values = pc.fill_null(values, "")
            plain[attribute.name] = _labels(attribute.name, values, source)
    if file.class_name is not None:
        plain[file.class_name] = _labels(file.class_name, text.column(file.class_name), source)
    for requirement in file.requirements:
        if requirement.model is not None and isinstance(requirement.sensitive, str):
            try:
                requirement.model.check(plain[requirement.sensitive].values)
            except ValueError as error:
                raise DataError(f"{source}: column '{requirement.sensitive}': {error}") from None
    table = Table(
        tuple(columns),
        {name: labels for name, labels in plain.items() if name in {*sensitive, file.class_name}},
        {a.name: a.at_most for a in file.attributes if a.at_most},
        {a.name: a.priority for a in file.attributes if a.in_qid},
    )
    return Prepared(table, plain, int((~stays).sum()))


def _gaps(column: pa.ChunkedArray, attribute: TableAttribute) -> Mask:
    """Which rows have no value: an empty one, or `?` if the taxonomy does not contain it."""
    gaps = pc.is_null(column)
    known = attribute.taxonomy is not None and GAP in attribute.taxonomy.leaves
    if not known:
        gaps = pc.or_(gaps, pc.fill_null(pc.equal(column, GAP), False))
    return np.asarray(gaps.to_numpy(), bool)


def _told(gaps: Mask, name: str, source: str) -> str:
    rows = np.flatnonzero(gaps)
    first = ", ".join(str(row + 1) for row in rows[:3])
    more = f" and {len(rows) - 3} more" if len(rows) > 3 else ""
    plural = "s" if len(rows) > 1 else ""
    return (
        f"{source}: row{plural} {first}{more}: column '{name}' has no value "
        f"({len(rows)} of {len(gaps)}); say 'missing: drop' to leave such rows out"
    )


def _column(attribute: TableAttribute, values: pa.ChunkedArray, source: str) -> Column:
    name, taxonomy = attribute.name, attribute.taxonomy
    if attribute.flat:
        taxonomy = _flat(values, attribute.missing == "value")
    if attribute.missing == "value":
        if taxonomy is None:
            raise DataError(
                f"{source}: column '{name}': 'missing: value' needs a taxonomy or 'flat: true'; "
                "numbers take error or drop"
            )
        taxonomy = _with_gap(taxonomy)
        values = pc.fill_null(values, GAP)
    if taxonomy is not None:
        return categorical_column(name, values, taxonomy, source)
    try:
        return continuous_column(name, values, attribute.limits, source)
    except DataError as error:
        if attribute.limits is None and "is not a number" in str(error):
            raise DataError(
                f"{error}; give '{name}' a taxonomy, or 'flat: true' for the value or {_TOP}"
            ) from None
        raise


def _flat(values: pa.ChunkedArray, gaps: bool) -> Taxonomy:
    """Every value under one top, in sorted order."""
    found = sorted(value for value in pc.unique(values).to_pylist() if value is not None)
    if _TOP in found:
        raise DataError(f"the value '{_TOP}' stands in a column that is flat, where it is the top")
    return taxonomy_of(
        [[value, _TOP] for value in found if value != GAP or not gaps] or [[GAP, _TOP]]
    )


def _with_gap(taxonomy: Taxonomy) -> Taxonomy:
    """The taxonomy with `?` as a leaf under its root."""
    if GAP in taxonomy.labels:
        return taxonomy
    return taxonomy_of([*paths_of(taxonomy), [GAP, taxonomy.root]])


def paths_of(taxonomy: Taxonomy) -> list[list[str]]:
    """The leaf-to-root paths that a taxonomy is made of."""
    parent = {child: node for node, below in enumerate(taxonomy.children) for child in below}
    paths = []
    for node, below in enumerate(taxonomy.children):
        if below:
            continue
        path, at = [taxonomy.labels[node]], node
        while at:
            at = parent[at]
            path.append(taxonomy.labels[at])
        paths.append((taxonomy.first[node], path))
    return [path for _, path in sorted(paths)]


def _check(attribute: TableAttribute, values: pa.ChunkedArray, source: str) -> None:
    """Checks an attribute in no qid: it is released unchanged, but only with declared values."""
    if attribute.taxonomy is not None:
        categorical_column(attribute.name, values, attribute.taxonomy, source)
    elif attribute.limits is not None:
        continuous_column(attribute.name, values, attribute.limits, source)


def _labels(name: str, values: pa.ChunkedArray, source: str) -> Labels:
    codes, found = encode_text(name, values, source)
    return Labels(codes, tuple(found))
