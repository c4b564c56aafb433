"""What one more column in a qid costs: the curse of dimensionality, measured.

Aggarwal, "On k-anonymity and the curse of dimensionality" (VLDB 2005), in the textbook chapter
section 20.3.4. For the first d columns of a qid, Mondrian makes a release with groups of k; the
number of groups and the mean normalised width of the values show what each further column costs the
others.

Guarantee: what is shown is a release that satisfies k. Cost: one run of Mondrian for each d.
Errata: none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from coterie.anonymity.algorithms.mondrian import Options, mondrian
from coterie.anonymity.specialization.specialize import Requirement
from coterie.anonymity.table.groups import group_numbers
from coterie.anonymity.table.table import Table


@dataclass(frozen=True)
class Step:
    """A release by the columns up to `column`: its groups, and the mean normalised width of values."""

    column: str
    groups: int
    width: float


def costs(table: Table, qid: Sequence[str], k: int, options: Options | None = None) -> list[Step]:
    """One step for each column of the qid, in its order."""
    found = []
    for number in range(1, len(qid) + 1):
        names = tuple(qid[:number])
        part = Table(tuple(table.column(name) for name in names))
        answer = mondrian(part, [Requirement(names, k)], 0, options)
        shown = [answer.columns[name].codes for name in names]
        groups = int(np.max(group_numbers(shown), initial=-1)) + 1
        found.append(Step(names[-1], groups, answer.utility().normalised_width))
    return found
