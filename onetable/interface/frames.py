"""`coterie.anonymise(df, qid=[...], k=10)`: one table in memory, from pandas, polars or Arrow.

A frame is read through the Arrow interface (`__arrow_c_stream__`), which pandas, polars, DuckDB and
Arrow provide, so that this module needs none of them. Columns of numbers are generalized to
intervals, others by the taxonomy given for them, or to `*` without a taxonomy.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from coterie.anonymity.algorithms.anonymized import Anonymized
from coterie.anonymity.algorithms.one_dimension.recoding import CLUSTERS
from coterie.anonymity.models.options import (
    OPTIONS,
    joint_model_from_options,
    model_from_options,
    with_taxonomy,
)
from coterie.anonymity.models.privacy import Model
from coterie.anonymity.specialization.specialize import Requirement
from coterie.anonymity.table.groups import group_numbers
from coterie.anonymity.table.scales import DATE, DATETIME, NUMBER, TIME, Scale
from coterie.anonymity.table.taxonomy import Taxonomy, taxonomy_of, with_gap
from coterie.anonymity.utility.measures import Utility, utility_lines
from coterie.base.errors import DataError, UsageError
from coterie.jobs.data.missing import MISSING
from coterie.jobs.data.require import require_columns
from coterie.jobs.data.sources import Source, file_source
from coterie.jobs.data.text_form import as_text
from coterie.jobs.kinds.integrate.release_table import sorted_table
from coterie.onetable.methods.generalizing.run import anonymise_prepared
from coterie.onetable.methods.incognito.method import COSTS
from coterie.onetable.methods.registry import GENERALIZING, generalizing
from coterie.onetable.prepare import prepare_text
from coterie.onetable.table_file import TableAttribute, TableFile

Paths = Sequence[Sequence[str]]  # a taxonomy as leaf-to-root paths
_ROW_NUMBERS = re.compile(r"__index_level_\d+__")  # how pandas calls an index without a name
_NOTHING = "table"  # the name of a table without a file in errors


@dataclass(frozen=True)
class FrameSource:
    """A party's table that is a frame in memory, read as any other source."""

    name: str
    table: pa.Table

    @classmethod
    def of(cls, name: str, frame: Any) -> Source:
        """The frame, or the file of this name, as a source."""
        if isinstance(frame, str | Path):
            return file_source(Path(frame))
        return cls(name, arrow_table(frame))

    def names(self) -> list[str]:
        return list(self.table.column_names)

    def read(self, columns: Sequence[str]) -> pa.Table:
        require_columns(columns, self.table.column_names, self.name)
        for column in columns:
            if self.table.column_names.count(column) > 1:
                raise DataError(f"{self.name}: has the column '{column}' twice")
        return as_text(self.table.select(list(columns)), self.name)

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Release:
    """An anonymous table and its measures. Notebooks show it as HTML."""

    table: pa.Table
    result: Mapping[str, Any]
    groups: pa.Table  # one row per group: its values and its number of records
    attributes: tuple[TableAttribute, ...] = field(default=(), repr=False)  # as in a table file
    requirements: tuple[Requirement, ...] = field(default=(), repr=False)

    def to_pandas(self) -> Any:
        """The released table as a pandas frame."""
        return self.table.to_pandas()

    def save(self, path: str | Path) -> None:
        """Writes the released table to a .csv or .parquet file."""
        path = Path(path)
        if path.suffix.lower() == ".parquet":
            pq.write_table(self.table, path)
        elif path.suffix.lower() == ".csv":
            pacsv.write_csv(self.table, path)
        else:
            raise UsageError(f"{path}: must end in .csv or .parquet")

    @property
    def suppressed(self) -> int:
        return int(self.result["suppressed"])

    @property
    def utility(self) -> Utility:
        """What the release keeps of the table, by measure; docs/one-table.md has the formulas."""
        return Utility.from_dict(self.result["utility"])

    @property
    def risk(self) -> dict[str, Any]:
        """The probability to find a person of the table by the quasi-identifiers.

        `prosecutor` is the largest probability of any record, `marketer` the mean over all.
        """
        return dict(self.result["risk"])

    def _repr_html_(self) -> str:
        figures = {
            "method": self.result["method"],
            "records": self.result["records"],
            "suppressed": self.suppressed,
            "groups": self.groups.num_rows,
            "utility": "; ".join(utility_lines(self.result["utility"])),
        }
        rows = "".join(
            f"<tr><th>{k}</th><td>{html.escape(str(v))}</td></tr>" for k, v in figures.items()
        )
        head = "".join(f"<th>{html.escape(name)}</th>" for name in self.table.column_names)
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(str(v))}</td>" for v in row.values()) + "</tr>"
            for row in self.table.slice(0, 10).to_pylist()
        )
        return f"<table>{rows}</table><table><tr>{head}</tr>{body}</table>"


