"""Random-query error: how far counts from the release are from those of the table.

LeFevre, DeWitt, Ramakrishnan, "Mondrian multidimensional k-anonymity" (ICDE 2006), section 6.3, and
Zhang and others (ICDE 2007) for the estimate. A query counts the records whose values lie in a random
range of the values of each of two attributes (a range of numbers, or of leaves from left to right),
each range as wide as three tenths of the attribute's values. From a release a reader estimates the
count with every region's records spread evenly over the region's values:

    estimate = sum over records of  |R_1 and q_1| / |R_1|  *  |R_2 and q_2| / |R_2|

A suppressed record adds nothing, and so is charged. The error of a query is |estimate - count| as a
share of the count, or of a thousandth of the records where the count is smaller. The queries are
drawn from a fixed seed: the figure of one release comes out the same every time.

Cost: queries times records, a few operations each.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from coterie.anonymity.table.groups import group_numbers
from coterie.anonymity.table.table import Generalized, Table
from coterie.base.arrays import Array

QUERIES = 200
_WIDTH = 0.3
_FLOOR = 0.001


@dataclass(frozen=True)
class QueryError:
    """The mean and the median error of the queries."""

    mean: float
    median: float
    queries: int


def query_error(
    table: Table, columns: Mapping[str, Generalized], kept: Array, queries: int = QUERIES
) -> QueryError:
    """The error of random counts over pairs of the table's attributes."""
    rng = np.random.default_rng(20_081)
    names = list(columns)
    if not names or not table.records:
        return QueryError(0.0, 0.0, 0)
    groups = (
        group_numbers([column.codes for column in columns.values()])
        if len(kept)
        else np.zeros(0, np.int64)
    )
    sizes = np.bincount(groups)
    first = np.zeros(len(sizes), np.int64)
    first[groups] = np.arange(len(groups))
    errors = []
    for _ in range(queries):
        chosen = rng.choice(len(names), size=min(2, len(names)), replace=False)
        inside = np.ones(table.records, bool)
        expected = sizes.astype(np.float64)
        for at in chosen.tolist():
            column, shown = table.column(names[at]), columns[names[at]]
            width = max(1, round(_WIDTH * column.size))
            low = int(rng.integers(0, column.size - width + 1))
            inside &= (column.codes >= low) & (column.codes < low + width)
            covered = np.minimum(shown.last, low + width) - np.maximum(shown.first, low)
            share = np.maximum(covered, 0) / np.maximum(shown.last - shown.first, 1)
            expected *= share[shown.codes[first]]
        count = int(np.count_nonzero(inside))
        least = max(count, _FLOOR * table.records)
        errors.append(abs(float(expected.sum()) - count) / least)
    return QueryError(float(np.mean(errors)), float(np.median(errors)), queries)
