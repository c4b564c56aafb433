"""From a partition of the records to a release: the common part of Mondrian and clustering.

A local recoding puts records into parts and releases, for every part and attribute, one region that
covers the records of the part. Requirements with common attributes share one partition;
requirements without have partitions of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from coterie.anonymity.algorithms.anonymized import Anonymized
from coterie.anonymity.algorithms.bounds import check_limit, keepable
from coterie.anonymity.algorithms.conditions import Condition, joint_conditions, judged_table
from coterie.anonymity.specialization.specialize import Requirement
from coterie.anonymity.table.columns import CategoricalColumn, Column, ContinuousColumn
from coterie.anonymity.table.hierarchy import parents_and_leaves
from coterie.anonymity.table.table import (
    Generalized,
    Table,
    regions_of_nodes,
    regions_of_ranks,
)
from coterie.anonymity.table.taxonomy import Taxonomy
from coterie.base.arrays import Array
from coterie.base.compiled import compiled


@dataclass(frozen=True)
class Parts:
    """Per record the number of its part, and per part and attribute the range of codes."""

    part: Array
    low: Array | None = None
    high: Array | None = None


def recode(
    method: str,
    table: Table,
    requirements: Sequence[Requirement],
    most_suppressed: int,
    partition: Callable[[Table, Condition], Parts],
    tight: bool = True,
) -> Anonymized:
    """Suppresses what the bounds cost, partitions the rest, and releases a region for every part."""
    judged = judged_table(table, requirements)
    conditions = joint_conditions(requirements, judged)
    kept = keepable(judged, conditions)
    required = ", ".join(f"k = {condition.k}" for condition in conditions)
    check_limit(table.records, table.records - len(kept), most_suppressed, required)
    rest = judged if len(kept) == table.records else judged.take(kept)
    shown: dict[str, Generalized] = {}
    groups = 0
    for condition in conditions if len(kept) else ():
        parts = partition(rest, condition)
        groups += int(parts.part.max()) + 1
        for j, name in enumerate(condition.attributes):
            low, high = extents(rest.column(name), parts.part)
            if not tight and parts.low is not None and parts.high is not None:
                low, high = parts.low[:, j], parts.high[:, j]
            shown[name] = shown_regions(rest.column(name), low, high, parts.part, tight)
    if not len(kept):
        empty = np.zeros(0, np.int64)
        shown = {name: Generalized(empty, (), empty, empty) for name in table.names}
    columns = {name: shown[name] for name in table.names if name in shown}
    details = {"parts": groups}
    if table.at_most:
        details["bounds_cost"] = table.records - len(kept)
    return Anonymized(method, table, kept, columns, details)


def extents(column: Column, part: Array) -> tuple[Array, Array]:
    """Per part the smallest code in it, and the one after the largest."""
    number = int(part.max(initial=-1)) + 1
    low = np.full(number, column.size, np.int64)
    high = np.zeros(number, np.int64)
    _extend(low, high, part, column.codes)
    return low, high


@compiled
def _extend(low: Array, high: Array, part: Array, codes: Array) -> None:
    for i in range(len(part)):
        p, c = part[i], codes[i]
        low[p], high[p] = min(low[p], c), max(high[p], c + 1)


def shown_regions(
    column: Column, low: Array, high: Array, part: Array, tight: bool = True
) -> Generalized:
    """A column that releases, for every part, the region from `low` up to `high`."""
    if isinstance(column, ContinuousColumn):
        parts = regions_of_ranks(column, low, high, tight)
    else:
        assert isinstance(column, CategoricalColumn)  # noqa: S101
        parts = regions_of_nodes(column, covering_nodes(column.taxonomy, low, high))
    return replace(parts, codes=parts.codes[part])


def covering_nodes(taxonomy: Taxonomy, low: Array, high: Array) -> Array:
    """The lowest node over the leaves from `low` up to, not including, `high`."""
    parent, leaf_node = (np.array(side, np.int64) for side in parents_and_leaves(taxonomy))
    last = np.array(taxonomy.last)
    nodes = leaf_node[low]
    while (short := last[nodes] < high).any():  # one step up for all at once
        nodes[short] = parent[nodes[short]]
    return nodes
