"""Whether few sensitive values delete all rows of a group: the search behind joint diversity.

A row is a tuple of values, and values of different columns have different numbers. Deleting a value
deletes all rows that contain it. The question is whether `least - 1` values, at most `limits[c]` of
column c, delete every row; it is the decision form of minimum vertex cover in a hypergraph whose
edges have one end in each column, NP-hard from three columns on (paper 5, theorem 3).

The searches, from cheap to expensive:
    packed    `least` rows that share no value, found greedily (figure 6), need a deletion each:
              an answer of yes proves that the group is diverse; an answer of no proves nothing
    matched   for two columns without limits the largest set of such rows is as large as the least
              deletion (König), and is found in polynomial time; the paper does not notice this
    covered   branch and bound. A branch deletes one value of a row; it is given up if the most
              frequent values left cannot be in all rows left, or if more rows share no value than
              deletions are left

Cost of `covered`: at most columns^(least-1) leaves, each a pass over the rows.
"""

from __future__ import annotations

import numpy as np

from coterie.base.arrays import Array, Ints, Mask
from coterie.base.compiled import compiled

DIVERSE, DELETED, UNDECIDED = 1, 0, -1


@compiled
def packed(rows: Ints, starts: Ints, least: int, values: int) -> Mask:
    """For each group whether the greedy packing finds `least` rows that share no value.

    Group g has the rows starts[g]:starts[g+1]; the values are numbered below `values`.
    """
    found = np.zeros(len(starts) - 1, np.bool_)
    frequency = np.zeros(values, np.int64)
    taken = np.full(values, -1, np.int64)
    for group in range(len(starts) - 1):
        low, high = starts[group], starts[group + 1]
        if high - low < least:
            continue
        for i in range(low, high):
            for value in rows[i]:
                frequency[value] += 1
        weight = np.zeros(high - low, np.int64)
        for i in range(low, high):
            for value in rows[i]:
                weight[i - low] += frequency[value]
        size = 0
        for i in np.argsort(weight, kind="mergesort"):
            free = True
            for value in rows[low + i]:
                free = free and taken[value] != group
            if free:
                for value in rows[low + i]:
                    taken[value] = group
                size += 1
                if size >= least:
                    break
        found[group] = size >= least
        for i in range(low, high):
            for value in rows[i]:
                frequency[value] = 0
    return found


@compiled
def matched(rows: Ints, values: int, least: int) -> bool:
    """Whether the bipartite graph of two columns has `least` edges without a common end."""
    n = len(rows)
    by_left = np.argsort(rows[:, 0], kind="mergesort")
    begin = np.full(values + 1, -1, np.int64)  # where the rows of a left value begin in `by_left`
    for at in range(n - 1, -1, -1):
        begin[rows[by_left[at], 0]] = at
    partner = np.full(values, -1, np.int64)  # of a right value
    seen = np.full(values, -1, np.int64)
    path, at_edge = np.empty(n + 1, np.int64), np.empty(n + 1, np.int64)
    size = 0
    for root in range(values):
        if begin[root] < 0:
            continue
        depth = 0
        path[0], at_edge[0] = root, begin[root]
        while depth >= 0:  # a path of left values, each taken from the right value before it
            left, at = path[depth], at_edge[depth]
            if at >= n or rows[by_left[at], 0] != left:
                depth -= 1
                continue
            right = rows[by_left[at], 1]
            at_edge[depth] += 1
            if seen[right] == root:
                continue
            seen[right] = root
            if partner[right] < 0:
                for d in range(depth, -1, -1):  # everybody on the path takes the value found
                    partner[rows[by_left[at_edge[d] - 1], 1]] = path[d]
                size += 1
                break
            depth += 1
            path[depth], at_edge[depth] = partner[right], begin[partner[right]]
        if size >= least:
            return True
    return False


@compiled
def _hopeless(
    rows: Ints, hits: Ints, budget: int, alive: int, degree: Ints, order: Ints, taken: Ints,
    stamp: int, limits: Ints, kept: Ints,
) -> bool:  # fmt: skip
    """Whether `budget` deletions are too few for the rows without hits; `degree` counts these."""
    best = np.zeros(budget, np.int64)  # the largest degrees of values, ascending
    own = np.zeros(budget, np.int64)
    for column in range(rows.shape[1]):
        room = min(limits[column], budget)
        if not room:
            continue
        own[:] = 0
        for i in range(len(rows)):
            value = rows[i, column]
            if hits[i] == 0 and taken[value] != stamp:
                taken[value] = stamp
                if kept[value] == 0 and degree[value] > own[0]:
                    own[0] = degree[value]
                    own[:room].sort()
        for at in range(room):
            if own[at] > best[0]:
                best[0] = own[at]
                best.sort()
    if best.sum() < alive:
        return True
    size = 0
    for i in order:
        if hits[i] == 0:
            free = True
            for value in rows[i]:
                free = free and taken[value] != stamp + 1
            if free:
                for value in rows[i]:
                    taken[value] = stamp + 1
                size += 1
                if size > budget:
                    return True
    return False


