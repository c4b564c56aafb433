"""Non-uniform entropy loss (de Waal, Willenborg; the form that ARX normalises).

A record whose value v is shown as the region R loses log2(n(R) / n(v)) bits of an attribute, where
n counts the records of the input table. The loss of an attribute is the sum over its records as a
share of the sum when every record shows the topmost region; a suppressed record is charged as if it
did. The loss of a table is the mean over its attributes; an attribute with one value loses nothing.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from coterie.anonymity.table.columns import Column
from coterie.anonymity.table.table import Generalized, Table
from coterie.base.arrays import Array


def frequencies(column: Column) -> Array:
    """How often each code occurs."""
    return np.bincount(column.codes, minlength=column.size)


def most_bits(counts: Array) -> float:
    """The bits that all records lose when the attribute is fully generalized."""
    total = counts.sum()
    occurring = counts[counts > 0].astype(np.float64)
    return float((occurring * np.log2(total / occurring)).sum())


def attribute_loss(column: Column, regions: Generalized, kept: Array) -> float:
    """The share of an attribute's bits that the release loses; `kept` are the records in it."""
    counts = frequencies(column)
    most = most_bits(counts)
    if most == 0:
        return 0.0
    before = np.concatenate([[0], np.cumsum(counts)])
    covered = np.log2((before[regions.last] - before[regions.first]).astype(np.float64))
    own = np.log2(np.maximum(counts, 1).astype(np.float64))
    shown = float((covered[regions.codes] - own[column.codes[kept]]).sum())
    stays = np.zeros(len(column), bool)
    stays[kept] = True
    gone = float((np.log2(len(column)) - own[column.codes[~stays]]).sum())
    return (shown + gone) / most


def entropy_loss(table: Table, columns: Mapping[str, Generalized], kept: Array) -> float:
    found = [attribute_loss(table.column(name), column, kept) for name, column in columns.items()]
    return sum(found) / len(found)
