"""Normalised width: the share of an attribute's span that the released region covers, on average.

For numbers it is the region's length as a share of the column's; for categories the leaves under
the node less one, as a share of all leaves less one. An exact value has width 0; the topmost value
and a suppressed record have width 1. A column with a single value has width 0 throughout.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from coterie.anonymity.table.columns import Column, ContinuousColumn
from coterie.anonymity.table.table import Generalized, Table
from coterie.base.arrays import Array


def region_widths(column: Column, regions: Generalized) -> Array:
    """The normalised width of every region of a column."""
    if isinstance(column, ContinuousColumn):
        places = column.places
        low, high = float(places[0]), float(places[-1])
        lengths = places[regions.last - 1] - places[regions.first]
        return np.asarray(lengths / (high - low) if high > low else np.zeros(len(lengths)))
    return np.asarray((regions.last - regions.first - 1) / max(column.size - 1, 1))


def normalised_width(table: Table, columns: Mapping[str, Generalized], suppressed: int) -> float:
    """The mean over all records and attributes; suppressed records have width 1."""
    found = [
        float(region_widths(table.column(name), column)[column.codes].sum()) + suppressed
        for name, column in columns.items()
    ]
    return sum(found) / (len(found) * table.records)
