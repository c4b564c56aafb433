"""The procedures of paper 5 (Gal, Chen, Gangopadhyay) as printed, and mended.

Figure 5 splits a group at the median of the quasi-identifier with the widest range of z-scores.
As printed it goes on with whichever half satisfies the model, and the records of the other half are
lost; mended, a group is split only if both halves satisfy the model, and otherwise the next widest
quasi-identifier is tried. Figure 6 is the greedy check; figure 7, for column-wise limits, calls
groups diverse that are not, and is here with the strict comparison that makes it sound.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from coterie.anonymity.models import joint_diversity
from coterie.anonymity.models.deletion_search import diverse_tuples, packed
from coterie.base.arrays import Array, Floats, Ints
from coterie.base.compiled import compiled

Holds = Callable[[Array], bool]  # whether a group of these records satisfies a model


def divide(identifying: Floats, k: int, holds: Holds, printed: bool = False) -> list[Array]:
    """The groups of figure 5: mended, or as it is printed."""
    spread = (identifying - identifying.mean(axis=0)) / identifying.std(axis=0)
    found, waiting = [], [np.arange(len(identifying))]
    while waiting:
        group = waiting.pop()
        widest_first = np.argsort(-np.ptp(spread[group], axis=0), kind="stable")
        for at in widest_first[:1] if printed else widest_first:
            values = identifying[group, at]
            low = values <= np.sort(values)[(len(values) - 1) // 2]
            good = [h for h in (group[low], group[~low]) if len(h) >= k and holds(h)]
            if len(good) == 2 or (printed and good and len(good[0]) < len(group)):
                waiting += good
                break
        else:
            found.append(group)
    return found


def discernability(groups: Sequence[Array], records: int) -> float:
    """The mean over the records of the size of their group."""
    return sum(len(group) ** 2 for group in groups) / records


def greedy(rows: Ints, least: int) -> Holds:
    """Figure 6, on all rows of a group; a row has a value of every sensitive column."""
    apart = joint_diversity.apart(rows)
    values = int(apart.max()) + 1
    return lambda group: bool(packed(apart[group], np.array([0, len(group)]), least, values)[0])


def exact(rows: Ints, least: int, limits: Sequence[int] = ()) -> Holds:
    """The definition; `limits` are the column-wise ones, all of them."""
    tuples, numbers = np.unique(rows, axis=0, return_inverse=True)
    apart = joint_diversity.apart(tuples)
    values, most = int(apart.max()) + 1, least - 1
    bounds = np.array([min(limit, most) for limit in limits or [most] * rows.shape[1]], np.int64)
    seen = np.full(len(tuples), -1, np.int64)
    codes = np.asarray(numbers).reshape(-1)
    tests = 0

    def holds(group: Array) -> bool:
        nonlocal tests
        tests += 1
        steps = joint_diversity.MOST_STEPS
        return bool(diverse_tuples(codes[group], apart, values, least, bounds, steps, seen, tests))

    return holds


def by_frequencies(rows: Ints, least: int, limits: Sequence[int]) -> Holds:
    """Figure 7 with its comparison made strict."""
    apart = joint_diversity.apart(rows)
    column = np.repeat(np.arange(rows.shape[1]), rows.max(axis=0) + 1)
    bounds = np.array(limits, np.int64)
    return lambda group: bool(_figure_7(apart[group], column, least, bounds))


@compiled
def _figure_7(rows: Ints, column: Ints, least: int, limits: Ints) -> bool:
    n = len(rows)
    frequency = np.zeros(len(column), np.int64)
    for row in rows:
        for value in row:
            frequency[value] += 1
    weight = np.zeros(n, np.int64)
    for i in range(n):
        for value in rows[i]:
            weight[i] += frequency[value]
    order = np.argsort(weight, kind="mergesort")
    chosen = np.zeros(len(column), np.int64)  # how often each value occurs in C
    rest = np.zeros(n, np.bool_)
    x = 0
    for i in order:
        free = True
        for value in rows[i]:
            free = free and chosen[value] == 0
        rest[i] = not free
        if free:
            for value in rows[i]:
                chosen[value] += 1
            x += 1
    if x >= least:
        return True
    size = x
    for i in order:
        if not rest[i]:
            continue
        for value in rows[i]:
            chosen[value] += 1
        size += 1
        if _largest(chosen, column, limits, x - 1) >= size:  # no longer shown to be x-diverse
            for value in rows[i]:
                chosen[value] -= 1
            size -= 1
        elif _largest(chosen, column, limits, x) < size:
            x += 1
            if x == least:
                return True
    return False


@compiled
def _largest(chosen: Ints, column: Ints, limits: Ints, number: int) -> int:
    """The rows that the `number` most frequent values can delete, at most limits[c] of column c."""
    left = limits.copy()
    total, taken = 0, 0
    for value in np.argsort(-chosen, kind="mergesort"):
        if taken == number:
            break
        if left[column[value]] > 0:
            left[column[value]] -= 1
            total += chosen[value]
            taken += 1
    return total
