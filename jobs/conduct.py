"""How a party behaves in an integrate job: what the keys adversary, epsilon, hide_scores ask for."""

from __future__ import annotations

from dataclasses import dataclass

from jobs.integrate_file import IntegrateJob
from protocols.hidden_winner import HiddenWinner
from protocols.integrate import Confirm, FindWinner, TakesPart, always, announce_scores
from protocols.participation import Strategy
from protocols.randomness import Random


@dataclass(frozen=True)
class Conduct:
    """The hooks of `protocols.integrate`."""

    find_winner: FindWinner = announce_scores
    takes_part: TakesPart = always
    confirm: Confirm | None = None


def honest_conduct(job: IntegrateJob, rng: Random) -> Conduct:
    """What every party does that follows the job."""
    hidden: HiddenWinner | None = None
    if job.hide_scores:
        count = sum(attribute.in_qid for attribute in job.attributes)
        hidden = HiddenWinner(rng.fork("hidden winner"), count, bool(job.sensitive_holders))
    if job.adversary == "malicious":
        strategy = Strategy(job.epsilon, hidden)
        return Conduct(strategy.find_winner, strategy.takes_part, strategy.confirm)
    return Conduct(hidden or announce_scores)
