"""The slack at a cliff: the largest smaller k at which a specialization takes a step that it refused.

Top-down specialization (Fung, Wang, Yu; paper 1 §§4 and 7) never takes a step back, so that a k of 200
may refuse what 199 permits, for good. For each entry of the requirement this module finds the largest
smaller k with which, everything else equal, the run would not be the same, and the attribute of the
first step that differs. With every k between the two the release is the same. A k below half of the
entry's is not looked at: it is no cliff, and the k that is revealed is the size of a group, which
should not be a small one.

A step is refused by an entry alone if it would break no other entry. It is refused for good when it
would have been the next one: when its score is better than that of the step that was done instead, or
when no step was left. The smallest group that it would leave in the entry is the k that permits it.
Of several refused steps with the same k the earliest comes first, and of those of one moment the one
with the best score; for with this k, that one is done, and the others perhaps not any more.

`SlackWatch` sees the run of a party's own columns. It works with k alone: where records are left out,
where a sensitive column is bounded, and where splits depend on k, a run with another k would differ in
other ways, too.
Cost: every candidate that is refused is counted once more (with scores that change, in every step).
"""

from __future__ import annotations

from dataclasses import dataclass

from coterie.anonymity.specialization import kernels
from coterie.anonymity.specialization.generalized import Instruction
from coterie.anonymity.specialization.specialize import Candidate, Specializer
from coterie.base.arrays import Array


def least_told(k: int) -> int:
    """The smallest k that is revealed for an entry: half of the entry's own, rounded up."""
    return (k + 1) // 2


@dataclass(frozen=True)
class Refused:
    """A step that an entry refused, and the k that would have permitted it."""

    permitted: int
    after: int  # the number of steps that were done before
    score: int
    attribute: int  # its place among the attributes of the QIDs, in job order
    created: int

    @property
    def urgency(self) -> tuple[int, int, int, int, int]:
        """The larger, the sooner a falling k permits the step."""
        return self.permitted, -self.after, self.score, -self.attribute, -self.created


class SlackWatch:
    """Watches the candidates of one party's columns; `nearest` has the slack of each entry."""

    def __init__(self, table: Specializer) -> None:
        self.table = table
        self.nearest: dict[int, Refused] = {}
        self._candidates: dict[tuple[int, int], Candidate | None] = {}
        self._settled: set[tuple[int, int]] = set()

    def before(self, step: Instruction | None) -> None:
        """Called before each step of the run, and with None when no step is left.

        Not called for a step in which the party takes no part: its candidates would not win it.
        """
        table = self.table
        best = None
        if step is not None:
            created = table.creation(step.attribute, step.node)
            best = (-step.score, step.attribute, created)
        for attribute, column in enumerate(table.columns):
            if column is None:
                continue
            for node in table.cut_nodes(attribute):
                if (attribute, node) in self._settled:
                    continue
                candidate = self._candidate(attribute, node)
                if candidate is None:
                    self._settled.add((attribute, node))
                    continue
                place = (-candidate.score, attribute, candidate.created)
                if best is None or place < best:
                    self._settle(candidate)

    def _candidate(self, attribute: int, node: int) -> Candidate | None:
        """The candidate with its current score; None if it is not beneficial."""
        if (attribute, node) not in self._candidates:
            self._candidates[attribute, node] = self.table.candidate(attribute, node)
        candidate = self._candidates[attribute, node]
        if candidate is not None and not self.table.scores_last:
            self.table.rescore(candidate)
        return candidate

    def _settle(self, candidate: Candidate) -> None:
        """Notes what refuses the candidate. A lasting score has its turn once; later groups are smaller."""
        table = self.table
        missed: dict[int, int] = {}
        for j in table.concerning[candidate.attribute]:
            smallest = _smallest_after(table, j, candidate)
            if smallest < table.requirements[j].k:
                missed[j] = smallest
        if not missed:
            return  # it is the step itself, or not refused at all
        if table.scores_last:
            self._settled.add((candidate.attribute, candidate.node))
        if len(missed) > 1:
            return
        ((j, smallest),) = missed.items()
        if smallest < least_told(table.requirements[j].k):
            return
        refused = Refused(
            smallest,
            len(table.winners),
            candidate.score,
            candidate.attribute,
            candidate.created,
        )
        known = self.nearest.get(j)
        if known is None or refused.urgency > known.urgency:
            self.nearest[j] = refused


def _smallest_after(table: Specializer, entry: int, candidate: Candidate) -> int:
    """The smallest group of an entry that the candidate's step would leave."""
    table.count(candidate)
    counts: Array
    _, counts, _ = table.partitions.groups[entry].counts(candidate.leaves, candidate.counts)
    return int(kernels.smallest_positive(counts))
