"""All nodes of a lattice by brute force: every node's groups formed anew, with NumPy alone.

What incognito finds by roll-up and pruning is compared with this. The loss of a column at a level does
not depend on the other columns, as long as no record is suppressed.
"""

from __future__ import annotations

import itertools
import time
from typing import Any

import numpy as np

from coterie.anonymity.table.columns import CategoricalColumn
from coterie.anonymity.table.levels import ladder
from coterie.anonymity.table.table import Table


def by_force(table: Table, names: tuple[str, ...], k: int) -> dict[str, Any]:
    """How many nodes exist, satisfy k and are minimal; the least height and the least loss."""
    begun = time.process_time()
    ladders = [ladder(table.column(name)) for name in names]
    rows, inverse = np.unique(
        np.stack([own.codes for own in ladders], axis=1), axis=0, return_inverse=True
    )
    weights = np.bincount(inverse.ravel())
    numbered: list[list[Any]] = []
    losses: list[list[float]] = []
    for j, own in enumerate(ladders):
        assert isinstance(own.column, CategoricalColumn)
        counts = np.bincount(own.codes, minlength=own.column.size).astype(float)
        bits = counts[counts > 0] * np.log2(counts.sum() / counts[counts > 0])
        columns, lost = [], []
        for values in own.levels:
            shown, place = np.unique(values, return_inverse=True)
            first = np.array(own.column.taxonomy.first)[shown]
            last = np.array(own.column.taxonomy.last)[shown]
            covered = np.array([counts[a:b].sum() for a, b in zip(first, last, strict=True)])[place]
            there = counts > 0
            wider = counts[there] * np.log2(covered[there] / counts[there])
            lost.append(float(wider.sum() / bits.sum()) if bits.sum() else 0.0)
            columns.append(place[rows[:, j]].astype(np.int64))
        numbered.append(columns)
        losses.append(lost)
    satisfying = set()
    least = np.inf
    for node in itertools.product(*(range(len(columns)) for columns in numbered)):
        key = np.zeros(len(rows), np.int64)
        for columns, level in zip(numbered, node, strict=True):
            key = key * (int(columns[level].max()) + 1) + columns[level]
        sizes = np.bincount(np.unique(key, return_inverse=True)[1], weights=weights)
        if sizes.min() >= k:
            satisfying.add(node)
            total = sum(lost[level] for lost, level in zip(losses, node, strict=True))
            least = min(least, total / len(names))
    minimal = sum(
        not any(
            level and (*node[:j], level - 1, *node[j + 1 :]) in satisfying
            for j, level in enumerate(node)
        )
        for node in satisfying
    )
    return {
        "nodes": int(np.prod([len(columns) for columns in numbered])),
        "satisfying": len(satisfying),
        "minimal": minimal,
        "least_height": min(map(sum, satisfying)),
        "entropy_loss": round(float(least), 4),
        "cpu_seconds": round(time.process_time() - begun, 1),
    }
