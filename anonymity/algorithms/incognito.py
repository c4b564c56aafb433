"""Incognito: every full-domain recoding that satisfies the requirements, and the best of them.

LeFevre, DeWitt, Ramakrishnan, "Incognito: efficient full-domain k-anonymity" (SIGMOD 2005).

All level vectors are found that satisfy every requirement, so any cost can be minimised: the
non-uniform entropy loss (the default), precision, or discernibility. Ties go to the first vector in
order. Two properties spare most of the work: what a set of attributes violates at some levels, any
larger set violates at the same ones (here asked of the first attributes of a vector, the rest at the
top, on the way down the walk), and what satisfies is inherited upwards. The walk rolls every node's
groups up from a finer node's, so its cost is the number of groups, not of records.

Guarantee: sound and complete, for k with suppression and for every monotone model without. The answer
is optimal among full-domain recodings; a local recoding usually loses less.

Errata. The paper prunes by projections that are not among the satisfying ones; the textbook's words
("whose generalizations are not k-anonymous") say something else. That a generalization need not be
checked holds within one set of attributes only.

Cost: a product of levels; beyond a million nodes the method refuses and names others.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from coterie.anonymity.algorithms.anonymized import Anonymized
from coterie.anonymity.algorithms.conditions import Condition
from coterie.anonymity.algorithms.lattice import Lattice, Task, Walked, released_at, task_of
from coterie.anonymity.specialization.specialize import Requirement
from coterie.anonymity.table.table import Table
from coterie.base.arrays import Array
from coterie.base.errors import DataError

MOST_NODES = 1_000_000
_SCALE = float(2**30)


def incognito(
    table: Table,
    requirements: Sequence[Requirement],
    most_suppressed: int = 0,
    cost: str = "entropy",
) -> Anonymized:
    """The full-domain recoding of least cost among all that satisfy the requirements."""
    task = task_of(table, requirements, most_suppressed)
    lattice = Lattice(task.rest, task.names)
    if lattice.nodes > MOST_NODES:
        raise DataError(
            f"the lattice of {', '.join(task.names)} has {lattice.nodes:,} nodes, more than "
            f"{MOST_NODES:,}; take samarati or mondrian, or fewer levels"
        )
    satisfying, walked = _search(task, lattice, cost)
    if not satisfying.any():
        raise DataError("no levels of whole columns satisfy the requirement")
    charges = walked.discernibility if cost == "discernibility" else walked.charged / table.records
    scores = np.where(satisfying, np.rint(charges * _SCALE), np.inf)
    node = np.unravel_index(int(np.argmin(scores)), lattice.shape)
    heights = np.indices(lattice.shape).sum(axis=0)
    details = {
        "satisfying": int(satisfying.sum()),
        "minimal": int(minimal(satisfying).sum()),
        "least_height": int(heights[satisfying].min()),
    }
    return released_at("incognito", task, lattice, [int(level) for level in node], details)


def _search(task: Task, lattice: Lattice, cost: str) -> tuple[Array, Walked]:
    """Which nodes satisfy every condition, and what each costs."""
    charge = "height" if cost == "precision" else "entropy"
    if len(task.conditions) == 1:
        condition = task.conditions[0]
        walked = lattice.walk(condition.k, task.most, charge)
        return _with_models(lattice, condition, walked.suppressed >= 0), walked
    satisfying: Array = np.ones(lattice.shape, bool)
    for condition in task.conditions:
        part = Lattice(task.rest, condition.attributes)
        found = _with_models(part, condition, part.walk(condition.k, 0, charge).suppressed >= 0)
        shape = [
            len(own.levels) if own.name in condition.attributes else 1 for own in lattice.ladders
        ]
        satisfying &= found.reshape(shape)
    return satisfying, lattice.walk(1, 0, charge)


def _with_models(lattice: Lattice, condition: Condition, satisfying: Array) -> Array:
    """Of the nodes with k records a group, those that the models hold at; from below upwards."""
    if not condition.models:
        return satisfying
    holds = np.zeros_like(satisfying)
    nodes = np.argwhere(satisfying)
    for node in nodes[np.argsort(nodes.sum(axis=1), kind="stable")]:
        if not holds[tuple(node)] and lattice.satisfies(node.tolist(), condition, 0):
            holds[tuple(slice(level, None) for level in node)] = True
    return holds & satisfying


def minimal(satisfying: Array) -> Array:
    """The nodes below which nothing satisfies."""
    found = satisfying.copy()
    for axis in range(satisfying.ndim):
        upper = [slice(None)] * satisfying.ndim
        lower = [slice(None)] * satisfying.ndim
        upper[axis], lower[axis] = slice(1, None), slice(None, -1)
        found[tuple(upper)] &= ~satisfying[tuple(lower)]
    return found
