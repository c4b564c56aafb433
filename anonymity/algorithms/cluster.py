"""GreedyCKA: clusters of at least k similar records, within bounds on generalization.

Byun, Kamra, Bertino, Li, "Efficient k-anonymization using clustering techniques" (DASFAA 2007), the
greedy k-member algorithm; Miller, Campan, Truta (P3DM 2008) for its use inside the groups that
bounds on generalization leave.

Repeatedly the record farthest from the last one begins a cluster, to which the record that raises
the cluster's loss least is added until the cluster has k records. The last records, fewer than k,
join the clusters whose loss grows least. The loss of a cluster is its size times the sum over the
attributes of the height of the value that covers the cluster, as a share of the tree's height; for
numbers it is the interval's share of the span. Ties go to the first record.

Guarantee: every cluster has k records before the last ones join, and every requirement holds: a
cluster that fails a model on a sensitive attribute is merged with the cluster for which the loss
grows least, until none fails. The algorithm is greedy; no bound on the loss is known that would
matter in practice.

Erratum: the article's formula of the loss is lost in print; the one above is that of its authors'
earlier work, and suppressed records are charged one per attribute.

Cost: n^2 d comparisons, within each group that the bounds leave: for tables of some ten thousand
records. A cluster, like a box of Mondrian, reveals the least and the largest number in it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from coterie.anonymity.algorithms import cluster_kernels as kernels
from coterie.anonymity.algorithms.anonymized import Anonymized
from coterie.anonymity.algorithms.bounds import permitted_groups
from coterie.anonymity.algorithms.conditions import Condition
from coterie.anonymity.algorithms.local_recoding import Parts, covering_nodes, extents, recode
from coterie.anonymity.specialization.specialize import Requirement
from coterie.anonymity.table.columns import CategoricalColumn, Column, ContinuousColumn
from coterie.anonymity.table.hierarchy import height_shares, hierarchy_of
from coterie.anonymity.table.table import Table
from coterie.base.arrays import Array
from coterie.base.distinct import ranks

_SCALE = float(2**30)


def cluster(
    table: Table, requirements: Sequence[Requirement], most_suppressed: int = 0
) -> Anonymized:
    """Clusters a table; records are suppressed only as far as bounds on generalization force it."""
    return recode("cluster", table, requirements, most_suppressed, _partition)


def _partition(table: Table, condition: Condition) -> Parts:
    names = condition.attributes
    columns = [table.column(name) for name in names]
    tree = hierarchy_of(columns)
    weight = np.array([table.priority.get(name, 1.0) for name in names])
    height = tree.height * _SCALE
    place_start, places = [], [np.zeros(0)]
    for j, column in enumerate(columns):
        place_start.append(sum(map(len, places)))
        if isinstance(column, ContinuousColumn):
            own = column.places
            span = float(own[-1] - own[0]) or 1.0
            places.append((own - own[0]) / span * weight[j] * _SCALE)
        elif isinstance(column, CategoricalColumn):
            nodes = slice(tree.start[j], tree.start[j] + len(column.taxonomy.labels))
            height[nodes] *= weight[j]
    codes = table.matrix(names)
    groups = permitted_groups(table, names)
    part = np.empty(table.records, np.int64)
    used = 0
    for group in range(int(groups.max()) + 1):
        rows = np.flatnonzero(groups == group)
        found = kernels.k_member(
            codes[rows], condition.k, tree.tree, tree.start, tree.parent, tree.first, tree.last,
            np.rint(height).astype(np.int64), tree.leaf_start, tree.leaf_node,
            np.array(place_start, np.int64), np.rint(np.concatenate(places)).astype(np.int64),
        )  # fmt: skip
        if condition.models:
            found = _merged(table.take(rows), condition, found, weight, table)
        part[rows] = used + found
        used += int(found.max()) + 1
    return Parts(part)


def _merged(inside: Table, condition: Condition, part: Array, weight: Array, whole: Table) -> Array:
    """Merges each cluster that fails a model with the cluster for which the loss grows least."""
    columns = [inside.column(name) for name in condition.attributes]
    while True:
        good = _good(condition, part, inside, whole)
        if good.all():
            return part
        bad = int(np.argmin(good))
        sizes = np.bincount(part)
        before, after = np.zeros(len(sizes)), np.zeros(len(sizes))
        for column, share in zip(columns, weight, strict=True):
            low, high = extents(column, part)
            before += share * _losses(column, low, high)
            wide = np.minimum(low, low[bad]), np.maximum(high, high[bad])
            after += share * _losses(column, *wide)
        growth = (sizes + sizes[bad]) * after - sizes * before
        growth[bad] = np.inf
        part = part.copy()
        part[part == bad] = int(np.argmin(growth))
        part = ranks(part)


def _good(condition: Condition, part: Array, inside: Table, whole: Table) -> Array:
    """Which clusters satisfy the models, against the shares of the whole table."""
    sizes = np.bincount(part)
    good: Array = np.ones(len(sizes), bool)
    for model, name in condition.models:
        labels = inside.labels[name]
        values = len(labels.values)
        counts = np.bincount(part * values + labels.codes, minlength=len(sizes) * values)
        overall = np.bincount(whole.labels[name].codes, minlength=values).astype(np.int64)
        good = good & model.holds(counts.reshape(-1, values), overall)
    return good


def _losses(column: Column, low: Array, high: Array) -> Array:
    """The height of the value that covers each range of codes, as a share of the tree's height."""
    if isinstance(column, CategoricalColumn):
        heights = np.array(height_shares(column.taxonomy))
        return np.asarray(heights[covering_nodes(column.taxonomy, low, high)])
    assert isinstance(column, ContinuousColumn)  # noqa: S101
    places = column.places
    span = float(places[-1] - places[0]) or 1.0
    return np.asarray((places[high - 1] - places[low]) / span)
