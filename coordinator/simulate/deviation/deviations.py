"""Parties that deviate from an integrate job, for simulations of what they gain.

    never         sends Not-participate in every round
    from:N        follows the protocol, and sends Not-participate from round N on
    underdeclare  declares the lowest score, so that others win while they take part at all
    overdeclare   declares twice its score

Paper 1, §6: what a party wants is phi, the contributions of all others; what it gives is mu.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from coterie.base.errors import UsageError
from coterie.jobs.kinds.integrate.behaviour import Behaviour, honest_behaviour
from coterie.jobs.kinds.integrate.job import IntegrateJob
from coterie.protocols.integration.scores import MOST_SCORE
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.primitives.randomness import Random

N = TypeVar("N", int, float)
WAYS = ("never", "from:N", "underdeclare", "overdeclare")


@dataclass(frozen=True)
class Deviation:
    """One way to deviate; `start` is the round from which on the party takes no part."""

    name: str
    start: int | None = None
    rescale: Callable[[int], int] | None = None

    def behaviour(self, honest: Behaviour) -> Behaviour:
        """The honest behaviour with this deviation. Its checks of other parties stay."""
        rounds = 0

        def decide(me: str, contributions: Mapping[str, int]) -> bool:
            nonlocal rounds
            rounds += 1
            wants = honest.decide(me, contributions)
            return wants and (self.start is None or rounds < self.start)

        def find_winner(channel: Channel, names: Sequence[str], key: int | None) -> Any:
            if self.rescale is not None and key is not None:
                score = min(self.rescale(key >> 16), MOST_SCORE - 1)
                key = (score << 16) | (key & 0xFFFF)
            return honest.find_winner(channel, names, key)

        return Behaviour(find_winner, decide, honest.confirm)


def deviation(text: str) -> Deviation:
    """Reads one of `WAYS`."""
    if text == "never":
        return Deviation(text, start=1)
    if text == "underdeclare":
        return Deviation(text, rescale=lambda score: 0)
    if text == "overdeclare":
        return Deviation(text, rescale=lambda score: 2 * score + 1)
    word, colon, number = text.partition(":")
    if word == "from" and colon and number.isascii() and number.isdigit() and int(number) > 0:
        return Deviation(text, start=int(number))
    raise UsageError(
        f"unknown deviation '{text}'; there are {', '.join(WAYS)}, where N is a round, from 1 on"
    )


def read_deviations(texts: Sequence[str], parties: Sequence[str]) -> dict[str, Deviation]:
    """The deviation of each party, from arguments such as `bank=never`."""
    found: dict[str, Deviation] = {}
    for text in texts:
        party, equals, way = text.partition("=")
        if not equals:
            raise UsageError(f"'{text}' must be PARTY=WAY, such as {parties[0]}=never")
        if party not in parties:
            raise UsageError(f"'{text}': no party '{party}'; there are {', '.join(parties)}")
        if party in found:
            raise UsageError(f"'{text}': '{party}' deviates already")
        found[party] = deviation(way)
    return found


class Watch:
    """The behaviours of the parties of one run, some of which deviate, and their contributions."""

    def __init__(self, deviations: Mapping[str, Deviation]) -> None:
        self._deviations = deviations
        self._behaviours: dict[str, Behaviour] = {}

    def behaviour(self, job: IntegrateJob, party: str, rng: Random) -> Behaviour:
        """The hook that `Integrate` takes."""
        behaviour = honest_behaviour(job, party, rng)
        if party in self._deviations:
            behaviour = self._deviations[party].behaviour(behaviour)
        # Every round is run separately, so that rounds can be counted; the result is the same.
        self._behaviours[party] = replace(behaviour, round_by_round=True)
        return self._behaviours[party]

    def contributions(self, names: Sequence[str]) -> dict[str, int]:
        """All contributions at the end of the job, as the best informed honest party saw them."""
        seen = [c.contributions for p, c in self._behaviours.items() if p not in self._deviations]
        best: Mapping[str, int] = max(seen, key=lambda mu: sum(mu.values()), default={})
        return {name: best.get(name, 0) for name in names}


def received(contributions: Mapping[str, N]) -> dict[str, N]:
    """phi: for each party the contributions of all others."""
    total = sum(contributions.values())
    return {name: total - mu for name, mu in contributions.items()}
