"""A specialization that begins below the topmost values, where bounds on generalization say so.

Miller, Campan, Truta, "Constrained k-anonymity: privacy with generalization boundaries" (P3DM 2008).
`at_most` marks values of a taxonomy; nothing is shown more generally than the deepest mark above it.
Top-down specialization recodes whole columns, so it begins at the coarsest cut of the taxonomy in
which no value has a mark below it. A leaf without a mark beside one with a mark then begins below
the root, since a cut has every leaf under one value. What leads to this cut is done whether or not it
helps the class, and is no winner of any round: it is asked for, not chosen.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from coterie.anonymity.specialization.specialize import Instruction, Specializer
from coterie.anonymity.table.taxonomy import Taxonomy
from coterie.base.arrays import Array


def start_nodes(taxonomy: Taxonomy, marks: Sequence[str]) -> tuple[list[int], list[int]]:
    """The values to specialize first, parents first; and those that stand in the cut then."""
    marked = np.array([label in set(marks) for label in taxonomy.labels])
    below = np.zeros(len(marked), bool)  # whether a mark lies below the node
    for node in reversed(range(len(marked))):  # children have larger numbers
        below[node] = any(marked[child] or below[child] for child in taxonomy.children[node])
    above, cut = [], []
    nodes = [0]
    for node in nodes:  # grows as it is walked
        if below[node]:
            above.append(node)
            nodes.extend(taxonomy.children[node])
        else:
            cut.append(node)
    return above, sorted(cut, key=lambda node: taxonomy.first[node])


def start_codes(taxonomy: Taxonomy, cut: Sequence[int], codes: Array) -> Array:
    """Per record the number of its value in the cut that a specialization begins at."""
    ends = np.array([taxonomy.last[node] for node in cut], np.int64)
    return np.searchsorted(ends, codes, "right").astype(np.int64)


class StartedSpecializer(Specializer):
    """`forced` and `follow` lead to where the bounds let it begin; `begun` ends that."""

    _starting = True

    @property
    def needed_classes(self) -> int:
        """What the bounds ask for is done whether or not it helps the class."""
        return 0 if self._starting else super().needed_classes

    def steps(self, nodes: Mapping[str, Sequence[int]]) -> Iterator[tuple[int, int]]:
        """The attribute and the value of every step that records make necessary, in order.

        A value that no record has is only taken out of the cut.
        """
        for attribute, name in enumerate(self.names):
            for node in nodes.get(name, ()):
                if len(self.partitions.link(attribute, node)):
                    yield attribute, node
                else:
                    self.specialized[attribute].add(node)

    def forced(self, attribute: int, node: int) -> Instruction:
        """The step of a column at hand; its score is 0, since it won nothing."""
        column = self.columns[attribute]
        assert column is not None  # noqa: S101
        candidate = self._candidate(attribute, node, 0, column)
        assert candidate is not None  # noqa: S101
        candidate.score = 0
        return self.instruction(candidate)

    def follow(self, instruction: Instruction) -> None:
        """Carries out a step, one's own or another's."""
        self.apply(instruction)
        self.winners.pop()

    def begun(self) -> None:
        """The values of the cut become candidates."""
        self._starting = False
        self._heap = []
        for attribute in range(len(self.names)):
            self._add(attribute, self.cut_nodes(attribute))
