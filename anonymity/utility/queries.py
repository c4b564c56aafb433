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

from collections.abc import Mapping, Sequence
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


@dataclass(frozen=True)
class Query:
    """Ranges of codes, from a first up to, not including, a last, of one or two attributes."""

    ranges: tuple[tuple[str, int, int], ...]

    def share(self, name: str, first: Array, last: Array) -> Array:
        """Which share of each region's values lies in the range of an attribute."""
        low, high = next((low, high) for own, low, high in self.ranges if own == name)
        covered = np.minimum(last, high) - np.maximum(first, low)
        found: Array = np.maximum(covered, 0) / np.maximum(last - first, 1)
        return found


def drawn_queries(sizes: Mapping[str, int], queries: int = QUERIES) -> list[Query]:
    """Random queries over columns with so many codes; the same ones every time."""
    rng = np.random.default_rng(20_081)
    names = list(sizes)
    found = []
    for _ in range(queries):
        chosen = rng.choice(len(names), size=min(2, len(names)), replace=False)
        ranges = []
        for at in chosen.tolist():
            size = sizes[names[at]]
            width = max(1, round(_WIDTH * size))
            low = int(rng.integers(0, size - width + 1))
            ranges.append((names[at], low, low + width))
        found.append(Query(tuple(ranges)))
    return found


def error_of(expected: Sequence[float], counts: Sequence[int], records: int) -> QueryError:
    errors = [
        abs(estimate - count) / max(count, _FLOOR * records)
        for estimate, count in zip(expected, counts, strict=True)
    ]
    return QueryError(float(np.mean(errors)), float(np.median(errors)), len(errors))


def query_error(
    table: Table, columns: Mapping[str, Generalized], kept: Array, queries: int = QUERIES
) -> QueryError:
    """The error of random counts over pairs of the table's attributes."""
    if not columns or not table.records:
        return QueryError(0.0, 0.0, 0)
    groups = (
        group_numbers([column.codes for column in columns.values()])
        if len(kept)
        else np.zeros(0, np.int64)
    )
    sizes = np.bincount(groups)
    first = np.zeros(len(sizes), np.int64)
    first[groups] = np.arange(len(groups))
    expected, counts = [], []
    for query in drawn_queries({name: table.column(name).size for name in columns}, queries):
        inside = np.ones(table.records, bool)
        estimate = sizes.astype(np.float64)
        for name, low, high in query.ranges:
            codes, shown = table.column(name).codes, columns[name]
            inside &= (codes >= low) & (codes < high)
            estimate *= query.share(name, shown.first, shown.last)[shown.codes[first]]
        counts.append(int(np.count_nonzero(inside)))
        expected.append(float(estimate.sum()))
    return error_of(expected, counts, table.records)
