"""The step `instruct` of a level: winners tell their cuts, and everybody checks and books them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from coterie.anonymity.cuts.candidates import Cutter
from coterie.anonymity.cuts.groups import Cut, Partition, codes_of_cuts
from coterie.anonymity.cuts.judging import forbidden
from coterie.anonymity.cuts.regions import Region
from coterie.anonymity.cuts.scoring import Scoring, bits_told
from coterie.base.arrays import Array
from coterie.protocols.integration.contributions import Contribution, RecordContribution
from coterie.protocols.integration.mondrian.joint_run import JointRun, Key, Level
from coterie.protocols.integration.mondrian.level_messages import instruct_message, read_instruct
from coterie.protocols.integration.mondrian.winners import Winner
from coterie.protocols.messaging.broadcast_check import digest_of
from coterie.protocols.messaging.opening import declare
from coterie.protocols.messaging.wire import Value

INSTRUCTED = declare(
    "integrate: cuts",
    what="With `method: mondrian`, of each cut the group, the attribute and the parts, and for every record of the group the part that it goes to.",
    to="every party",
    why="All parties cut the same groups; the tree of cuts is in the result.",
)


class Instructions:
    """The cuts at one party; `models` are those that it can judge, of each condition."""

    def __init__(
        self,
        run: JointRun,
        cutters: Mapping[str, Cutter],
        scoring: Scoring,
        models: Sequence[Any],
        book: RecordContribution,
    ) -> None:
        self._run, self._cutters, self._scoring = run, cutters, scoring
        self._models, self._book = models, book

    def own_codes(self, winners: Mapping[Key, Winner], best: Mapping[Key, Cut]) -> dict[Key, Array]:
        """The part of each record of the groups that this party has won."""
        found: dict[Key, Array] = {}
        for number, partition in enumerate(self._run.shared.partitions):
            cuts = {
                at: best[n, at]
                for (n, at), winner in winners.items()
                if n == number and winner.party == self._run.channel.me
            }
            codes = codes_of_cuts(partition, cuts, self._cutters)
            found |= {(number, at): own for at, own in codes.items()}
        return found

    def exchange(
        self,
        number: int,
        due: Mapping[str, Sequence[Key]],
        best: Mapping[Key, Cut],
        codes: Mapping[Key, Array],
    ) -> dict[str, Any]:
        """The message of each party that cuts a group, of those that are due at each."""
        channel = self._run.channel
        found: dict[str, Any] = {}
        if mine := due[channel.me]:
            cuts = [(*group, best[group]) for group in mine]
            told = instruct_message(self._run.shared, cuts, codes)
            others = tuple(channel.peers)
            worth = sum(bits_told(cut.sizes, self._run.records) for _, _, cut in cuts)
            self._book(Contribution(channel.me, others, worth, _mark(number, told)))
            channel.broadcast(channel.open(INSTRUCTED, told))
            found[channel.me] = told
        for name in self._run.plan.names:
            if due[name] and name != channel.me:
                found[name] = channel.open(INSTRUCTED, channel.recv(name))
        heard = {name: digest_of(value) for name, value in found.items()}
        self._run.compare(heard, "its instructions")
        return found

    def read(self, number: int, level: Level, following: bool) -> dict[Key, tuple[Cut, Array]]:
        """The checked cuts of all parties; `following` a level of an earlier attempt."""
        made: dict[Key, tuple[Cut, Array]] = {}
        for name in level.instructed:
            made |= self._read(number, name, level, following)
        return made

    def _read(
        self, number: int, name: str, level: Level, following: bool
    ) -> dict[Key, tuple[Cut, Array]]:
        """The checked cuts of one party."""
        channel, shared = self._run.channel, self._run.shared
        told = level.instructed[name]
        made: dict[Key, tuple[Cut, Array]] = {}
        worth = 0
        for group, (attribute, parts, codes, sizes) in read_instruct(
            channel, shared, name, level.won(name), told
        ).items():
            partition = shared.partitions[group[0]]
            score = self._score(partition, group[1], attribute, parts, codes, sizes)
            key = level.winners[group].key
            if key is not None and key != (score, attribute):
                raise channel.fault(
                    name, f"declared the score {key[0]}, but its cut has the score {score}"
                )
            made[group] = Cut(attribute, parts, sizes, score), codes
            worth += bits_told(sizes, self._run.records)
        if name != channel.me:
            self._check_models(name, made)
        self._run.contributions[name] += worth
        if name != channel.me and not following:
            others = tuple(peer for peer in self._run.plan.names if peer != name)
            self._book(Contribution(name, others, worth, _mark(number, told)))
        return made

    def _score(
        self,
        partition: Partition,
        group: int,
        attribute: int,
        parts: tuple[Region, ...],
        codes: Array,
        sizes: Sequence[int],
    ) -> int:
        by_class = None
        if self._scoring.needs_class and self._run.classes is not None:
            count = len(self._run.classes.values)
            start = int(partition.open.starts[group])
            rows = partition.open.rows[start : start + len(codes)]
            cells = codes.astype(np.int64) * count + self._run.classes.codes[rows]
            by_class = np.bincount(cells, minlength=len(parts) * count).reshape(-1, count)
        name = partition.names[attribute]
        region = partition.regions[group][attribute]
        space = self._run.shared.spaces[name]
        return self._scoring.score(name, space, region, parts, sizes, by_class)

    def _check_models(self, name: str, made: Mapping[Key, tuple[Cut, Array]]) -> None:
        """Refuses cuts that violate the models that this party can judge."""
        for number, partition in enumerate(self._run.shared.partitions):
            cuts = {at: cut for (n, at), (cut, _) in made.items() if n == number}
            codes = {at: own.astype(np.int64) for (n, at), (_, own) in made.items() if n == number}
            if forbidden(partition.open, cuts, codes, self._models[number]):
                raise self._run.channel.fault(name, "instructs what a sensitive column forbids")


def _mark(number: int, told: Sequence[Value]) -> str:
    """A hash of the cuts of a level, not of the records' order."""
    shape = [value.tobytes() for value in told[:4] if isinstance(value, np.ndarray)]
    return hashlib.sha256(repr((number, shape)).encode()).hexdigest()[:32]
