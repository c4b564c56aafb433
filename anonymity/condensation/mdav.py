"""Groups of at least k records that lie close together: maximum distance to average vector.

Paper: Domingo-Ferrer and Mateo-Sanz, Practical data-oriented microaggregation (2002), in the form
that goes by the name MDAV; the chapter (paper 3, 20.3.1.4) allows any clustering into groups of at
least k, and this one is better than random seeds and gives the same groups every time.

Method: of the records that are left, r is the one farthest from their mean and s the one farthest
from r; r and the k - 1 records nearest to r are a group, then s and the k - 1 nearest to s. With
fewer than 3k records left there is one such group more, and with fewer than 2k the rest is a group.

Guarantee: every group has k to 2k - 1 records. Cost: n² d / k, since every group takes a pass over
the records that are left.
"""

from __future__ import annotations

import numpy as np

from coterie.base.arrays import Floats, Ints
from coterie.base.compiled import compiled


@compiled
def _distances(points: Floats, left: Ints, centre: Floats) -> Floats:
    """The squared distances of the records `left` from a point."""
    found = np.empty(len(left), np.float64)
    for i in range(len(left)):
        total = 0.0
        for j in range(points.shape[1]):
            gap = points[left[i], j] - centre[j]
            total += gap * gap
        found[i] = total
    return found


def mdav(points: Floats, k: int) -> Ints:
    """The number of each record's group; all columns of `points` have the same weight."""
    points = np.ascontiguousarray(points, np.float64)
    groups = np.zeros(len(points), np.int64)
    left, number = np.arange(len(points)), 0
    total = points.sum(axis=0)

    def take(centre: Floats) -> None:
        """Makes a group of the k records nearest to a point."""
        nonlocal left, number, total
        away = _distances(points, left, centre)
        chosen = np.zeros(len(left), bool)
        chosen[np.argpartition(away, k - 1)[:k]] = True
        members = left[chosen]
        groups[members] = number
        total = total - points[members].sum(axis=0)
        left, number = left[~chosen], number + 1

    while len(left) >= 2 * k:
        first = points[left[_distances(points, left, total / len(left)).argmax()]]
        if len(left) < 3 * k:
            take(first)
            break
        second = points[left[_distances(points, left, first).argmax()]]
        take(first)
        take(second)
    groups[left] = number
    return groups
