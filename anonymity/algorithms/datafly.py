"""Datafly: makes a table k-anonymous by generalizing whole columns, one level at a time.

Sweeney, "Achieving k-anonymity privacy protection using generalization and suppression" (2002). As
long as the requirements are violated, the column with the most distinct values is generalized by
one level in all records (ties: the first column). The topmost level of every column is a single
value, so the algorithm always ends. Records in groups that are still too small may be suppressed
within a limit, so that it ends earlier.

Guarantee: the requirements hold. The algorithm is quick and greedy: neither the levels nor the loss
are minimal. Cost: one grouping of the records in each step; in small lattices also the counts of all
satisfying and minimal vectors, which tell how far from the best the levels are.

`datafly` is also the local step of `protocols.integration.dka`; it does not use class labels.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from coterie.anonymity.algorithms.anonymized import Anonymized
from coterie.anonymity.algorithms.incognito import counted_where_cheap
from coterie.anonymity.algorithms.lattice import Lattice, released_at, task_of
from coterie.anonymity.specialization.specialize import Requirement
from coterie.anonymity.table.levels import Ladder, groups
from coterie.anonymity.table.table import Table
from coterie.base.distinct import distinct


def raised(ladders: Sequence[Ladder], levels: Sequence[int]) -> tuple[int, ...] | None:
    """The levels after one step of generalization; None when all columns are at the top."""
    different = [
        len(distinct(column.at(level))) if level + 1 < len(column.levels) else 0
        for column, level in zip(ladders, levels, strict=True)
    ]
    if not any(different):
        return None
    widest = int(np.argmax(different))
    return tuple(level + (i == widest) for i, level in enumerate(levels))


def datafly(ladders: Sequence[Ladder], k: int) -> tuple[int, ...]:
    """The levels at which every group has at least k records."""
    levels: tuple[int, ...] | None = (0,) * len(ladders)
    while levels is not None:
        if np.bincount(groups(ladders, levels)).min(initial=k) >= k:
            return levels
        levels = raised(ladders, levels)
    raise ValueError(f"the table has fewer than k = {k} records")


def datafly_table(
    table: Table, requirements: Sequence[Requirement], most_suppressed: int = 0
) -> Anonymized:
    """Datafly with any requirements; a column is raised only while one of its own is violated."""
    task = task_of(table, requirements, most_suppressed)
    lattice = Lattice(task.rest, task.names)
    parts = [Lattice(task.rest, condition.attributes) for condition in task.conditions]
    node: tuple[int, ...] = (0,) * len(lattice.names)
    while True:
        level_of = dict(zip(lattice.names, node, strict=True))
        wanting: set[str] = set()
        for condition, part in zip(task.conditions, parts, strict=True):
            own = [level_of[name] for name in part.names]
            if not part.satisfies(own, condition, task.most):
                wanting |= set(part.names)
        if not wanting:
            details = {**counted_where_cheap(task, lattice), "height": sum(node)}
            return released_at("datafly", task, lattice, node, details)
        chosen = [own for own in lattice.ladders if own.name in wanting]
        above = raised(chosen, [level_of[own.name] for own in chosen])
        if above is None:  # impossible: the topmost table satisfies every requirement
            raise AssertionError("the topmost table violates a requirement")
        level_of |= dict(zip([own.name for own in chosen], above, strict=True))
        node = tuple(level_of[name] for name in lattice.names)
