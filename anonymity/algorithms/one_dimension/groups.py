"""Groups of a sorted column: even quantiles, and merging what is too small.

Lodha, Thomas, "Probabilistic anonymity" (PinKDD 2007), section 4.2. With q = floor(n/k) groups whose
sizes differ by at most one, each shown as its median, the sum of |rank(shown) - rank(own)| is
the least of all k-anonymous maps: the sum of floor(g^2/4) over the groups of g records.

By rank, equal values may fall into two groups: the sizes are even, and one value is shown in two ways.
By value, a cut moves down to the beginning of the value it falls into, so that every value is shown
in one way; a group that this leaves with too few records is merged with its smaller neighbour. Such
groups may be larger than needed.

Errata. The paper's r-th "largest" value is the r-th smallest (its Examples 10 and 11 count so). Its
error of 1/b^2 for b groups holds for evenly distributed numbers only.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence

import numpy as np

from coterie.anonymity.algorithms.conditions import Condition, counts_of
from coterie.anonymity.table.table import Labels
from coterie.base.arrays import Array
from coterie.base.distinct import ranks


def even_ends(records: int, k: int) -> Array:
    """Where floor(records/k) groups end whose sizes differ by at most one; the first are larger."""
    groups = max(records // k, 1)
    size, more = divmod(records, groups)
    sizes = np.full(groups, size, np.int64)
    sizes[:more] += 1
    return np.cumsum(sizes)


def groups_by_rank(codes: Array, ends: Array) -> Array:
    """Per record its group, if the groups end at these places of the sorted column.

    Records with equal values are divided in their order in the table.
    """
    place = np.empty(len(codes), np.int64)
    place[np.argsort(codes, kind="stable")] = np.arange(len(codes))
    return np.searchsorted(ends, place, "right")


def starts_by_value(counts: Array, ends: Array) -> Array:
    """The first codes of groups that keep equal values together; code c occurs `counts[c]` times."""
    before = np.concatenate([[0], np.cumsum(counts)])
    inner = np.asarray(ends)[:-1]
    # The record at a place has the last code that begins at or before it.
    cuts = np.searchsorted(before, inner, "right") - 1
    return np.unique(np.concatenate([[0], cuts])).astype(np.int64)


def merged(groups: Array, condition: Condition, labels: Mapping[str, Labels]) -> Array:
    """Groups in order of their values, each that violates the condition merged with a neighbour.

    The smallest group that violates it goes to the smaller of its neighbours, the left one of equals,
    until all hold. One group of all records satisfies every possible condition.
    """
    number = int(groups.max(initial=-1)) + 1
    sizes = np.bincount(groups, minlength=number).astype(np.int64)
    counts = [counts_of(groups, number, labels[name]) for _, name in condition.models]
    return merged_groups(sizes, counts, condition)[groups]


def merged_groups(sizes: Array, counted: Sequence[Array], condition: Condition) -> Array:
    """Per group the number of the one that it is merged into, as `merged` does it.

    `counted` has for every model of the condition how often each label occurs in each group. Both are
    changed.
    """
    number = len(sizes)
    models = [(model, counts) for (model, _), counts in zip(condition.models, counted, strict=True)]
    totals = [counts.sum(axis=0) for _, counts in models]
    good = sizes >= condition.k
    for (model, counts), total in zip(models, totals, strict=True):
        good &= model.holds(counts, total)
    before, after = np.arange(number) - 1, np.arange(number) + 1
    into = np.arange(number)
    waiting = [(int(sizes[g]), int(g)) for g in np.flatnonzero(~good)]
    heapq.heapify(waiting)
    while waiting:
        size, group = heapq.heappop(waiting)
        if into[group] != group or size != sizes[group]:
            continue  # merged since, or listed again with more records
        left, right = int(before[group]), int(after[group])
        if left < 0 and right >= number:
            break
        other = left if right >= number or (left >= 0 and sizes[left] <= sizes[right]) else right
        into[group] = other
        if left >= 0:
            after[left] = right
        if right < number:
            before[right] = left
        sizes[other] += sizes[group]
        holds = bool(sizes[other] >= condition.k)
        for (model, counts), total in zip(models, totals, strict=True):
            counts[other] += counts[group]
            holds = holds and bool(model.holds(counts[other : other + 1], total)[0])
        if not holds:
            heapq.heappush(waiting, (int(sizes[other]), other))
    while (further := into[into] != into).any():  # merged into a group that was merged later
        into[further] = into[into[further]]
    return ranks(into)


def rank_difference(sizes: Array) -> int:
    """The sum of |rank(shown) - rank(own)| if every group is shown as its median."""
    return sum(int(size) ** 2 // 4 for size in sizes)