def anonymise(
    frame: Any,
    qid: str | Sequence[str],
    k: int,
    *,
    method: str = "mondrian",
    taxonomies: Mapping[str, Taxonomy | Paths] | None = None,
    sensitive: str | Sequence[str] | None = None,
    class_name: str | None = None,
    drop: Sequence[str] = (),
    keep: Sequence[str] = (),
    at_most: Mapping[str, Sequence[str]] | None = None,
    priority: Mapping[str, float] | None = None,
    missing: str = "error",
    max_suppression: float = 0.0,
    cost: str = "entropy",
    clusters: str = "even",
    by: str = "value",
    **model: Any,
) -> Release:
    """An anonymous version of a frame: groups of records equal in `qid` have at least k records.

    Rows come sorted by their values, as in a file that is released: in the order of the frame, whoever
    knows that order (by a patient number, say) would know whose each row is.

    `sensitive` with the keys of a `requirement` (`l=3`, `t=0.2`, `alpha=0.5`) bounds a sensitive
    column too; a list of columns is bounded together. `drop` names columns to leave out, such as
    identifiers; all others are released as they are. A column that has another value in every record
    is refused, unless `keep` names it. docs/one-table.md has the methods; `clusters` and `by` go with
    `quantiles`.
    """
    for name, value, known in (
        ("method", method, GENERALIZING),
        ("missing", missing, MISSING),
        ("cost", cost, COSTS),
        ("clusters", clusters, CLUSTERS[:-1]),
        ("by", by, ("value",) if clusters == "sampled" else ("value", "rank")),
    ):
        if value not in known:
            raise UsageError(f"{name} must be one of {', '.join(known)}, not '{value}'")
    if unknown := [key for key in model if key not in OPTIONS]:
        raise UsageError(f"anonymise takes no argument '{unknown[0]}'")
    table = arrow_table(frame)
    qid = names_in(qid)
    if isinstance(k, bool) or not isinstance(k, int | np.integer):
        raise UsageError(f"k must be a whole number, not {k!r:.80}")
    bounded = names_in(sensitive or ())
    used = [*qid, *drop, *keep, *bounded, *([class_name] if class_name else [])]
    require_columns(used, table.column_names, _NOTHING)
    for name in table.column_names:
        if table.column_names.count(name) > 1:
            raise UsageError(f"{_NOTHING}: has the column '{name}' twice")
    if k < 1 or not qid:
        raise UsageError("k must be at least 1, and qid must name a column")
    table = table.drop_columns(list(dict.fromkeys(drop)))
    for name in table.column_names:
        if name not in {*qid, *keep, *bounded, class_name}:
            _refuse_identifier(name, table.column(name))
    trees = {name: _taxonomy(name, given) for name, given in (taxonomies or {}).items()}
    attributes = tuple(
        _attribute(name, table.schema.field(name).type, name in qid, missing, trees.get(name))
        for name in table.column_names
        if name != class_name
    )
    attributes = tuple(
        replace(
            attribute,
            priority=(priority or {}).get(attribute.name, 1.0),
            at_most=tuple((at_most or {}).get(attribute.name, ())),
            keep=not attribute.in_qid,  # what singles out every record has been refused above
        )
        for attribute in attributes
    )
    try:
        judged: Model | None = None
        if isinstance(sensitive, str):
            judged = with_taxonomy(model_from_options(model), trees.get(sensitive))
        elif bounded:
            judged = joint_model_from_options(bounded, model)
    except ValueError as error:
        raise UsageError(str(error)) from None
    way = generalizing(method)
    judged_columns = sensitive if isinstance(sensitive, str) else bounded or None
    file = TableFile(
        source=_Memory(table),
        method=method,
        identifiers=(),
        class_name=class_name,
        attributes=attributes,
        requirements=(Requirement(tuple(qid), k, judged_columns, judged),),
        max_suppression=max_suppression,
        options=way.options_of(class_name, {"cost": cost, "clusters": clusters, "by": by}),
    )
    text = as_text(table, _NOTHING)
    made = anonymise_prepared(file, prepare_text(file, text, _NOTHING, way.only_numbers))
    return Release(
        sorted_table(made.columns),
        made.result,
        _groups(made.answer),
        file.attributes,
        file.requirements,
    )


