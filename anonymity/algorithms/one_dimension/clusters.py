"""Optimal clusters of numbers: every cluster has at least k records, and the cost is the least.

Lodha, Thomas, "Probabilistic anonymity" (PinKDD 2007), section 4.1. Three costs:

| cost | of a cluster | of all |
|---|---|---|
| `median` | the sum of the distances to its median | the sum |
| `centre` | half of its span, its radius | the largest |
| `cellular` | its radius times its records | the sum |

Guarantee: no clustering into clusters of at least k records costs less, whether its clusters are
ranges or not (among those that keep equal values together, where `counts` has more than ones).

The dynamic programme goes from left to right: C(j), the least cost of the first j values, is the
least over i of C(i) combined with the cost of a cluster of the values from i up to j. A cluster that
can be divided never has to have 2k records.

Cost: O(n log k) time and O(n) memory for n different values. The paper gives O(nk). Here the rows j
are done in blocks of fewer than k records, whose columns i all lie before the block, and all three
costs let the best column only grow with the row (`_rows` says why), so that a block is solved by
halving.

Errata. Read the programme's range of i as sizes k to 2k-1, and one cluster where there are fewer than
2k records. Fewer than k records are an error.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from coterie.base.arrays import Array
from coterie.base.compiled import compiled

COSTS = ("median", "centre", "cellular")
_MEDIAN, _CENTRE, _CELLULAR = range(3)


@dataclass(frozen=True)
class Clusters:
    """Cluster c has the values from `starts[c]` up to the next start; `cost` is that of all."""

    starts: Array
    cost: float


def optimal_clusters(values: Array, counts: Array, k: int, cost: str) -> Clusters:
    """The best clusters of values in ascending order, of which value i occurs `counts[i]` times."""
    before = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    if before[-1] < max(k, 1):
        raise ValueError(f"{before[-1]} records are fewer than k = {k}")
    # Sums of numbers around zero keep more of their digits.
    near = np.asarray(values, np.float64) - float(values[len(values) // 2])
    sums = np.concatenate([[0.0], np.cumsum(near * counts)])
    middle = np.repeat(np.arange(len(near)), counts)
    best, link, _ = _solve(COSTS.index(cost), near, before, sums, middle, k)
    starts = []
    at = len(near)
    while at:
        at = int(link[at])
        starts.append(at)
    return Clusters(np.array(starts[::-1], np.int64), float(best[-1]))


@compiled
def _cost(
    kind: int, values: Array, before: Array, sums: Array, middle: Array, a: int, b: int
) -> float:
    """The cost of one cluster: the values from a up to, not including, b."""
    if kind == _MEDIAN:
        m = middle[(before[a] + before[b] - 1) // 2]
        below = values[m] * (before[m] - before[a]) - (sums[m] - sums[a])
        above = (sums[b] - sums[m]) - values[m] * (before[b] - before[m])
        found: float = max(below + above, 0.0)
        return found
    radius: float = (values[b - 1] - values[a]) / 2
    records: int = before[b] - before[a]
    return radius if kind == _CENTRE else radius * records


@compiled
def _rows(
    kind: int, values: Array, before: Array, sums: Array, middle: Array, k: int,
    first: int, last: int, low: int, high: int, best: Array, link: Array, stack: Array,
) -> int:  # fmt: skip
    """The least cost of the rows `first` to `last`, whose best columns lie from `low` to `high`.

    The middle row is done by trying its columns, and divides those of the rows before and after it.
    For sums this holds because the costs satisfy the quadrangle inequality: two overlapping clusters
    cost no more than their union and intersection. For the largest radius: where a column is worse
    than one to its right, it stays no better in all later rows, since its span is the longer one.
    Among equal columns the last one is taken, which keeps both true. Returns the number of clusters
    that were tried.
    """
    tried = 0
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = first, last, low, high
    depth = 1
    while depth:
        depth -= 1
        top, bottom = stack[depth, 0], stack[depth, 1]
        left, right = stack[depth, 2], stack[depth, 3]
        row = (top + bottom) // 2
        least, chosen = np.inf, left
        for column in range(left, right + 1):
            if before[row] - before[column] < k:
                break
            if best[column] == np.inf:
                continue
            tried += 1
            own = _cost(kind, values, before, sums, middle, column, row)
            total = max(best[column], own) if kind == _CENTRE else best[column] + own
            if total <= least:
                least, chosen = total, column
        best[row], link[row] = least, chosen
        if top < row:
            stack[depth, 0], stack[depth, 1] = top, row - 1
            stack[depth, 2], stack[depth, 3] = left, chosen
            depth += 1
        if row < bottom:
            stack[depth, 0], stack[depth, 1] = row + 1, bottom
            stack[depth, 2], stack[depth, 3] = chosen, right
            depth += 1
    return tried


@compiled
def _solve(
    kind: int, values: Array, before: Array, sums: Array, middle: Array, k: int
) -> tuple[Array, Array, int]:
    """Per number of values the least cost and where its last cluster begins; and the clusters tried."""
    m = len(values)
    best, link = np.full(m + 1, np.inf), np.zeros(m + 1, np.int64)
    best[0] = 0.0
    stack = np.empty((2 * int(math.log2(m + 1)) + 8, 4), np.int64)
    row = 1
    while before[row] < k:
        row += 1
    low, tried = 0, 0
    while row <= m:
        last = row
        while last < m and before[last + 1] < before[row] + k:
            last += 1
        # A row of the block has k records more than its column, which therefore lies before the block.
        tried += _rows(kind, values, before, sums, middle, k, row, last, low, row - 1, best, link,
                       stack)  # fmt: skip
        low = link[last]
        row = last + 1
    return best, link, tried
