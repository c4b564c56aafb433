"""Incognito: every full-domain recoding that satisfies the requirements, and the best of them.

LeFevre, DeWitt, Ramakrishnan, "Incognito: efficient full-domain k-anonymity" (SIGMOD 2005).

The algorithm finds all level vectors that satisfy every requirement, so that any cost can be
minimised: the non-uniform entropy loss (the default), precision, or discernibility. Ties go to the
first vector in order. Two properties save most of the work: if a set of attributes violates a
requirement at some levels, any larger set violates it at the same levels (here tested for the first
attributes of a vector, with the rest at the top, on the way down the walk); and every vector above
a satisfying one satisfies, too. The walk rolls every node's groups up from those of a finer node,
so that its cost is the number of groups, not of records.

Guarantee: sound and complete, for k with suppression and for every monotone model without. The
answer is optimal among full-domain recodings; a local recoding usually loses less.

Errata. The paper prunes by projections that are not among the satisfying ones; the textbook's
wording ("whose generalizations are not k-anonymous") means something else. That a generalization
need not be checked holds within one set of attributes only.

Cost: the product of the numbers of levels; beyond a million nodes the method refuses and names
other methods.
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
# Datafly and Samarati also count the satisfying nodes where the lattice has at most so many nodes
# (without and with models) and at most so many groups in all nodes together.
MOST_COUNTED, MOST_MODELLED, MOST_GROUPS = 100_000, 500, 500_000_000
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
    details = counted(satisfying)
    return released_at("incognito", task, lattice, [int(level) for level in node], details)


def counted(satisfying: Array) -> dict[str, int | None]:
    """How many nodes satisfy, how many of these are minimal, and the least height of any."""
    heights = np.indices(satisfying.shape).sum(axis=0)
    return {
        "satisfying": int(satisfying.sum()),
        "minimal": int(minimal(satisfying).sum()),
        "least_height": int(heights[satisfying].min()),
    }


def counted_where_cheap(task: Task, lattice: Lattice) -> dict[str, int | None]:
    """The numbers of `counted` for a method that does not visit all nodes; None if that takes long.

    Models are judged node by node in the interpreter, so the limit on nodes is far lower with them.
    """
    modelled = any(condition.models for condition in task.conditions)
    nodes = MOST_MODELLED if modelled else MOST_COUNTED
    if lattice.nodes > nodes or lattice.nodes * lattice.rows > MOST_GROUPS:
        return {"satisfying": None, "minimal": None, "least_height": None}
    return counted(_search(task, lattice, "entropy")[0])


def _search(task: Task, lattice: Lattice, cost: str) -> tuple[Array, Walked]:
    """Which nodes satisfy every condition, and the cost of each."""
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
    """The nodes, of those with k records in each group, at which the models hold; from below up."""
    if not condition.models:
        return satisfying
    holds = np.zeros_like(satisfying)
    nodes = np.argwhere(satisfying)
    for node in nodes[np.argsort(nodes.sum(axis=1), kind="stable")]:
        if not holds[tuple(node)] and lattice.satisfies(node.tolist(), condition, 0):
            holds[tuple(slice(level, None) for level in node)] = True
    return holds & satisfying


def minimal(satisfying: Array) -> Array:
    """The satisfying nodes without a satisfying node below them."""
    found = satisfying.copy()
    for axis in range(satisfying.ndim):
        upper = [slice(None)] * satisfying.ndim
        lower = [slice(None)] * satisfying.ndim
        upper[axis], lower[axis] = slice(1, None), slice(None, -1)
        found[tuple(upper)] &= ~satisfying[tuple(lower)]
    return found
