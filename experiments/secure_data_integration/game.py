"""Plays the game of paper 1, §6, with the real protocol in memory, and computes the payoffs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from coterie.anonymity.specialization.scores import SCALE
from coterie.anonymity.specialization.specialize import Labels, Requirement, Specializer
from coterie.anonymity.table.columns import Column, Tree
from coterie.base.errors import PeerFaultError
from coterie.coordinator.simulate.deviation.deviations import Deviation, received
from coterie.jobs.kinds.integrate.behaviour import Behaviour
from coterie.protocols.integration.integrate import integrate
from coterie.protocols.integration.participation import Strategy
from coterie.protocols.integration.plan import Outcome, Plan
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.messaging.memory import run_parties
from coterie.protocols.primitives.randomness import Random


@dataclass(frozen=True)
class Deal:
    """The holders of the attributes of the QIDs. Columns and trees are made anew for each run."""

    holders: Mapping[str, str]  # of the attributes, in job order
    names: tuple[str, ...]
    column: Callable[[str], Column]
    tree: Callable[[str], Tree]
    classes: Labels
    requirements: tuple[Requirement, ...]
    rule: str = "gain-ratio"
    max_suppression: float = 0.0


@dataclass(frozen=True)
class Play:
    """One run: the winner and score of each round, and the final table if nobody was caught."""

    winners: tuple[str, ...]
    scores: tuple[float, ...]
    caught: str | None
    table: Specializer | None

    def given(self, party: str) -> float:
        """mu: the scores of the party's own specializations."""
        return sum(s for w, s in zip(self.winners, self.scores, strict=True) if w == party)

    def payoffs(self, party: str) -> list[float]:
        """What the party receives in each round; their sum is phi."""
        return [0.0 if w == party else s for w, s in zip(self.winners, self.scores, strict=True)]

    def received(self, party: str) -> float:
        """phi: the scores of the specializations of all other parties."""
        return received({name: self.given(name) for name in {party, *self.winners}})[party]


def play(
    deal: Deal,
    epsilon: float | None,
    deviations: Mapping[str, Deviation] | None = None,
) -> Play:
    """Runs all parties in this process; without epsilon there is no strategy (Algorithm 1)."""
    rounds: list[tuple[str, int]] = []
    watcher = next(name for name in deal.names if name not in (deviations or {}))

    def behaviour_of(name: str) -> Behaviour:
        behaviour = Behaviour()
        if epsilon is not None:
            strategy = Strategy(epsilon)
            behaviour = Behaviour(strategy.find_winner, strategy.takes_part, strategy.confirm)
        if deviations and name in deviations:
            behaviour = deviations[name].behaviour(behaviour)
        return _noting(behaviour, rounds) if name == watcher else behaviour

    def party(name: str, channel: Channel) -> Outcome:
        own = {n: deal.column(n) for n, holder in deal.holders.items() if holder == name}
        plan = Plan(
            deal.names,
            {n: own[n].tree if n in own else deal.tree(n) for n in deal.holders},
            deal.holders,
            deal.requirements,
            (deal.names[0],),
            "class",
            rule=deal.rule,
            max_suppression=deal.max_suppression,
        )
        labels = {"class": deal.classes} if name == deal.names[0] else {}
        hooks: dict[str, Any] = behaviour_of(name).hooks
        return integrate(channel, plan, own, labels, len(deal.classes.codes), Random(name), **hooks)

    caught, table = None, None
    try:
        outcomes = run_parties({name: partial(party, name) for name in deal.names})
        table = outcomes[watcher].table
        final = outcomes[watcher].contributions
        _note(rounds, final)
    except PeerFaultError as error:
        caught = error.peer
    return Play(
        tuple(name for name, _ in rounds),
        tuple(score / SCALE for _, score in rounds),
        caught,
        table,
    )


def _noting(behaviour: Behaviour, rounds: list[tuple[str, int]]) -> Behaviour:
    """The same behaviour, which also records the winner and score of each round."""
    inner = behaviour.decide

    def decide(me: str, contributions: Mapping[str, int]) -> bool:
        _note(rounds, contributions)
        return inner(me, contributions)

    return Behaviour(behaviour.find_winner, decide, behaviour.confirm)


def _note(rounds: list[tuple[str, int]], contributions: Mapping[str, int]) -> None:
    for name, mu in contributions.items():
        known = sum(score for winner, score in rounds if winner == name)
        if mu != known:
            rounds.append((name, mu - known))


def endless_average(payoffs: Sequence[float], discount: float) -> float:
    """The discounted average of playing this job again and again (the c of Theorem 1)."""
    length = len(payoffs)
    if not length:
        return 0.0
    return once_average(payoffs, discount) / (1 - discount**length)


def once_average(payoffs: Sequence[float], discount: float) -> float:
    """The discounted average of playing this job once and nothing afterwards."""
    return (1 - discount) * sum(u * discount**t for t, u in enumerate(payoffs))
