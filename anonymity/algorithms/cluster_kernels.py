"""The compiled loops of k-member clustering.

Losses are whole multiples of 2^-30, so that ties are the same on every machine. `height` and
`place` already contain the attributes' weights.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from coterie.anonymity.table.hierarchy import joined
from coterie.base.arrays import Array
from coterie.base.compiled import compiled

_MOST = np.int64(2**62)


@compiled
def _loss_with(
    codes: Array, i: int, node: Array, low: Array, high: Array, tree: Array, start: Array,
    parent: Array, first: Array, last: Array, height: Array, place_start: Array, place: Array,
    most: int,
) -> Any:  # fmt: skip
    """The loss of a cluster's members once record i has joined; above `most` it may be inexact."""
    loss = 0
    for j in range(codes.shape[1]):
        c = codes[i, j]
        if tree[j]:
            above = joined(parent, last, first, start[j], node[j], c)
            loss += height[start[j] + above]
        else:
            at = place_start[j]
            loss += place[at + max(high[j], c)] - place[at + min(low[j], c)]
        if loss > most:
            return loss
    return loss


@compiled
def _join(
    codes: Array, i: int, node: Array, low: Array, high: Array, tree: Array, start: Array,
    parent: Array, first: Array, last: Array,
) -> None:  # fmt: skip
    for j in range(codes.shape[1]):
        c = codes[i, j]
        low[j], high[j] = min(low[j], c), max(high[j], c)
        if tree[j]:
            node[j] = joined(parent, last, first, start[j], node[j], c)


@compiled
def k_member(
    codes: Array, k: int, tree: Array, start: Array, parent: Array, first: Array, last: Array,
    height: Array, leaf_start: Array, leaf_node: Array, place_start: Array, place: Array,
) -> Array:  # fmt: skip
    """The number of each record's cluster; ties go to the smallest record number."""
    n, d = codes.shape
    part = np.full(n, -1, np.int64)
    most = max(n // k, 1)
    node = np.zeros((most, d), np.int64)
    low, high = np.zeros((most, d), np.int64), np.zeros((most, d), np.int64)
    sizes, losses = np.zeros(most, np.int64), np.zeros(most, np.int64)
    left = np.arange(n)
    remaining, clusters, current = n, 0, 0
    seed_node = np.zeros(d, np.int64)
    while remaining >= k:
        for j in range(d):
            if tree[j]:
                seed_node[j] = leaf_node[leaf_start[j] + codes[current, j]]
        seed = codes[current].astype(np.int64)
        farthest, pick = -1, 0
        for at in range(remaining):
            distance = _loss_with(codes, left[at], seed_node, seed, seed, tree, start, parent, first,
                                  last, height, place_start, place, _MOST)  # fmt: skip
            if distance > farthest:
                farthest, pick = distance, at
        c = clusters
        clusters += 1
        current = left[pick]
        for j in range(d):
            low[c, j] = high[c, j] = codes[current, j]
            if tree[j]:
                node[c, j] = leaf_node[leaf_start[j] + codes[current, j]]
        part[current] = c
        sizes[c] = 1
        for at in range(pick, remaining - 1):
            left[at] = left[at + 1]
        remaining -= 1
        while sizes[c] < k:
            best, pick = _MOST, 0
            for at in range(remaining):
                loss = _loss_with(codes, left[at], node[c], low[c], high[c], tree, start, parent,
                                  first, last, height, place_start, place, best)  # fmt: skip
                if loss < best:
                    best, pick = loss, at
            current = left[pick]
            _join(codes, current, node[c], low[c], high[c], tree, start, parent, first, last)
            part[current] = c
            sizes[c] += 1
            losses[c] = best
            for at in range(pick, remaining - 1):
                left[at] = left[at + 1]
            remaining -= 1
    for at in range(remaining):
        i = left[at]
        best, pick = _MOST, 0
        for c in range(clusters):
            loss = _loss_with(codes, i, node[c], low[c], high[c], tree, start, parent, first, last,
                              height, place_start, place, _MOST)  # fmt: skip
            growth = (sizes[c] + 1) * loss - sizes[c] * losses[c]
            if growth < best:
                best, pick = growth, c
        losses[pick] = _loss_with(codes, i, node[pick], low[pick], high[pick], tree, start, parent,
                                  first, last, height, place_start, place, _MOST)  # fmt: skip
        _join(codes, i, node[pick], low[pick], high[pick], tree, start, parent, first, last)
        sizes[pick] += 1
        part[i] = pick
    return part