def _refuse_identifier(name: str, column: pa.ChunkedArray) -> None:
    """Raises for a column that would be released as it is and tells all records apart."""
    try:
        different = len(pc.unique(column))
    except pa.ArrowException:
        return  # a type without texts; reading the column reports it
    if different == len(column) > 1:
        raise DataError(
            "{column} has a different value in every record, so it identifies every record; "
            f"leave it out with drop=['{name}'], put it into qid, or release it unchanged with "
            f"keep=['{name}']",
            file=_NOTHING,
            column=name,
        )


@dataclass(frozen=True)
class _Memory:
    """A table that is already in memory."""

    table: pa.Table

    def __str__(self) -> str:
        return _NOTHING

    def names(self) -> list[str]:
        return list(self.table.column_names)

    def read(self, columns: Sequence[str]) -> pa.Table:
        return as_text(self.table.select(list(columns)), _NOTHING)


def names_in(names: str | Sequence[str]) -> tuple[str, ...]:
    """One name, or several."""
    return (names,) if isinstance(names, str) else tuple(names)


def arrow_table(frame: Any) -> pa.Table:
    """The columns of a frame. The row numbers of a part of a pandas frame are none of them."""
    if isinstance(frame, pa.Table):
        return frame
    if hasattr(frame, "__arrow_c_stream__"):
        table = pa.table(frame)
        return table.select([n for n in table.column_names if not _ROW_NUMBERS.fullmatch(n)])
    raise UsageError(
        f"a table of type {type(frame).__name__} has no Arrow interface; "
        "give a pandas or polars frame, or an Arrow table"
    )


def _taxonomy(name: str, given: Taxonomy | Paths) -> Taxonomy:
    return given if isinstance(given, Taxonomy) else taxonomy_of(given, f"taxonomy of '{name}'")


def _attribute(
    name: str, kind: pa.DataType, in_qid: bool, missing: str, taxonomy: Taxonomy | None
) -> TableAttribute:
    """A column by its type: numbers, dates and times have an order; others a taxonomy, or are flat."""
    if not in_qid:
        return TableAttribute(name, in_qid=False)
    if taxonomy is not None:
        tree = with_gap(taxonomy) if missing == "value" else taxonomy
        return TableAttribute(name, tree, missing=missing, in_qid=True)
    scale = _scale(kind)
    return TableAttribute(name, type=scale, flat=scale is None, missing=missing, in_qid=True)


def _scale(kind: pa.DataType) -> Scale | None:
    if _is_number(kind):
        return NUMBER
    if pa.types.is_date(kind):
        return DATE
    if pa.types.is_timestamp(kind):
        return DATETIME
    return TIME if pa.types.is_time(kind) else None


def _is_number(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    )


def _groups(answer: Anonymized) -> pa.Table:
    """One row for every group: its values and its number of records; the largest first.

    Groups of one size stand in the order of their values, which tells nothing of the frame's order.
    """
    columns = list(answer.columns.values())
    groups = group_numbers([column.codes for column in columns])
    sizes = np.bincount(groups)
    first = np.zeros(len(sizes), np.int64)
    first[groups[::-1]] = np.arange(len(groups))[::-1]
    shown = {
        name: [column.labels[code] for code in column.codes[first].tolist()]
        for name, column in answer.columns.items()
    }
    found = pa.table({**shown, "records": sizes})
    places: list[tuple[str, str]] = [("records", "descending")]
    return found.sort_by([*places, *((name, "ascending") for name in shown)])
