"""The step `winner` of a level: settled regions, who takes part, and who wins each group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from coterie.anonymity.cuts.groups import Cut
from coterie.protocols.integration.mondrian.joint_run import JointRun, Key
from coterie.protocols.integration.mondrian.level_messages import (
    groups_with_keys,
    keys_message,
    read_keys,
    read_settled,
)
from coterie.protocols.integration.mondrian.winners import HiddenWinners, Winner, best_of
from coterie.protocols.integration.participation import REPEATED
from coterie.protocols.messaging.broadcast_check import digest_of
from coterie.protocols.messaging.opening import declare
from coterie.protocols.messaging.wire import Value

SETTLED = declare(
    "integrate: settled regions",
    what="With `method: mondrian`, for each open group and taxonomy the lowest value that has all records of the group, if a child has them all; and which parties take part in the level.",
    to="every party",
    why="The region is what the release shows of the group, or something more general than that.",
)
KEYS = declare(
    "integrate: scores of cuts",
    what="With `method: mondrian` and without `hide_scores`, for each group of 2k records or more the score and the attribute of every party's best cut.",
    to="every party",
    why="The best cut of all parties is made.",
)


class WinnerExchange:
    """The exchange at one party; without `hidden`, scores are open."""

    def __init__(self, run: JointRun, hidden: HiddenWinners | None, judged: Sequence[bool]) -> None:
        self._run, self._hidden, self._judged = run, hidden, judged

    def compete(
        self, best: dict[Key, Cut], message: Sequence[Value]
    ) -> tuple[dict[str, Any], dict[str, bool], dict[Key, Winner]]:
        """What each party told, who takes part, and the winner of each group that has one."""
        run, channel, plan = self._run, self._run.channel, self._run.plan
        groups = groups_with_keys(run.shared)
        part = run.takes_part(channel.me)
        offered = best if part else {}
        open_keys = part and self._hidden is None
        keys = channel.open(KEYS, keys_message(groups, best)) if open_keys else []
        told: list[Value] = [int(part), [*message], keys]
        channel.broadcast(channel.open(SETTLED, told))
        received: dict[str, Any] = {channel.me: told, **channel.gather()}
        present, scores = {}, {}
        for name in plan.names:
            values = channel.check_list(name, received[name], 3, "settled regions")
            present[name] = bool(channel.check_int(name, values[0], 0, 1, "whether it takes part"))
            if name != channel.me:
                read_settled(channel, run.shared, name, values[1])
            if self._hidden is None:
                given = channel.check_list(name, values[2], 2 * present[name], "scores")
                none = [None] * len(groups)
                scores[name] = (
                    read_keys(channel, run.shared, name, groups, given) if present[name] else none
                )
        run.compare({name: digest_of(received[name]) for name in plan.names}, "its scores")
        for name in plan.names:
            if present[name] and not run.takes_part(name):
                raise channel.fault(name, "takes part though it has contributed more than others")
            if not present[name] and run.epsilon is None:
                raise channel.fault(name, "takes no part, which goes with 'adversary: malicious'")
        if self._hidden is None:
            winners = best_of(plan.names, scores, len(groups))
        else:
            judged = [self._judged[number] for number, _ in groups]
            winners = self._hidden.find(run.shared, groups, judged, offered)
            self._compare_winners(digest_of(repr(winners)))
        found = {g: winner for g, winner in zip(groups, winners, strict=True) if winner is not None}
        for winner in found.values():
            if not present[winner.party]:
                raise channel.fault(winner.party, "takes no part and wins a group")
        return {name: received[name][1] for name in plan.names}, present, found

    def _compare_winners(self, mine: bytes) -> None:
        """With hidden scores, everybody repeats the winners as it sees them."""
        if self._run.epsilon is None:
            return
        channel = self._run.channel
        with channel.step("compare"):
            channel.broadcast(channel.open(REPEATED, mine))
            for peer in channel.peers:
                if channel.recv_bytes(peer, len(mine), "digest of the winners") != mine:
                    raise channel.fault(
                        peer, "sees other winners than this party: it or a third sent wrong shares"
                    )
