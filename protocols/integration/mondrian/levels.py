"""The levels of joint Mondrian at one party; `cut_together` has the whole protocol."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from coterie.anonymity.cuts.candidates import Cutter, cutter_of
from coterie.anonymity.cuts.groups import (
    STAYS,
    Branch,
    Cut,
    Decision,
    Start,
    Strike,
    best_cuts,
    branches_of,
    started_groups,
)
from coterie.anonymity.cuts.joined import Joined
from coterie.anonymity.cuts.regions import Region, Space
from coterie.anonymity.cuts.scoring import Scoring
from coterie.anonymity.specialization.generalized import models_of
from coterie.anonymity.specialization.specialize import Labels
from coterie.anonymity.table.columns import Column
from coterie.base.arrays import Array
from coterie.base.errors import DataError
from coterie.protocols.integration.contributions import RecordContribution
from coterie.protocols.integration.mondrian.instructions_of_cuts import Instructions
from coterie.protocols.integration.mondrian.joint_run import JointRun, Key, Level
from coterie.protocols.integration.mondrian.judged_cuts import Judgement, judges_of
from coterie.protocols.integration.mondrian.kept_levels import LEVEL, followed, keep
from coterie.protocols.integration.mondrian.level_messages import (
    Shared,
    ends_message,
    read_ends,
    settled_message,
)
from coterie.protocols.integration.mondrian.shown_cuts import ShownCuts, holders_of
from coterie.protocols.integration.mondrian.start import check_start
from coterie.protocols.integration.mondrian.winner_exchange import WinnerExchange
from coterie.protocols.integration.mondrian.winners import HiddenWinners, Winner, bits_of_scores
from coterie.protocols.integration.participation import whole_epsilon
from coterie.protocols.integration.plan import Plan
from coterie.protocols.integration.telling import Telling
from coterie.protocols.messaging.broadcast_check import compare_digests, digest_of
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.messaging.opening import declare
from coterie.protocols.messaging.wire import Value
from coterie.protocols.primitives.randomness import Random

ENDS = declare(
    "integrate: ends of numbers",
    what="With `boxes: tight`, the lowest and the highest number of each final group, and whether it has records without a value.",
    to="every party",
    why="The release shows them.",
)


class Levels:
    """The groups of a party, level by level."""

    def __init__(
        self,
        channel: Channel,
        plan: Plan,
        columns: Mapping[str, Column],
        labels: Mapping[str, Labels],
        records: int,
        rng: Random,
        spaces: Mapping[str, Space],
        conditions: Sequence[Joined],
        starts: Mapping[str, Start],
        strategy: float | None,
        telling: Telling,
    ) -> None:
        self._telling = telling
        self._columns, self._labels, self._rng = columns, labels, rng
        self._conditions = conditions
        partitions = [
            started_groups(one.names, one.k, records, spaces, starts) for one in conditions
        ]
        self.run = JointRun(
            channel,
            plan,
            Shared(partitions, spaces, plan.holders),
            records,
            labels[plan.class_name] if plan.class_name is not None else None,
            None if strategy is None else whole_epsilon(strategy),
            dict.fromkeys(plan.names, 0),
        )
        self._cutters: dict[str, Cutter] = {
            name: cutter_of(spaces[name], column) for name, column in columns.items()
        }
        self._scoring = Scoring(plan.rule, dict(plan.priority))
        self.tree: list[Branch] = []
        self.parties: list[str] = []
        self.number = 0
        self._going = True

    def prepare(self, hide_scores: bool, book: RecordContribution) -> None:
        """Sets up sessions, and checks that the start groups are allowed."""
        run, channel, plan = self.run, self.run.channel, self.run.plan
        places = [one.places for one in self._conditions]
        self._judged = [any(plan.requirements[j].model for j in js) for js in places]
        models = models_of(plan.requirements, self._labels)
        held, fork = plan.sensitive_holders or {}, self._rng.fork("models")
        with channel.step("conditions"):
            if plan.conditions == "holder":
                holders = [holders_of(plan.requirements, held, js) for js in places]
                self._judgement: Judgement = ShownCuts(run, holders, models, places, book, fork)
            else:
                judges = judges_of(plan.requirements, held, places)
                self._judgement = Judgement(
                    channel, plan.names, run.shared, judges, models, places, run.records, fork
                )
        judged_here = [[models[j][:2] for j in js if j in models] for js in places]
        self._instructions = Instructions(run, self._cutters, self._scoring, judged_here, book)
        allowed = check_start(run, self._judgement, any(self._judged))
        for one, partition, stays in zip(
            self._conditions, run.shared.partitions, allowed, strict=True
        ):
            if not stays and plan.refine is None:
                raise DataError(
                    f"the bounds in at_most leave groups of {', '.join(one.names)} of fewer than "
                    f"k = {one.k} records, or groups that violate a condition on a sensitive "
                    "column; permit more general values"
                )
            if not stays:  # groups of a specialization that short entries have made
                partition.close()
        self._winners = WinnerExchange(
            run, self._hidden_winners() if hide_scores else None, self._judged
        )

    def _hidden_winners(self) -> HiddenWinners:
        run, plan = self.run, self.run.plan
        least = min(one.k for one in self._conditions)
        bits = bits_of_scores(run.records, least, max(plan.priority.values(), default=1.0))
        most = max(len(one.names) for one in self._conditions)
        fork = self._rng.fork("winners")
        with run.channel.step("winner"):
            return HiddenWinners(run.channel, plan.names, bits, most, fork)

    def level(self) -> bool:
        """Cuts, strikes or ends every open group; False when the run is over."""
        run, channel = self.run, self.run.channel
        if not self._going or not any(p.regions for p in run.shared.partitions):
            return False
        self.number += 1
        kept = channel.next_kept(LEVEL)
        message, best = self._settle_own()
        if kept is not None:
            self._apply(followed(run, kept), best, following=True)
            return True
        with channel.step("winner"):
            settled, present, winners = self._winners.compete(best, message)
        told = self._telling.digest(
            self.number,
            [settled[name] for name in run.plan.names],
            [name for name in run.plan.names if present[name]],
            repr([(*group, winner.party) for group, winner in winners.items()]),
        )
        channel.compare(told)
        codes = self._instructions.own_codes(winners, best)
        with channel.step("propose"):
            refused = self._refused(winners, best, codes)
        told += self._telling.digest(repr(sorted(refused)))
        channel.compare(told)
        level = Level(settled, present, winners, refused, {})
        with channel.step("instruct"):
            due = {name: level.won(name) for name in run.plan.names}
            instructed = self._instructions.exchange(self.number, due, best, codes)
            level = replace(level, instructed=instructed)
            told += self._apply(level, best)
        keep(run, level, told)
        return True

    def _refused(
        self,
        winners: Mapping[Key, Winner],
        best: Mapping[Key, Cut],
        codes: Mapping[Key, Array],
    ) -> set[Key]:
        """The groups whose cut a model refuses."""
        refused: set[Key] = set()
        for proposer in self.run.plan.names:
            won = [
                group
                for group, winner in winners.items()
                if winner.party == proposer and self._judged[group[0]]
            ]
            if won:
                refused |= self._judgement.refused(proposer, won, best, codes)
        return refused

    def _settle_own(self) -> tuple[list[Value], dict[Key, Cut]]:
        """Settles this party's attributes; the message of it, and its best cut of each group, before others settle theirs."""
        shared = self.run.shared
        below: list[dict[int, list[Region]]] = []
        for partition in shared.partitions:
            own = shared.own(partition, self.run.channel.me)
            settled = {at: partition.settled(at, self._cutters[partition.names[at]]) for at in own}
            below.append(settled)
        message = settled_message(shared, self.run.channel.me, below)
        for partition, settled in zip(shared.partitions, below, strict=True):
            for at, regions in settled.items():
                partition.settle(at, regions)
        found: dict[Key, Cut] = {}
        for number, partition in enumerate(shared.partitions):
            cuts = best_cuts(
                partition, shared.spaces, self._cutters, self._scoring, self.run.classes
            )
            found |= {(number, at): cut for at, cut in enumerate(cuts) if cut is not None}
        return message, found

    def _apply(self, level: Level, best: Mapping[Key, Cut], following: bool = False) -> bytes:
        """Checks the cuts of all parties and makes the groups of the next level; a digest of the cuts."""
        made = self._instructions.read(self.number, level, following)
        partitions = self.run.shared.partitions
        told = b"" if following else self._told(made)
        for number, partition in enumerate(partitions):
            decisions = [
                self._decision(level, (number, at), made, best)
                for at in range(len(partition.regions))
            ]
            self.tree += branches_of(partition, decisions, self.number, number)
            codes = {at: made[number, at][1] for n, at in made if n == number}
            partition.apply(decisions, codes)
        if not level.winners:
            self._going = False
            for partition in partitions:
                partition.close()
        return told

    def _told(self, made: Mapping[Key, tuple[Cut, Array]]) -> bytes:
        """The digest of the cuts of all parties, before the groups are divided."""
        found = b""
        for number, partition in enumerate(self.run.shared.partitions):
            cuts = {at: cut for (n, at), (cut, _) in made.items() if n == number}
            starts = partition.open.starts
            parts = [
                (partition.open.rows[starts[at] : starts[at] + len(codes)], codes)
                for (n, at), (_, codes) in made.items()
                if n == number
            ]
            found += self._telling.of_parts(repr(sorted(cuts.items())), parts)
        return found

    def _decision(
        self,
        level: Level,
        group: Key,
        made: Mapping[Key, tuple[Cut, Array]],
        best: Mapping[Key, Cut],
    ) -> Decision:
        winner = level.winners.get(group)
        if winner is None:  # somebody who stays away may cut it later
            return None if all(level.present.values()) else STAYS
        if group in level.refused:
            own = best[group].attribute if winner.party == self.run.channel.me else None
            return Strike(own, winner.party)
        self.parties.append(winner.party)
        return made[group][0]

    def show_ends(self) -> None:
        """Every party tells the ends of its numbers in the final groups."""
        run, channel = self.run, self.run.channel
        with channel.step("ends"):
            mine = ends_message(run.shared, channel.me, self._columns)
            channel.broadcast(channel.open(ENDS, mine))
            heard: dict[str, Any] = {channel.me: mine, **channel.gather()}
            digests = {name: digest_of(value) for name, value in heard.items()}
            compare_digests(channel, run.plan.names, digests, "ends of its numbers")
            for name in run.plan.names:
                read_ends(channel, run.shared, name, heard[name])
