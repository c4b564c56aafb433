"""What the steps of joint Mondrian share at one party: the groups, who takes part, and a level."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from coterie.anonymity.specialization.specialize import Labels
from coterie.protocols.integration.mondrian.level_messages import Shared
from coterie.protocols.integration.mondrian.winners import Winner
from coterie.protocols.integration.participation import may_take_part
from coterie.protocols.integration.plan import Plan
from coterie.protocols.messaging.broadcast_check import compare_digests
from coterie.protocols.messaging.channel import Channel

Key = tuple[int, int]  # a condition and one of its open groups


@dataclass(frozen=True)
class JointRun:
    """A party's channel, the job, the groups of all parties, and each one's contribution."""

    channel: Channel
    plan: Plan
    shared: Shared
    records: int
    classes: Labels | None
    epsilon: int | None  # of the participation strategy
    contributions: dict[str, int]

    def takes_part(self, name: str) -> bool:
        return self.epsilon is None or may_take_part(name, self.contributions, self.epsilon)

    def compare(self, heard: Mapping[str, bytes], what: str) -> None:
        """With the strategy, all parties must have heard the same."""
        if self.epsilon is not None:
            with self.channel.step("compare"):
                compare_digests(self.channel, self.plan.names, heard, what)


@dataclass(frozen=True)
class Level:
    """What all parties know of a level that is decided."""

    settled: Mapping[str, Any]  # each party's message
    present: Mapping[str, bool]
    winners: Mapping[Key, Winner]
    refused: set[Key]
    instructed: Mapping[str, Any]  # the messages of those that cut

    def won(self, name: str) -> list[Key]:
        """The groups that a party cuts."""
        return [g for g, w in self.winners.items() if w.party == name and g not in self.refused]
