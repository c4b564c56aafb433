"""The measures of a joint release that need everybody's raw columns: in a simulation only.

A simulated party leaves its columns and what the joint table shows of them (`Workspace.exhibits`, which
a party server does not have), and the simulation measures all of them beside each other, the records in
the order of their values: their joint order is another one in every run. Entropy loss,
the error of random counts and the class error against the raw table come from there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from coterie.anonymity.algorithms.top_down import shown_column
from coterie.anonymity.classifier.class_error import raw_class_error
from coterie.anonymity.specialization.specialize import Labels, Specializer, suppression_limit
from coterie.anonymity.table.columns import Column, ContinuousColumn, IntervalTree
from coterie.anonymity.table.table import Generalized, Table
from coterie.anonymity.utility.measures import measured_by_use
from coterie.base.arrays import Array
from coterie.jobs.kinds.integrate.cuts.party_side import CutTable
from coterie.jobs.kinds.integrate.job import IntegrateJob

if TYPE_CHECKING:
    from coterie.anonymity.algorithms.comparison import Tried


@dataclass(frozen=True)
class Exhibit:
    """One party's raw columns of all common records, in the joint order, and what is released."""

    columns: dict[str, tuple[Column, Generalized]]
    classes: Labels | None
    kept: Array
    utility: dict[str, Any]  # as all parties know it


Shown: TypeAlias = "Specializer | CutTable"  # a finished joint table


def exhibit_of(
    table: Shown,
    columns: Mapping[str, Column],
    classes: Labels | None,
    kept: Array,
    utility: dict[str, Any],
) -> Exhibit:
    shown = {name: _shown(table, name, column) for name, column in columns.items()}
    return Exhibit(shown, classes, kept, utility)


def _shown(table: Shown, name: str, column: Column) -> tuple[Column, Generalized]:
    if isinstance(table, CutTable):
        return table.shown_column(column)
    if isinstance(column, ContinuousColumn):  # its own tree may lack the cuts
        column = ContinuousColumn(
            name, column.codes, column.values, column.limits, column.scale, column.gap
        )
        tree = table.trees[table.names.index(name)]
        assert isinstance(tree, IntervalTree)  # noqa: S101
        column.tree = tree
    return column, shown_column(table, column)


def utility_of(job: IntegrateJob, exhibits: Mapping[str, Mapping[str, object]]) -> dict[str, Any]:
    """All measures; those that all parties know stay as they are."""
    left, table, shown, classes = _together(job, exhibits)
    order, released = _in_order_of_values(table, shown, left[0].kept, classes)
    shown = {name: replace(one, codes=one.codes[released]) for name, one in shown.items()}
    kept = np.flatnonzero(np.isin(order, left[0].kept))
    classes = classes and classes.take(order)
    measured = measured_by_use(table.take(order), shown, kept, classes)
    return measured.as_dict() | left[0].utility


def methods_of(job: IntegrateJob, exhibits: Mapping[str, Mapping[str, object]]) -> list[Tried]:
    """What each method would keep of the joined table; none where a condition needs other columns."""
    from coterie.anonymity.algorithms.comparison import OF_JOBS, compared  # of every method

    left, table, shown, classes = _together(job, exhibits)
    needed = {name for r in job.requirements for name in r.sensitive_columns}
    if needed - {job.class_name} or any(r.k_map for r in job.requirements):
        return []
    order, _ = _in_order_of_values(table, shown, left[0].kept, classes)
    labels = {} if classes is None else {job.class_name or "": classes.take(order)}
    bounds = {a.name: a.at_most for a in job.attributes if a.at_most}
    weights = {a.name: a.priority for a in job.attributes if a.in_qid}
    joined = replace(table.take(order), labels=labels, at_most=bounds, priority=weights)
    most = suppression_limit(job.max_suppression, table.records)
    known = job.class_name if classes is not None else None
    return compared(joined, job.requirements, known, OF_JOBS, most)


def _together(
    job: IntegrateJob, exhibits: Mapping[str, Mapping[str, object]]
) -> tuple[list[Exhibit], Table, dict[str, Generalized], Labels | None]:
    """What all parties have left: the joined table, what is shown of it, and the class."""
    found = [each.get("exhibit") for each in exhibits.values()]
    left = [exhibit for exhibit in found if isinstance(exhibit, Exhibit)]
    pairs = {name: pair for exhibit in left for name, pair in exhibit.columns.items()}
    names = [attribute.name for attribute in job.attributes if attribute.name in pairs]
    table = Table(tuple(pairs[name][0] for name in names))
    shown = {name: pairs[name][1] for name in names}
    given = next((exhibit.classes for exhibit in left if exhibit.classes is not None), None)
    return left, table, shown, given and _sorted_labels(given)


def _in_order_of_values(
    table: Table, shown: Mapping[str, Generalized], kept: Array, classes: Labels | None
) -> tuple[Array, Array]:
    """The records in the order of all that is known of them, and the places in `kept` in this order."""
    keys = [column.codes for column in table.columns]
    keys += [] if classes is None else [classes.codes]
    for one in shown.values():
        codes = np.full(table.records, -1, np.int64)
        codes[kept] = _sorted_labels(Labels(one.codes, one.labels)).codes
        keys.append(codes)
    order = np.lexsort(keys)
    place = np.full(table.records, -1, np.int64)
    place[kept] = np.arange(len(kept))
    return order, place[order][place[order] >= 0]


def _sorted_labels(labels: Labels) -> Labels:
    """The same values, numbered in their order and not in that of the first records."""
    values, numbers = np.unique(np.array(labels.values, object), return_inverse=True)
    return Labels(numbers[labels.codes], tuple(values.tolist()))


def alone_of(exhibits: Mapping[str, Mapping[str, object]]) -> dict[str, float]:
    """The class error, by party, of a tree that is learned from the party's own raw columns.

    A party gets as far without the others: a release that does not do better is of no use to it.
    """
    left = {name: each.get("exhibit") for name, each in exhibits.items()}
    held = {name: e for name, e in left.items() if isinstance(e, Exhibit) and e.columns}
    classes = next((e.classes for e in held.values() if e.classes is not None), None)
    if classes is None:
        return {}
    classes, found = _sorted_labels(classes), {}
    for name, e in held.items():
        table = Table(tuple(column for column, _ in e.columns.values()))
        order, _ = _in_order_of_values(table, {}, e.kept, classes)
        found[name] = raw_class_error(table.take(order), classes.take(order))
    return found
