"""The utility of a release whose records are on disk: the same measures, from parts and slices.

A measure of a released value counts once for every part, times the records of the part. What needs
the records themselves, how often values and combinations of values occur, is counted slice by
slice; class error draws the same records as for a table in memory. Definitions and errata: the
modules of the measures. Figures equal those of the table in memory up to the rounding of sums.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from coterie.anonymity.classifier.class_error import ClassError, class_error_in_order, drawn
from coterie.anonymity.table.stored import Grouped, StoredTable
from coterie.anonymity.utility.entropy import most_bits
from coterie.anonymity.utility.measures import Utility
from coterie.anonymity.utility.precision import region_heights
from coterie.anonymity.utility.queries import Query, QueryError, drawn_queries, error_of
from coterie.anonymity.utility.width import region_widths
from coterie.base.arrays import Array
from coterie.base.memory import read_part


def measured_stored(
    table: StoredTable,
    shown: Mapping[str, Grouped],
    suppressed: int,
    squares: int,
    class_name: str | None,
    lost_of: Mapping[str, float] | None = None,
) -> Utility:
    """All measures; `squares` is the sum of the squared sizes of the groups in the release.

    `lost_of` has the entropy loss of columns whose different values are too many to be counted here.
    """
    known = lost_of or {}
    widths = heights = 0.0
    losses = sum(known.values())
    names = [name for name in shown if name not in known]
    counts = dict(zip(names, table.frequencies(names), strict=True))
    stays = _kept(table, shown) if suppressed else None
    kept = dict(zip(names, table.frequencies(names, stays), strict=True))
    for name, group in shown.items():
        column, regions = table.columns[name], group.columns[name]
        weights = np.bincount(regions.codes, weights=group.sizes, minlength=len(regions.labels))
        widths += float(weights @ region_widths(column, regions)) + suppressed
        heights += float(weights @ region_heights(column, regions)) + suppressed
        most = 0.0 if name in known else most_bits(counts[name])
        if most:
            before = np.concatenate([[0], np.cumsum(counts[name])])
            covered = np.log2((before[regions.last] - before[regions.first]).astype(np.float64))
            own = np.log2(np.maximum(counts[name], 1).astype(np.float64))
            lost = float(weights @ covered) - float(kept[name] @ own)
            gone = suppressed * np.log2(table.records) - float((counts[name] - kept[name]) @ own)
            losses += (lost + float(gone)) / most
    cells = max(len(shown) * table.records, 1)
    found = Utility(
        squares + suppressed * table.records,
        widths / cells,
        1.0 - heights / cells,
        losses / max(len(shown), 1),
    )
    return replace(
        found,
        query_error=_query_error(table, shown),
        class_error=None if class_name is None else _class_error(table, shown, class_name),
    )


def _kept(table: StoredTable, shown: Mapping[str, Grouped]) -> Array:
    """Marks the records in the release."""
    part = next(iter(shown.values())).part
    stays = np.zeros(table.records, bool)
    for rows in table.slices():
        stays[rows] = read_part(part, rows) >= 0
    return stays


def _query_error(table: StoredTable, shown: Mapping[str, Grouped]) -> QueryError:
    if not shown or not table.records:
        return QueryError(0.0, 0.0, 0)
    queries = drawn_queries({name: table.columns[name].size for name in shown})
    counts = np.zeros(len(queries), np.int64)
    for rows in table.slices():
        codes = {name: table.stored[name].part(rows) for name in shown}
        for at, query in enumerate(queries):
            inside = np.ones(rows.stop - rows.start, bool)
            for name, low, high in query.ranges:
                inside &= (codes[name] >= low) & (codes[name] < high)
            counts[at] += np.count_nonzero(inside)
    expected = [_expected(table, shown, query) for query in queries]
    return error_of(expected, counts.tolist(), table.records)


def _expected(table: StoredTable, shown: Mapping[str, Grouped], query: Query) -> float:
    """The count that a reader of the release estimates."""
    asked = {name: shown[name] for name, _, _ in query.ranges}
    shares = [query.share(name, *_ends(group, name)) for name, group in asked.items()]
    groups = list(asked.values())
    if all(group is groups[0] for group in groups):
        return float(np.prod(shares, axis=0) @ groups[0].sizes)
    total = 0.0  # columns with parts of their own: which parts meet, only the records say
    for rows in table.slices():
        parts = [group.parts(rows) for group in groups]
        stays = parts[0] >= 0
        each = [share[part[stays]] for share, part in zip(shares, parts, strict=True)]
        total += float(np.prod(each, axis=0).sum())
    return total


def _ends(group: Grouped, name: str) -> tuple[Array, Array]:
    regions = group.columns[name]
    return regions.first[regions.codes], regions.last[regions.codes]


def _class_error(table: StoredTable, shown: Mapping[str, Grouped], class_name: str) -> ClassError:
    order = drawn(table.records)
    sample = table.sample(order)
    parts: Sequence[Array] = [group.parts(order) for group in shown.values()]
    kept = np.flatnonzero(parts[0] >= 0) if parts else np.zeros(0, np.int64)
    columns = {
        name: replace(group.columns[name], codes=group.columns[name].codes[part[kept]])
        for (name, group), part in zip(shown.items(), parts, strict=True)
    }
    return class_error_in_order(
        sample, columns, kept, sample.labels[class_name], np.arange(len(order))
    )
