"""Samarati's binary search: a full-domain recoding of least height.

Samarati, "Protecting respondents' identities in microdata release" (TKDE 2001).

The height of a level vector is the sum of its levels. Since every vector above a satisfying one
satisfies, the heights can be searched by halving: if any vector of the middle height satisfies, the
least height is there or below.

Guarantee: no satisfying vector has a smaller height. Least height is not least loss: among the
satisfying vectors of that height, the result is the one with the fewest suppressed records, then
with the least mean of level over levels, then with the least discernibility, then the first in
order.

Cost: the vectors of about log2(height) layers, each counted over the distinct rows. The search visits
only these layers; the numbers of all satisfying and of all minimal vectors are also counted where the
whole lattice is small, and are None elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from coterie.anonymity.algorithms.anonymized import Anonymized
from coterie.anonymity.algorithms.incognito import counted_where_cheap
from coterie.anonymity.algorithms.lattice import Lattice, Task, released_at, task_of
from coterie.anonymity.specialization.specialize import Requirement
from coterie.anonymity.table.table import Table

Node = tuple[int, ...]


def samarati(
    table: Table, requirements: Sequence[Requirement], most_suppressed: int = 0
) -> Anonymized:
    """A full-domain recoding of least height."""
    task = task_of(table, requirements, most_suppressed)
    lattice = Lattice(task.rest, task.names)
    judge = _Judge(task, lattice)
    tops = [levels - 1 for levels in lattice.shape]
    low, high = 0, sum(tops)
    while low < high:
        middle = (low + high) // 2
        if any(judge.satisfies(node) for node in nodes_of_height(tops, middle)):
            high = middle
        else:
            low = middle + 1
    found = [node for node in nodes_of_height(tops, low) if judge.satisfies(node)]
    k = task.conditions[0].k if len(task.conditions) == 1 else 1

    def rank(node: Node) -> tuple[int, float, float, Node]:
        small, squares = lattice.suppressed_at(node, k)
        mean = sum(level / max(top, 1) for level, top in zip(node, tops, strict=True))
        return small, round(mean, 12), squares, node

    details = {
        **counted_where_cheap(task, lattice),
        "least_height": low,
        "least": len(found),
    }
    chosen: Node = min(found, key=rank)
    return released_at("samarati", task, lattice, chosen, details)


class _Judge:
    """Tests every condition on the sub-lattice of its own attributes, and caches the answers."""

    def __init__(self, task: Task, lattice: Lattice) -> None:
        self._most = task.most
        self._parts = []
        for condition in task.conditions:
            part = lattice
            if set(condition.attributes) != set(lattice.names):
                part = Lattice(task.rest, condition.attributes)
            places = [lattice.names.index(name) for name in part.names]
            self._parts.append((condition, part, places))
        self._known: dict[tuple[int, Node], bool] = {}

    def satisfies(self, node: Node) -> bool:
        for number, (condition, part, places) in enumerate(self._parts):
            own = tuple(node[place] for place in places)
            if (number, own) not in self._known:
                self._known[number, own] = part.satisfies(own, condition, self._most)
            if not self._known[number, own]:
                return False
        return True


def nodes_of_height(tops: Sequence[int], height: int) -> Iterator[Node]:
    """All level vectors of a height, in order."""
    if not tops:
        if height == 0:
            yield ()
        return
    rest = sum(tops[1:])
    for level in range(max(0, height - rest), min(tops[0], height) + 1):
        for others in nodes_of_height(tops[1:], height - level):
            yield (level, *others)
