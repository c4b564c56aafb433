"""The distances of t-closeness once more, group by group, for `verify`.

Nothing is shared with the models. The divergence is summed with Python's logarithm. The distance over
a taxonomy is the paper's closed form, from the leaves to the root, in fractions. With given costs a
plan that is merely feasible is improved as long as some cycle of changes makes it cheaper (Klein
1967).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from coterie.anonymity.models.distances.divergence import DivergenceCloseness
from coterie.anonymity.models.distances.given_costs import CostCloseness
from coterie.anonymity.models.distances.over_taxonomy import TaxonomyCloseness
from coterie.anonymity.models.model import Counts, Measures, Model
from coterie.anonymity.table.taxonomy import Taxonomy

_ROUNDING = 2.0**-30


def distances_again(
    model: Model, values: Sequence[str], counts: Counts, overall: Counts
) -> tuple[Measures, list[bool]] | None:
    """The distance of each group, and whether it is at most t; None for other models."""
    table = overall.tolist()
    found: list[float] = []
    if isinstance(model, DivergenceCloseness):
        found = [divergence(group, table) for group in counts.tolist()]
    elif isinstance(model, TaxonomyCloseness) and model.taxonomy is not None:
        exact = [over_tree(model.taxonomy, values, group, table) for group in counts.tolist()]
        # The decimal of the file is compared with the fraction as floats, as everywhere.
        return np.array([float(d) for d in exact]), [float(d) <= model.t for d in exact]
    elif isinstance(model, CostCloseness):
        cost = dict(zip(model.costs.values, model.costs.table, strict=True))
        place = {value: at for at, value in enumerate(model.costs.values)}
        direct = [[cost[v][place[w]] for w in model.costs.values] for v in model.costs.values]
        at = [place[value] for value in values]
        found = [carried(_spread(group, at, direct), _spread(table, at, direct), direct)
                 for group in counts.tolist()]  # fmt: skip
    else:
        return None
    return np.array(found), [d <= model.t + _ROUNDING for d in found]


def divergence(group: Sequence[int], table: Sequence[int]) -> float:
    n, total = sum(group), sum(table)
    return sum(
        c / n * math.log(c * total / (n * o)) for c, o in zip(group, table, strict=True) if c
    )


def over_tree(
    taxonomy: Taxonomy, values: Sequence[str], group: Sequence[int], table: Sequence[int]
) -> Fraction:
    """Li et al.: at every node what has to cross it between its children, times its height."""
    n, total = sum(group), sum(table)
    own = {v: Fraction(c, n) - Fraction(o, total)
           for v, c, o in zip(values, group, table, strict=True)}  # fmt: skip
    work = Fraction(0)

    def visit(node: int) -> tuple[Fraction, int]:
        """What the values below a node have too much, and the node's height."""
        nonlocal work
        if not taxonomy.children[node]:
            return own.get(taxonomy.labels[node], Fraction(0)), 0
        below = [visit(child) for child in taxonomy.children[node]]
        height = 1 + max(h for _, h in below)
        over = sum((extra for extra, _ in below if extra > 0), Fraction(0))
        under = -sum((extra for extra, _ in below if extra < 0), Fraction(0))
        work += height * min(over, under)
        return over - under, height

    _, height = visit(0)
    return work / max(height, 1)


def _spread(
    counts: Sequence[int], at: Sequence[int], costs: Sequence[Sequence[float]]
) -> list[int]:
    """Counts with a place for every value that has costs."""
    found = [0] * len(costs)
    for place, count in zip(at, counts, strict=True):
        found[place] = count
    return found


def carried(group: Sequence[int], table: Sequence[int], costs: Sequence[Sequence[float]]) -> float:
    """The least mean cost, with stops at any value where that is cheaper."""
    n, total = sum(group), sum(table)
    gap = [c * total - o * n for c, o in zip(group, table, strict=True)]
    size = len(gap)
    flow = [[0] * size for _ in range(size)]
    for i in range(size):  # any plan: each surplus goes to the first places that lack something
        for j in range(size):
            if gap[i] > 0 > gap[j]:
                amount = min(gap[i], -gap[j])
                flow[i][j] += amount
                gap[i] -= amount
                gap[j] += amount
    while cycle := _cheaper(flow, costs):
        back = [(i, j) for i, j in cycle if flow[j][i] > 0]
        amount = min((flow[j][i] for i, j in back), default=0)
        for i, j in cycle:
            if (i, j) in back:
                flow[j][i] -= amount
            else:
                flow[i][j] += amount
    work = sum(f * c for row, line in zip(flow, costs, strict=True)
               for f, c in zip(row, line, strict=True))  # fmt: skip
    return work / (n * total)


def _cheaper(
    flow: Sequence[Sequence[int]], costs: Sequence[Sequence[float]]
) -> list[tuple[int, int]]:
    """A cycle of changes that lowers the cost, as steps; empty if there is none."""
    size = len(costs)
    distance, before = [0.0] * size, [-1] * size
    last = -1
    for _ in range(size):
        last = -1
        for i in range(size):
            for j in range(size):
                step = -costs[j][i] if flow[j][i] > 0 else costs[i][j]
                if distance[i] + step < distance[j] - 1e-12 * max(1.0, abs(distance[j])):
                    distance[j], before[j], last = distance[i] + step, i, j
        if last < 0:
            return []
    for _ in range(size):  # back into the cycle
        last = before[last]
    cycle, at = [], last
    while True:
        cycle.append((before[at], at))
        at = before[at]
        if at == last:
            return cycle
