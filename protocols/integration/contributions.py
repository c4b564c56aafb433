"""Contributions: what the winner's instruction is worth to the other parties, for their ledgers.

Paper 1, §6: a party's contribution is the sum of the scores of its specializations. The winner of a
round records its contribution before it sends the instruction; a receiver records it after it has
checked the score. So a party that receives an instruction and leaves owes for it, and a party that
is killed at any moment has recorded everything that it may have sent.

With `conditions: holder` the holder of a sensitive column sees an instruction before it may reject
it (`proposal`). Such an instruction is a contribution to this holder alone until all accept it. A
rejected one remains the holder's debt in the ledger of the proposer only, since no other party can
recompute the score of an instruction that it has not seen.

Messages: none.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from coterie.anonymity.specialization.generalized import GeneralizedTable, Instruction


@dataclass(frozen=True)
class Contribution:
    """An instruction that `giver` sends to the parties in `to`, worth a score (times 2^30).

    `mark` is equal if an equal instruction is sent again in another run of the same job: receiving
    it twice reveals no more than receiving it once.
    """

    giver: str
    to: tuple[str, ...]
    score: int
    mark: str
    proposal: bool = False


RecordContribution: TypeAlias = Callable[[Contribution], None]


def record_nothing(contribution: Contribution) -> None:
    """The hook for runs without a ledger."""


def mark_of(table: GeneralizedTable, instruction: Instruction) -> str:
    """A hash of the specialization, its number of records and its score, not of the records' order."""
    parts = (
        table.names[instruction.attribute],
        instruction.node,
        instruction.split,
        instruction.score,
        len(instruction.children),
    )
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:32]
