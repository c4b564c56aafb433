"""Where a slightly smaller k would permit a whole column to be shown.

The top-down specialization (Fung, Wang, Yu 2005; paper 1 §7 on Adult) never takes a step back. A
column whose first specialization would leave a group of 199 records is refused at k = 200 for good,
and is not shown at all. The specialization is run as it is, and for every column that stays at its
topmost value the smallest group is kept that its first refused specialization would have left: with
that k it would have been permitted there.

Guarantee: with the k named, everything else equal, this step is not refused for k. Whether the
release is better on the whole, only a run tells. Cost: one run of the specialization. Errata: none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from coterie.anonymity.specialization import kernels
from coterie.anonymity.specialization.specialize import Candidate, Requirement, Specializer
from coterie.anonymity.table.table import Table


@dataclass(frozen=True)
class Cliff:
    """A column that is not shown at all, and the k that would have permitted its first step."""

    attribute: str
    permitted: int
    k: int


class _Watched(Specializer):
    """Remembers, for each topmost value, the smallest group when it was refused."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.refused: dict[int, tuple[int, int]] = {}

    def on_refusal(self, candidate: Candidate) -> None:
        if candidate.node != 0 or candidate.attribute in self.refused:
            return
        smallest = {}
        for j in self.concerning[candidate.attribute]:
            groups = self.partitions.groups[j]
            _, counts, _ = groups.counts(candidate.leaves, candidate.counts)
            smallest[j] = int(kernels.smallest_positive(counts))
        worst = max(smallest, key=lambda j: self.requirements[j].k - smallest[j])
        self.refused[candidate.attribute] = smallest[worst], self.requirements[worst].k


def cliffs(
    table: Table, requirements: Sequence[Requirement], class_name: str | None, score: str
) -> list[Cliff]:
    """The columns that are not shown at all for want of a smaller k, the nearest cliff first."""
    fresh = table.take(np.arange(table.records))  # with interval trees of its own: they grow
    used = {name for requirement in requirements for name in requirement.qid}
    columns = {column.name: column for column in fresh.columns if column.name in used}
    engine = _Watched(
        {name: column.tree for name, column in columns.items()},
        columns,
        fresh.labels,
        requirements,
        fresh.records,
        class_name,
        score,
    )
    while (candidate := engine.propose()) is not None:
        engine.apply(engine.instruction(candidate))
    found = [
        Cliff(engine.names[attribute], smallest, k)
        for attribute, (smallest, k) in engine.refused.items()
        if 0 < smallest < k
    ]
    return sorted(found, key=lambda cliff: cliff.permitted / cliff.k, reverse=True)
