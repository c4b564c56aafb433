"""Bounds on generalization: `at_most` names the most general values that may be released.

Miller, Campan, Truta, "Constrained k-anonymity: privacy with generalization boundaries" (P3DM
2008). The highest permitted value of a leaf is the first marked node on the path to the root, or
the root if none is marked. MAM is the table with every value at its highest permitted one. Two
records that differ in MAM can never be in one group, so:

* a solution without suppression exists exactly if MAM satisfies the requirement;
* the records in groups of MAM that violate it (OUT) must be suppressed, and all others can stay.

OUT is found in one pass, before any search. For k, OUT is the least that any algorithm can
suppress. The same holds for all models except t-closeness, whose reference changes when records are
suppressed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from coterie.anonymity.algorithms.conditions import Condition
from coterie.anonymity.table.columns import CategoricalColumn, Column
from coterie.anonymity.table.groups import group_numbers
from coterie.anonymity.table.table import Table
from coterie.anonymity.table.taxonomy import Taxonomy
from coterie.base.arrays import Array
from coterie.base.distinct import ranks
from coterie.base.errors import DataError


def highest_permitted(taxonomy: Taxonomy, marks: Sequence[str]) -> Array:
    """For every leaf the highest node that may be released for it."""
    highest = np.zeros(len(taxonomy.leaves), np.int64)
    for node, label in enumerate(taxonomy.labels):  # parents come before their children
        if label in marks:
            highest[taxonomy.first[node] : taxonomy.last[node]] = node
    return highest


def permitted_values(column: Column, marks: Sequence[str]) -> Array:
    """For every code of a column the number of its highest permitted value."""
    if not marks:
        return np.zeros(column.size, np.int64)
    if not isinstance(column, CategoricalColumn):
        raise DataError(f"column '{column.name}': at_most needs a taxonomy")
    unknown = [mark for mark in marks if mark not in column.taxonomy.labels]
    if unknown:
        raise DataError(f"column '{column.name}': at_most: '{unknown[0]}' is not in its taxonomy")
    return highest_permitted(column.taxonomy, marks)


def permitted_codes(table: Table, column: Column) -> Array:
    """The column in MAM: per record the number of its highest permitted value."""
    found: Array = permitted_values(column, table.at_most.get(column.name, ()))[column.codes]
    return found


def permitted_groups(table: Table, names: Sequence[str]) -> Array:
    """Per record the number of its group in MAM, by these attributes."""
    return group_numbers([permitted_codes(table, table.column(name)) for name in names])


def keepable(table: Table, conditions: Sequence[Condition]) -> Array:
    """The records that can stay: all but OUT.

    With several conditions, suppressing one record can make another record's group too small, so
    the pass is repeated until nothing changes; the result does not depend on the order.
    """
    rows = np.arange(table.records)
    if not any(table.at_most.get(name) for name in table.names):
        return rows
    groups = [permitted_groups(table, condition.attributes) for condition in conditions]
    while True:
        before = len(rows)
        for condition, group in zip(conditions, groups, strict=True):
            if not len(rows):
                return rows
            labels = {name: column.take(rows) for name, column in table.labels.items()}
            numbers = ranks(group[rows])
            rows = rows[condition.holds(numbers, labels)[numbers]]
        if len(rows) == before:
            return rows


def check_limit(records: int, gone: int, most: int, requirement: str) -> None:
    """Raises if the bounds cost more records than may be suppressed."""
    if gone > most:
        allowed = f"{most} may be suppressed" if most else "none may be suppressed"
        raise DataError(
            f"the bounds in at_most cost {gone} of {records} records at {requirement}, and "
            f"{allowed}; raise max_suppression or permit more general values"
        )
