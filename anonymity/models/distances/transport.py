"""The least cost of carrying what some places have too much to those that have too little.

It is the linear programme

    minimise  sum f_ij d_ij   subject to   gap_i - sum_j f_ij + sum_j f_ji = 0,   f >= 0

solved without a solver: what is carried over a way with a stop costs the sum, so that costs are
first replaced by those of the cheapest way (`cheapest_ways`); then no stop is needed, and the least
cost is found by carrying along the cheapest way that still improves (successive shortest paths,
Busacker and Gowen 1961), which ends at the optimum. Gaps are whole numbers and stay whole.

Cost: a search over all pairs for each way used, about as many as there are places.
"""

from __future__ import annotations

import numpy as np

from coterie.base.arrays import Floats, Ints
from coterie.base.compiled import compiled

_EQUAL = 1e-12  # costs that differ by less are taken to be equal, as a share of the largest


def cheapest_ways(costs: Floats) -> Floats:
    """The cost between any two places, with stops at others where that is cheaper."""
    found = costs.copy()
    for middle in range(len(found)):
        found = np.minimum(found, found[:, middle, None] + found[None, middle, :])
    return found


@compiled
def least_work(gaps: Ints, costs: Floats) -> Floats:
    """For each row of gaps, which add up to 0, the least cost to level them."""
    work = np.zeros(len(gaps))
    for row in range(len(gaps)):
        work[row] = _least(gaps[row].copy(), costs)
    return work


@compiled
def _least(gap: Ints, costs: Floats) -> float:
    n = len(gap)
    flow = np.zeros((n, n), np.int64)
    distance, before = np.empty(n), np.empty(n, np.int64)
    slack = _EQUAL * max(costs.max(), 1e-300) if n else 0.0
    while True:
        left = False
        for i in range(n):
            distance[i] = 0.0 if gap[i] > 0 else np.inf
            before[i] = -1
            left = left or gap[i] > 0
        if not left:
            break
        changed = True
        while changed:  # Bellman and Ford: ways forward, and back over what was carried
            changed = False
            for i in range(n):
                if distance[i] == np.inf:
                    continue
                for j in range(n):
                    step = -costs[j, i] if flow[j, i] > 0 else costs[i, j]
                    if distance[i] + step < distance[j] - slack:
                        distance[j] = distance[i] + step
                        before[j] = i
                        changed = True
        goal = -1
        for j in range(n):
            if gap[j] < 0 and (goal < 0 or distance[j] < distance[goal]):
                goal = j
        amount, j = -gap[goal], goal
        while before[j] >= 0:
            if flow[j, before[j]] > 0:
                amount = min(amount, flow[j, before[j]])
            j = before[j]
        amount = min(amount, gap[j])
        gap[j] -= amount
        gap[goal] += amount
        j = goal
        while before[j] >= 0:
            i = before[j]
            if flow[j, i] > 0:
                flow[j, i] -= amount
            else:
                flow[i, j] += amount
            j = i
    total = 0.0
    for i in range(n):
        for j in range(n):
            total += flow[i, j] * costs[i, j]
    return total
