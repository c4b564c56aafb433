"""The compiled loops over records, which release the interpreter lock.

`order` lists the records leaf partition by leaf partition; a leaf is the range of `size` records
from `start`. `leaves` are the leaves concerned; arrays "per record concerned" follow the ranges of
these leaves, one after the other.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from coterie.base.compiled import compiled


@compiled
def count_pairs(codes: Any, classes: Any, counts: Any) -> None:
    """Adds to counts[class, code] for every record."""
    for i in range(len(codes)):
        counts[classes[i], codes[i]] += 1


@compiled
def count_children(
    order: Any, start: Any, size: Any, leaves: Any, codes: Any, low: Any, table: Any, hist: Any
) -> None:
    """Adds to hist[leaf, child], where the child of a code is table[code - low]."""
    for at in range(len(leaves)):
        leaf = leaves[at]
        for i in range(start[leaf], start[leaf] + size[leaf]):
            hist[at, table[codes[order[i]] - low]] += 1


@compiled
def list_children(
    order: Any, start: Any, size: Any, leaves: Any, codes: Any, low: Any, table: Any, out: Any
) -> None:
    """The child of each record concerned."""
    at = 0
    for leaf in leaves:
        for i in range(start[leaf], start[leaf] + size[leaf]):
            out[at] = table[codes[order[i]] - low]
            at += 1


@compiled
def count_codes(
    order: Any,
    start: Any,
    size: Any,
    leaves: Any,
    children: Any,
    classes: Any,
    hist: Any,
    by_class: Any,
) -> None:
    """Adds to hist[leaf, child] and by_class[child, class] from one child per record concerned."""
    j = 0
    for at in range(len(leaves)):
        leaf = leaves[at]
        for i in range(start[leaf], start[leaf] + size[leaf]):
            hist[at, children[j]] += 1
            by_class[children[j], classes[order[i]]] += 1
            j += 1


@compiled
def count_sensitive(
    order: Any,
    start: Any,
    size: Any,
    leaves: Any,
    rows: Any,
    first: int,
    last: int,
    children: Any,
    width: int,
    codes: Any,
    counts: Any,
) -> None:
    """Adds to counts[(row - first) * width + child, code] from one child per record concerned.

    Only leaves with a row from `first` up to, not including, `last` are counted.
    """
    j = 0
    for at in range(len(leaves)):
        leaf = leaves[at]
        if rows[at] < first or rows[at] >= last:
            j += size[leaf]
            continue
        base = (rows[at] - first) * width
        for i in range(start[leaf], start[leaf] + size[leaf]):
            counts[base + children[j], codes[order[i]]] += 1
            j += 1


@compiled
def partition(
    order: Any, start: Any, size: Any, leaves: Any, children: Any, hist: Any, scratch: Any
) -> None:
    """Sorts each leaf's records by child; records of one child keep their order."""
    places = np.empty(hist.shape[1], np.int64)
    j = 0
    for at in range(len(leaves)):
        leaf = leaves[at]
        first, count = start[leaf], size[leaf]
        place = 0
        for child in range(hist.shape[1]):
            places[child] = place
            place += hist[at, child]
        for i in range(count):
            child = children[j]
            scratch[places[child]] = order[first + i]
            places[child] += 1
            j += 1
        for i in range(count):
            order[first + i] = scratch[i]


@compiled
def divide_leaves(
    start: Any,
    size: Any,
    used: int,
    leaves: Any,
    hist: Any,
    origin: Any,
    child_of: Any,
) -> int:
    """Makes a leaf of every child that has records; returns the new number of leaves.

    The first keeps the leaf's number, the others take the next free ones. For each leaf made,
    origin[…] tells which of `leaves` it came from, and child_of[…] its child; both list first the
    leaves that keep their number, in order, then the new ones.
    """
    fresh = used
    for at in range(len(leaves)):
        leaf = leaves[at]
        first = start[leaf]
        kept = False
        for child in range(hist.shape[1]):
            count = hist[at, child]
            if count == 0:
                continue
            if not kept:
                kept = True
                origin[at], child_of[at] = at, child
                size[leaf] = count
            else:
                place = len(leaves) + fresh - used
                origin[place], child_of[place] = at, child
                start[fresh], size[fresh] = first, count
                fresh += 1
            first += count
    return fresh


@compiled
def sum_groups(groups: Any, hist: Any, slot: Any, found: Any, rows: Any, counts: Any) -> int:
    """Adds the rows of `hist` by group: counts[i] is the sum for group found[i]; returns how many.

    rows[…] tells for each row of `hist` the i of its group. `slot` has -1 for every group and is
    left so.
    """
    used = 0
    for at in range(len(groups)):
        group = groups[at]
        i = slot[group]
        if i < 0:
            i = used
            slot[group] = used
            found[used] = group
            used += 1
        rows[at] = i
        for child in range(hist.shape[1]):
            counts[i, child] += hist[at, child]
    for i in range(used):
        slot[found[i]] = -1
    return used


@compiled
def fill(order: Any, start: Any, size: Any, used: int, values: Any, out: Any) -> None:
    """Gives every record the value of its leaf."""
    for leaf in range(used):
        for i in range(start[leaf], start[leaf] + size[leaf]):
            out[order[i]] = values[leaf]


@compiled
def smallest_positive(counts: Any) -> int:
    """The smallest count that is not zero; 0 if there is none."""
    smallest = 0
    for i in range(counts.shape[0]):
        for j in range(counts.shape[1]):
            count = counts[i, j]
            if count > 0 and (smallest == 0 or count < smallest):
                smallest = count
    return smallest
