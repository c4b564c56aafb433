"""A specialization that begins below the topmost values because of bounds on generalization.

Miller, Campan, Truta, "Constrained k-anonymity: privacy with generalization boundaries" (P3DM
2008). `at_most` marks values of a taxonomy; nothing is shown more generally than the deepest mark
above it. Top-down specialization recodes whole columns, so it begins at the coarsest cut of the
taxonomy in which no value has a mark below it. A leaf without a mark beside one with a mark then
begins below the root, since a cut has every leaf under exactly one value. The steps to this cut are
done whether or not they help the class, and do not win a round: they are required, not chosen.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from coterie.anonymity.specialization import kernels
from coterie.anonymity.specialization.specialize import Instruction, InvalidError, Specializer
from coterie.anonymity.table.taxonomy import Taxonomy
from coterie.base.arrays import Array


def start_nodes(taxonomy: Taxonomy, marks: Sequence[str]) -> tuple[list[int], list[int]]:
    """The values to specialize first, parents first; and the values of the cut after that."""
    if not marks:
        return [], [0]
    names = set(marks)
    marked = [label in names for label in taxonomy.labels]
    below = [False] * len(marked)  # whether a mark is below the node
    for node in reversed(range(len(marked))):  # children have larger numbers
        below[node] = any(marked[child] or below[child] for child in taxonomy.children[node])
    above, cut = [], []
    nodes = [0]
    for node in nodes:  # the list grows while it is read
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
    """A `Specializer` whose first steps (`forced`, `follow`) lead to the cut that the bounds set."""

    _starting = True

    @property
    def needed_classes(self) -> int:
        """No class is needed for steps that the bounds require."""
        return 0 if self._starting else super().needed_classes

    def steps(self, nodes: Mapping[str, Sequence[int]]) -> Iterator[tuple[int, int]]:
        """The attribute and the value of every step that records make necessary, in order.

        A value without records is only removed from the cut.
        """
        for attribute, name in enumerate(self.names):
            for node in nodes.get(name, ()):
                if len(self.partitions.link(attribute, node)):
                    yield attribute, node
                else:
                    self.specialized[attribute].add(node)

    def forced(self, attribute: int, node: int) -> Instruction:
        """The step for one of this party's columns; its score is 0, since it wins no round.

        Raises `InvalidError` if it makes a group too small, before anybody has been told the step.
        """
        column = self.columns[attribute]
        assert column is not None  # noqa: S101
        candidate = self._candidate(attribute, node, 0, column)
        assert candidate is not None  # noqa: S101
        candidate.score = 0
        self.count(candidate)
        for j in self.binding[attribute]:
            _, after, _ = self.partitions.groups[j].counts(candidate.leaves, candidate.counts)
            if kernels.smallest_positive(after) < self.requirements[j].k:
                raise InvalidError("a group that the bounds begin at is too small")
        return self.instruction(candidate)

    def follow(self, instruction: Instruction) -> None:
        """Follows a step, this party's own or another's."""
        self.apply(instruction)
        self.winners.pop()

    def begun(self) -> None:
        """Ends the first steps: the values of the cut become candidates."""
        self._starting = False
        self.try_all()