@compiled
def covered(rows: Ints, values: int, least: int, limits: Ints, most_steps: int) -> int:
    """DELETED if `least - 1` values delete all rows, DIVERSE if they never do."""
    n, m = rows.shape
    budget = least - 1
    hits = np.zeros(n, np.int64)  # deleted values of each row
    degree = np.zeros(values, np.int64)  # rows without hits that contain the value
    kept = np.zeros(values, np.int64)  # values whose deletion has been tried already
    taken = np.full(values, -1, np.int64)
    room = limits.copy()
    weight = np.zeros(n, np.int64)
    for i in range(n):
        for value in rows[i]:
            degree[value] += 1
    for i in range(n):
        for value in rows[i]:
            weight[i] += degree[value]
    order = np.argsort(weight, kind="mergesort")
    branch = np.zeros(budget + 1, np.int64)  # the row that each depth branches on
    column = np.zeros(budget + 1, np.int64)  # the column that each depth tries
    tried = np.zeros((budget + 1, m), np.bool_)
    alive, depth, steps = n, 0, 0
    while True:
        # A new node: the values deleted so far are rows[branch[d], column[d]] for d < depth.
        if alive == 0:
            return DELETED
        steps += 1
        if steps > most_steps:
            return UNDECIDED
        going = depth < budget and not _hopeless(
            rows, hits, budget - depth, alive, degree, order, taken, 2 * steps, room, kept
        )
        if going:
            chosen, fewest, heaviest = -1, m + 1, -1
            for i in range(n):
                if hits[i] == 0:
                    open_values, total = 0, 0
                    for c in range(m):
                        open_values += kept[rows[i, c]] == 0 and room[c] > 0
                        total += degree[rows[i, c]]
                    if open_values < fewest or (open_values == fewest and total > heaviest):
                        chosen, fewest, heaviest = i, open_values, total
            branch[depth], column[depth] = chosen, -1
            tried[depth] = False
        else:
            depth -= 1
        while depth >= 0:
            row = rows[branch[depth]]
            if column[depth] >= 0:  # takes back the deletion that did not lead anywhere
                c = column[depth]
                value = row[c]
                for i in range(n):
                    if rows[i, c] == value:
                        hits[i] -= 1
                        if hits[i] == 0:
                            alive += 1
                            for other in rows[i]:
                                degree[other] += 1
                room[c] += 1
                kept[value] += 1
            best = -1
            for c in range(m):
                usable = not tried[depth, c] and kept[row[c]] == 0 and room[c] > 0
                if usable and (best < 0 or degree[row[c]] > degree[row[best]]):
                    best = c
            if best >= 0:
                column[depth] = best
                tried[depth, best] = True
                value = row[best]
                for i in range(n):
                    if rows[i, best] == value:
                        if hits[i] == 0:
                            alive -= 1
                            for other in rows[i]:
                                degree[other] -= 1
                        hits[i] += 1
                room[best] -= 1
                depth += 1
                break
            for c in range(m):
                if tried[depth, c]:
                    kept[row[c]] -= 1
            depth -= 1
        if depth < 0:
            return DIVERSE


@compiled
def diverse_tuples(
    numbers: Array, tuples: Ints, values: int, least: int, limits: Ints, most_steps: int,
    seen: Ints, mark: int,
) -> bool:  # fmt: skip
    """Whether the group of records with these tuple numbers needs `least` deletions.

    `seen` has a place for each tuple and no `mark` in it.
    """
    found = np.empty(min(len(numbers), len(tuples)), np.int64)
    used = 0
    for number in numbers:
        if seen[number] != mark:
            seen[number] = mark
            found[used] = number
            used += 1
    rows = tuples[np.sort(found[:used])]
    if used == 0 or packed(rows, np.array([0, used]), least, values)[0]:
        return True
    answer: int = decided(rows, values, least, limits, most_steps)
    return answer == DIVERSE


@compiled
def decided(rows: Ints, values: int, least: int, limits: Ints, most_steps: int) -> int:
    """DIVERSE, DELETED or UNDECIDED for one group of different rows, by exact search."""
    n, m = rows.shape
    for c in range(m):
        if limits[c] < least - 1:
            continue
        different = 0
        flags = np.zeros(values, np.bool_)
        for i in range(n):
            different += not flags[rows[i, c]]
            flags[rows[i, c]] = True
        if different < least:
            return DELETED
    if m == 2 and limits.min() >= least - 1:
        return DIVERSE if matched(rows, values, least) else DELETED
    found: int = covered(rows, values, least, limits, most_steps)
    return found
