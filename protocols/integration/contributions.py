"""What an instruction gives to the others, for each party to book.

The winner of a round books its contribution before it sends the instruction, a receiver books it when it has
checked the score. So whoever takes an instruction and leaves owes for it, and a party that is killed
at any moment has in its books whatever it may have sent.

The holder of a sensitive column sees an instruction before it may reject it (`proposal`). That is a
contribution to this holder alone until all accept it; a rejected one stays its debt, in the books of the
proposer only, since nobody else can recompute the score of what it has not seen.

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
    """What `giver` tells the parties in `to`, worth a score (times 2^30).

    `mark` is equal when an equal instruction is given again, in another run of the same job: to hear
    it twice tells no more than to hear it once.
    """

    giver: str
    to: tuple[str, ...]
    score: int
    mark: str
    proposal: bool = False


RecordContribution: TypeAlias = Callable[[Contribution], None]


def record_nothing(contribution: Contribution) -> None:
    """For runs in which nobody keeps books."""


def mark_of(table: GeneralizedTable, instruction: Instruction) -> str:
    """Which specialization it is, of how many records and with which score, whatever their order."""
    parts = (
        table.names[instruction.attribute],
        instruction.node,
        instruction.split,
        instruction.score,
        len(instruction.children),
    )
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:32]
