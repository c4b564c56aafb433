"""Precision (Sweeney): 1 less the mean height of the released values in their hierarchies.

The height is that of the subtree under the released node, as a share of the tree's height, so that
a leaf costs nothing wherever it is. For numbers without a hierarchy it is the interval's share of
the span. A suppressed record has precision 0.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from coterie.anonymity.table.columns import CategoricalColumn, Column
from coterie.anonymity.table.hierarchy import height_shares
from coterie.anonymity.table.table import Generalized, Table
from coterie.anonymity.utility.width import region_widths
from coterie.base.arrays import Array


def region_heights(column: Column, regions: Generalized) -> Array:
    """The height of every region, as a share of the hierarchy's height."""
    if not isinstance(column, CategoricalColumn):
        return region_widths(column, regions)
    height = dict(zip(column.taxonomy.labels, height_shares(column.taxonomy), strict=True))
    return np.array([height[label] for label in regions.labels])


def precision(table: Table, columns: Mapping[str, Generalized], suppressed: int) -> float:
    found = [
        float(region_heights(table.column(name), column)[column.codes].sum()) + suppressed
        for name, column in columns.items()
    ]
    return 1.0 - sum(found) / (len(found) * table.records)
