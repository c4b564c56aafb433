"""Discernibility (Bayardo, Agrawal): the number of records that each record is confused with.

C_DM is the sum of the squared sizes of the groups that are equal in all quasi-identifiers; a
suppressed record is charged the whole table. The weighted form (Xiong, Rangachari, equation 4.2) is
corrected: as printed it sums squares over groups equal in one attribute, which falls when that
attribute gets less exact. Here each group's square counts with the attribute's normalised width in
it, so the measure is zero exactly when the attributes that matter are exact, and never above C_DM.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from coterie.anonymity.table.groups import group_numbers
from coterie.anonymity.table.table import Generalized, Table
from coterie.anonymity.utility.width import region_widths
from coterie.base.arrays import Array


def group_sizes(columns: Sequence[Generalized]) -> tuple[Array, Array]:
    """Per record its group, and the sizes of the groups."""
    groups = group_numbers([column.codes for column in columns])
    return groups, np.bincount(groups)


def discernibility(columns: Sequence[Generalized], records: int, suppressed: int) -> int:
    sizes = group_sizes(columns)[1].astype(np.float64)  # squares are exact up to 90 million records
    return int((sizes**2).sum()) + suppressed * records


def weighted_discernibility(
    table: Table, columns: Mapping[str, Generalized], weights: Mapping[str, float], suppressed: int
) -> float:
    """The corrected form; `weights` has the attributes that matter, and how much."""
    total = sum(weights.values())
    if not total:
        return 0.0
    groups, sizes = group_sizes(list(columns.values()))
    found = 0.0
    for name, weight in weights.items():
        widths = region_widths(table.column(name), columns[name])[columns[name].codes]
        # Each record counts its group's size, so that a group adds up to the square of its size.
        found += weight * float((sizes[groups] * widths).sum())
    return found / total + suppressed * table.records
