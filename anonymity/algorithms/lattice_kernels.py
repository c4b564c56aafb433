"""The compiled loops over a lattice of levels: every node's groups by roll-up from a finer node.

Rows are the distinct combinations of codes, with the number of records that have each. The nodes
are visited depth first: attribute by attribute and level by level, a table of groups is rolled up
from the previous one, so that the work for a node is the number of groups of the finer node, not of
records.
"""

from __future__ import annotations

import numpy as np

from coterie.base.arrays import Array
from coterie.base.compiled import compiled


@compiled
def _scattered(key: int) -> int:
    """A number whose low bits depend on all bits of the key, for a table of slots."""
    key = key * -7046029254386353131
    return key ^ (key >> 32)


@compiled
def _roll_up(
    keys: Array, counts: Array, used: int, stride: int, size: int, up: Array, up_start: int,
    out_keys: Array, out_counts: Array, slots: Array,
) -> int:  # fmt: skip
    """Raises one attribute in every group and merges equal groups; returns their number."""
    mask = 1
    while mask < 2 * used:
        mask *= 2
    for i in range(mask):
        slots[i] = -1
    mask -= 1
    found = 0
    for g in range(used):
        key = keys[g]
        digit = (key // stride) % size
        key += (up[up_start + digit] - digit) * stride
        place = _scattered(key) & mask
        while slots[place] >= 0 and out_keys[slots[place]] != key:
            place = (place + 1) & mask
        if slots[place] < 0:
            slots[place] = found
            out_keys[found], out_counts[found] = key, counts[g]
            found += 1
        else:
            out_counts[slots[place]] += counts[g]
    return found


@compiled
def _too_small(counts: Array, used: int, k: int) -> int:
    """The records in groups of fewer than k."""
    total = 0
    for g in range(used):
        if counts[g] < k:
            total += counts[g]
    return total


@compiled
def walk(
    rows: Array, weights: Array, levels: Array, sizes: Array, up: Array, up_start: Array,
    bits: Array, bits_start: Array, k: int, most: int, all_bits: float,
) -> tuple[Array, Array, Array, int]:  # fmt: skip
    """For every node: records to suppress (-1 for more than `most`), discernibility, bits shown.

    `up[up_start[j, level] + code]` is a code of attribute j one level above `level`; codes at every
    level are representatives, so `sizes` holds for all. `bits[bits_start[j, level] + code]` is
    the charge of a record that shows this code. Nodes are numbered with the last attribute fastest.

    A node whose groups are too small even with the remaining attributes at the top is not entered:
    no node below it with the same first levels can satisfy (the subset property).
    """
    n, d = rows.shape
    records = weights.sum()
    nodes = 1
    for level in levels:
        nodes *= level
    suppressed = np.full(nodes, -1, np.int64)
    discernibility = np.zeros(nodes, np.float64)
    shown = np.zeros(nodes, np.float64)
    stride = np.ones(d, np.int64)
    for j in range(d - 2, -1, -1):
        stride[j] = stride[j + 1] * sizes[j + 1]
    step = np.ones(d, np.int64)
    for j in range(d - 2, -1, -1):
        step[j] = step[j + 1] * levels[j + 1]
    keys, counts = np.empty((d + 1, n), np.int64), np.empty((d + 1, n), np.int64)
    spare_keys, spare_counts = np.empty((2, n), np.int64), np.empty((2, n), np.int64)
    used = np.zeros(d + 1, np.int64)
    slots = np.empty(4 * n + 4, np.int64)
    for i in range(n):
        key = 0
        for j in range(d):
            key += rows[i, j] * stride[j]
        keys[0, i], counts[0, i] = key, weights[i]
    used[0] = n
    at = np.zeros(d, np.int64)
    looked = 0
    depth = 0
    # Table depth+1 has attributes up to `depth` at their levels `at`, the others at level 0.
    keys[1, :n], counts[1, :n], used[1] = keys[0, :n], counts[0, :n], n
    while depth >= 0:
        if at[depth] == levels[depth]:
            at[depth] = 0
            depth -= 1
            if depth >= 0:
                at[depth] += 1
                if at[depth] < levels[depth]:
                    _raise(keys, counts, used, depth, at, stride, sizes, up, up_start,
                           spare_keys, spare_counts, slots)  # fmt: skip
            continue
        if depth < d - 1:
            # With the remaining attributes at the top: a group that is too small there is too small
            # below.
            top = used[depth + 1]
            spare_keys[0, :top], spare_counts[0, :top] = (
                keys[depth + 1, :top],
                counts[depth + 1, :top],
            )
            current = 0
            for j in range(depth + 1, d):
                for level in range(levels[j] - 1):
                    top = _roll_up(spare_keys[current], spare_counts[current], top, stride[j],
                                   sizes[j], up, up_start[j, level], spare_keys[1 - current],
                                   spare_counts[1 - current], slots)  # fmt: skip
                    current = 1 - current
            if _too_small(spare_counts[current], top, k) > most:
                at[depth] += 1
                if at[depth] < levels[depth]:
                    _raise(keys, counts, used, depth, at, stride, sizes, up, up_start,
                           spare_keys, spare_counts, slots)  # fmt: skip
                continue
            depth += 1
            m = used[depth]
            keys[depth + 1, :m], counts[depth + 1, :m] = keys[depth, :m], counts[depth, :m]
            used[depth + 1] = m
            continue
        looked += 1
        small = _too_small(counts[d], used[d], k)
        if small <= most:
            node = 0
            for j in range(d):
                node += at[j] * step[j]
            suppressed[node] = small
            squares, charged = 0.0, 0.0
            for g in range(used[d]):
                size = counts[d, g]
                if size < k:
                    squares += float(size) * records
                    charged += size * all_bits
                    continue
                squares += float(size) * size
                cost = 0.0
                for j in range(d):
                    code = (keys[d, g] // stride[j]) % sizes[j]
                    cost += bits[bits_start[j, at[j]] + code]
                charged += size * cost
            discernibility[node], shown[node] = squares, charged
        at[depth] += 1
        if at[depth] < levels[depth]:
            _raise(keys, counts, used, depth, at, stride, sizes, up, up_start, spare_keys,
                   spare_counts, slots)  # fmt: skip
    return suppressed, discernibility, shown, looked


@compiled
def _raise(
    keys: Array, counts: Array, used: Array, depth: int, at: Array, stride: Array, sizes: Array,
    up: Array, up_start: Array, spare_keys: Array, spare_counts: Array, slots: Array,
) -> None:  # fmt: skip
    """Rolls table depth+1 up by one level of its last attribute, in place."""
    m = _roll_up(keys[depth + 1], counts[depth + 1], used[depth + 1], stride[depth], sizes[depth],
                 up, up_start[depth, at[depth] - 1], spare_keys[0], spare_counts[0], slots)  # fmt: skip
    keys[depth + 1, :m], counts[depth + 1, :m] = spare_keys[0, :m], spare_counts[0, :m]
    used[depth + 1] = m


@compiled
def suppressed_at(
    rows: Array, weights: Array, at: Array, sizes: Array, to: Array, to_start: Array, k: int
) -> tuple[int, float]:
    """The records in groups of fewer than k at one node, and the discernibility with them gone.

    `to[to_start[j, level] + code]` is the representative of a level-0 code at a level.
    """
    n, d = rows.shape
    mask = 1
    while mask < 2 * n:
        mask *= 2
    slots = np.full(mask, -1, np.int64)
    mask -= 1
    keys, counts = np.empty(n, np.int64), np.zeros(n, np.int64)
    used = 0
    for i in range(n):
        key = 0
        for j in range(d):
            key = key * sizes[j] + to[to_start[j, at[j]] + rows[i, j]]
        place = _scattered(key) & mask
        while slots[place] >= 0 and keys[slots[place]] != key:
            place = (place + 1) & mask
        if slots[place] < 0:
            slots[place] = used
            keys[used] = key
            used += 1
        counts[slots[place]] += weights[i]
    small, squares = 0, 0.0
    records = weights.sum()
    for g in range(used):
        if counts[g] < k:
            small += counts[g]
            squares += float(counts[g]) * records
        else:
            squares += float(counts[g]) * counts[g]
    return small, squares
