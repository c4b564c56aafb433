"""How a party behaves in an integrate job, by the keys adversary, epsilon and hide_scores."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from coterie.jobs.kinds.integrate.job import IntegrateJob
from coterie.protocols.integration.hidden_winner import HiddenWinner
from coterie.protocols.integration.participation import Strategy
from coterie.protocols.integration.rounds import Confirm, TakesPart, always
from coterie.protocols.integration.scores import FindWinner, announce_scores
from coterie.protocols.primitives.randomness import Random

RESISTS = (
    "'adversary: malicious' resists a partner that takes and does not give, and names one that "
    "declares a false score or instructs what the rules do not permit; it does not resist false data, "
    "wrong shares, or partners that conspire"
)


@dataclass
class Behaviour:
    """The hooks of `protocols.integration.integrate`, and the contributions at their last call."""

    find_winner: FindWinner = announce_scores
    decide: TakesPart = always
    confirm: Confirm | None = None
    contributions: dict[str, int] = field(default_factory=dict)
    round_by_round: bool = False  # even if several rounds could be run as one turn

    def takes_part(self, me: str, contributions: Mapping[str, int]) -> bool:
        self.contributions = dict(contributions)
        return self.decide(me, contributions)

    @property
    def hooks(self) -> dict[str, Any]:
        return {
            "find_winner": self.find_winner,
            "takes_part": self.takes_part,
            "confirm": self.confirm,
        }


# The behaviour of one party of a job; a simulation of deviating parties passes its own.
BehaviourOf: TypeAlias = Callable[[IntegrateJob, str, Random], Behaviour]


def honest_behaviour(job: IntegrateJob, party: str, rng: Random) -> Behaviour:
    """The behaviour of a party that follows the job."""
    hidden: HiddenWinner | None = None
    if job.hide_scores:
        count = sum(attribute.in_qid for attribute in job.attributes)
        rejectable = bool(job.sensitive_holders) or job.universe is not None
        hidden = HiddenWinner(rng.fork("hidden winner"), count, rejectable)
    if job.adversary == "malicious":
        strategy = Strategy(job.epsilon, hidden)
        return Behaviour(strategy.find_winner, strategy.takes_part, strategy.confirm)
    return Behaviour(hidden or announce_scores)
