"""Joint Mondrian: one table is cut into groups by columns that different parties hold.

The rule is that of `anonymity.algorithms.width`: each group is cut on the attribute whose cut loses
most width for each pair of records that it tells apart (or tells most about the class). An attribute
has one cut of a group, which its owner finds alone from its column, the group and k. So only keys
and the chosen cuts are exchanged, for all groups of a level together, and the release equals the one
of the joined table bit for bit. The participation strategy is that of paper 1 (Mohammed, Fung,
Debbabi, "Anonymity meets game theory", section 6.3), with another contribution.

In, at each party, in the joint order of the common records: its own columns, and the class and
sensitive columns that it holds. Public: the job. Out, equal at every party: the tree of cuts, the
region of every record on every attribute, and each party's contribution in bits a record: the sum is
the entropy of the final groups.

Adversary: semi-honest; with `strategy` malicious but rational, as in `participation`. A party learns
the tree of cuts with the regions of all parts, which readers get in `result.json`, too; which group
each record is in; and with open keys score and attribute of every party's best cut of each group,
which tells sizes of divisions that are never made. With `hide_scores` it learns of losing cuts only
that they lose. Whether a model refuses a cut is opened as one bit a group (`judged_cuts`); it tells
that a party's cut of the group would violate a model. A receiver names the sender of: a region that
is no child, rest or part of the group's; a rest that has all or but one of the children; a part with
fewer than k records; a code out of range; a score that parts, regions and class do not give; another
party's attribute. Whether a cut is the most even one, and whether a group settled as far as it could,
only the owner knows.

Messages, in order, after the class (`class_labels`), in the step `cut`:
    announce   as in `integrate`: the spans of numeric attributes without range (if any)
    start      only with bounds on generalization: of each bounded attribute its holder to all: the
               start value of each record; with models each holder to all: whether they hold
    then in levels, until a level has neither a cut nor a strike:
    winner     each party to all: whether it takes part; of its taxonomies the settled nodes of every
               open group; unless hidden, score and attribute of its best cut of each group of 2k
               records or more. Hidden: the messages of `secure_maximum`, once for all groups
    propose    only in conditions with models: the messages of `judged_cuts`
    instruct   each winner to all, for the groups that it has won: attribute, parts, and in the joint
               order of each group's records their parts
    ends       only with tight boxes, once: each party to all: the ends of its numbers by group
With `strategy`, digests of the messages of `winner` and `instruct` are compared besides.

Kept answers: the start, and each level as a whole, before the next one begins.

Cost: two messages in sequence a level (five with models), about log2(n/k) levels and a few more; the
winner of a group sends every other party ceil(log2 parts) bits for each of its records. Adult, eight
columns, two parties, k = 50: 17 levels, 34 messages in sequence, 15 bits a record. Hidden keys: that
of `secure_maximum` for each group of 2k records or more, about 1 kB a group.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from coterie.anonymity.cuts.candidates import Cutter, cutter_of
from coterie.anonymity.cuts.groups import (
    STAYS,
    Branch,
    Cut,
    Decision,
    Partition,
    Strike,
    best_cuts,
    branches_of,
    codes_of_cuts,
    started_groups,
)
from coterie.anonymity.cuts.joined import Joined, joined
from coterie.anonymity.cuts.judging import forbidden
from coterie.anonymity.cuts.regions import Region, Space, space_of
from coterie.anonymity.cuts.scoring import Scoring, bits_told
from coterie.anonymity.specialization.generalized import check_sizes, models_of
from coterie.anonymity.specialization.specialize import Labels
from coterie.anonymity.specialization.starting import start_codes
from coterie.anonymity.table.columns import CategoricalColumn, Column
from coterie.anonymity.table.groups import group_numbers
from coterie.base.arrays import Array
from coterie.base.errors import DataError
from coterie.protocols.integration.class_labels import share_class
from coterie.protocols.integration.contributions import (
    Contribution,
    RecordContribution,
    record_nothing,
)
from coterie.protocols.integration.mondrian.judged_cuts import Judgement, judges_of
from coterie.protocols.integration.mondrian.level_messages import (
    MOST_SCORE,
    Shared,
    ends_message,
    groups_with_keys,
    instruct_message,
    keys_message,
    read_ends,
    read_instruct,
    read_keys,
    read_settled,
    settled_message,
)
from coterie.protocols.integration.mondrian.winners import (
    HiddenWinners,
    Winner,
    best_of,
    bits_of_scores,
)
from coterie.protocols.integration.participation import REPEATED, may_take_part, whole_epsilon
from coterie.protocols.integration.plan import Plan
from coterie.protocols.integration.spans import announce_spans, digests_of_announced
from coterie.protocols.messaging.broadcast_check import compare_digests, digest_of
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.messaging.codes import bits_for, pack_codes, unpack_codes
from coterie.protocols.messaging.opening import declare
from coterie.protocols.messaging.wire import Value
from coterie.protocols.primitives.randomness import Random

LEVEL, START = "level", "start of cuts"

STARTED = declare(
    "integrate: start values of cuts",
    what="With `method: mondrian` and bounds on generalization, the start value of each record that stays; and, with models, whether the start groups satisfy them.",
    to="every party",
    why="The groups begin there; the release shows no more general value.",
)
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
INSTRUCTED = declare(
    "integrate: cuts",
    what="With `method: mondrian`, of each cut the group, the attribute and the parts, and for every record of the group the part that it goes to.",
    to="every party",
    why="All parties cut the same groups; the tree of cuts is in the result.",
)
ENDS = declare(
    "integrate: ends of numbers",
    what="With `boxes: tight`, the lowest and the highest number of each final group, and whether it has records without a value.",
    to="every party",
    why="The release shows them.",
)

Key = tuple[int, int]  # a condition and one of its open groups


@dataclass(frozen=True)
class CutOutcome:
    """The finished tree, the shown columns, and each party's contribution (bits times 2^30)."""

    partitions: Sequence[Partition]
    spaces: Mapping[str, Space]
    tree: Sequence[Branch]
    parties: Sequence[str]  # of each cut
    contributions: Mapping[str, int]
    classes: Labels | None
    records: int
    levels: int
    widths: Mapping[str, float] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """The attributes in job order."""
        return list(self.spaces)

    def regions(self, name: str) -> tuple[Array, list[Region]]:
        """The final group of each record, and the region of each group."""
        for partition in self.partitions:
            if name in partition.names:
                return partition.shown(partition.names.index(name), self.records)
        raise KeyError(name)

    def generalized(self, name: str) -> tuple[Array, tuple[str, ...]]:
        """A released column: a code for each record, and the texts."""
        part, regions = self.regions(name)
        texts = [self.spaces[name].text(region) for region in regions]
        values = sorted(set(texts))
        number = {text: at for at, text in enumerate(values)}
        codes = np.array([number[text] for text in texts], np.uint32)
        return codes[part], tuple(values)


def cut_together(
    channel: Channel,
    plan: Plan,
    columns: Mapping[str, Column],
    labels: Mapping[str, Labels],
    records: int,
    rng: Random,
    *,
    hide_scores: bool = True,
    strategy: float | None = None,
    book: RecordContribution = record_nothing,
) -> CutOutcome:
    """This party's part of the joint run.

    `columns` are its own attributes of the QIDs; `labels` has the class, if the party holds it, and
    its sensitive columns, by name. `strategy` is the epsilon of the participation strategy.
    """
    check_sizes(plan.requirements, records)
    labels = {
        name: column.compact() if name in (plan.sensitive_holders or {}) else column
        for name, column in labels.items()
    }
    models_of(plan.requirements, labels)
    if plan.class_name is not None:
        own = labels.get(plan.class_name) if channel.me in plan.class_holders else None
        labels[plan.class_name] = share_class(channel, plan.class_holders, own, records, rng)
    classes = labels[plan.class_name] if plan.class_name is not None else None
    with channel.step("cut"):
        trees = announce_spans(channel, plan, columns)
        with channel.step("compare"):
            heard = digests_of_announced(plan, classes, trees)
            compare_digests(channel, plan.names, heard, "the class and the spans")
        spaces = {name: space_of(trees[name]) for name in plan.trees}
        conditions = joined(plan.requirements, list(spaces))
        starts = _start_codes(channel, plan, columns, records)
        run = _Levels(channel, plan, columns, labels, records, rng, spaces, conditions, starts)
        run.prepare(classes, hide_scores, strategy, book)
        while run.level():
            channel.progress(run.number, 0)
        if plan.tight:
            run.show_ends()
    return CutOutcome(
        run.shared.partitions, spaces, run.tree, run.parties, run.contributions, classes, records,
        run.number,
    )  # fmt: skip


def _start_codes(
    channel: Channel, plan: Plan, columns: Mapping[str, Column], records: int
) -> dict[str, Array]:
    """The start value of each record on every bounded attribute, as its holder tells it."""
    if not plan.start_values:
        return {}
    kept = channel.next_kept(START)
    if kept is not None:
        return dict(zip(plan.start_values, kept, strict=True))
    found: dict[str, Array] = {}
    with channel.step("start"):
        heard: dict[str, bytes] = {}
        for name, cut in plan.start_values.items():
            holder = plan.holders[name]
            if holder == channel.me:
                column = columns[name]
                assert isinstance(column, CategoricalColumn)  # noqa: S101
                codes = start_codes(column.taxonomy, cut, column.codes)
                packed = channel.open(STARTED, pack_codes(codes.astype(np.uint32), len(cut)))
                channel.broadcast(packed)
            else:
                packed = channel.recv_array(holder, np.uint8, (None,), "start values")
                try:
                    codes = unpack_codes(packed, records, len(cut)).astype(np.int64)
                except ValueError as error:
                    raise channel.fault(holder, f"sent start values that {error}") from None
            found[name] = codes.astype(np.int64)
            heard[holder] = digest_of(heard.get(holder, b""), packed)
        with channel.step("compare"):
            compare_digests(channel, plan.names, heard, "its start values")
    channel.keep(START, [*found.values()])
    return found


class _Levels:
    """The levels at one party."""

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
        starts: Mapping[str, Array],
    ) -> None:
        self.channel, self.plan, self.columns = channel, plan, columns
        self._labels, self._records, self._rng = labels, records, rng
        self._conditions = conditions
        partitions = [
            started_groups(
                one.names, one.k, records, spaces, plan.start_values,
                {name: starts[name] for name in one.names if name in starts},
            )
            for one in conditions
        ]  # fmt: skip
        self.shared = Shared(partitions, spaces, plan.holders)
        self._cutters: dict[str, Cutter] = {
            name: cutter_of(spaces[name], column) for name, column in columns.items()
        }
        self._scoring = Scoring(plan.rule, dict(plan.priority))
        self.contributions = dict.fromkeys(plan.names, 0)
        self.tree: list[Branch] = []
        self.parties: list[str] = []
        self.number = 0
        self._going = True

    def prepare(
        self,
        classes: Labels | None,
        hide_scores: bool,
        strategy: float | None,
        book: RecordContribution,
    ) -> None:
        """Sets up sessions, and checks that the start groups are allowed."""
        channel, plan = self.channel, self.plan
        self._classes = classes
        self._epsilon = None if strategy is None else whole_epsilon(strategy)
        self._book = book
        places = [one.places for one in self._conditions]
        self._judged = [any(plan.requirements[j].model for j in js) for js in places]
        models = models_of(plan.requirements, self._labels)
        judges = judges_of(plan.requirements, plan.sensitive_holders or {}, places)
        with channel.step("conditions"):
            self._judgement = Judgement(
                channel, plan.names, self.shared, judges, models, places, self._records,
                self._rng.fork("models"),
            )  # fmt: skip
        self._models = [[models[j][:2] for j in js if j in models] for js in places]
        for one, partition in zip(self._conditions, self.shared.partitions, strict=True):
            if (partition.open.sizes < one.k).any():
                raise DataError(
                    f"the bounds in at_most leave groups of fewer than k = {one.k} records of "
                    f"{', '.join(one.names)}; permit more general values"
                )
        if plan.start_values and any(self._judged):
            self._check_start()
        self._hidden = None
        if hide_scores:
            least = min(one.k for one in self._conditions)
            bits = bits_of_scores(self._records, least, max(plan.priority.values(), default=1.0))
            most = max(len(one.names) for one in self._conditions)
            fork = self._rng.fork("winners")
            with channel.step("winner"):
                self._hidden = HiddenWinners(channel, plan.names, bits, most, fork)

    def _check_start(self) -> None:
        """Everybody tells whether the start groups satisfy the models on its own columns."""
        channel = self.channel
        with channel.step("start"):
            mine = int(all(self._judgement.check_start()))
            channel.broadcast(channel.open(STARTED, mine))
            verdicts = [mine, *(channel.recv_flag(peer, "verdict") for peer in channel.peers)]
        if not all(verdicts):
            raise DataError(
                "the bounds in at_most violate a condition on a sensitive column; permit more "
                "general values"
            )

    # One level.

    def level(self) -> bool:
        """Cuts, strikes or ends every open group; False when the run is over."""
        if not self._going or not any(p.regions for p in self.shared.partitions):
            return False
        self.number += 1
        kept = self.channel.next_kept(LEVEL)
        best = self._settle_own()
        if kept is not None:
            self._follow(kept, best)
            return True
        with self.channel.step("winner"):
            heard, present, winners = self._compete(best)
        codes = self._own_codes(winners, best)
        refused: set[Key] = set()
        with self.channel.step("propose"):
            for proposer in self.plan.names:
                won = [
                    group
                    for group, winner in winners.items()
                    if winner.party == proposer and self._judged[group[0]]
                ]
                if won:
                    refused |= self._judgement.refused(proposer, won, best, codes)
        with self.channel.step("instruct"):
            instructed = self._instruct(winners, refused, best, codes)
            self._apply(present, winners, refused, instructed, best)
        self._keep(heard, present, winners, refused, instructed)
        return True

    def _settle_own(self) -> dict[Key, Cut]:
        """Settles this party's attributes; its best cut of each group, before others settle theirs."""
        self._settled: list[dict[int, list[Region]]] = []
        for partition in self.shared.partitions:
            own = self.shared.own(partition, self.channel.me)
            settled = {at: partition.settled(at, self._cutters[partition.names[at]]) for at in own}
            self._settled.append(settled)
        self._message = settled_message(self.shared, self.channel.me, self._settled)
        for partition, settled in zip(self.shared.partitions, self._settled, strict=True):
            for at, regions in settled.items():
                partition.settle(at, regions)
        found: dict[Key, Cut] = {}
        for number, partition in enumerate(self.shared.partitions):
            cuts = best_cuts(
                partition, self.shared.spaces, self._cutters, self._scoring, self._classes
            )
            found |= {(number, at): cut for at, cut in enumerate(cuts) if cut is not None}
        return found

    def _compete(
        self, best: dict[Key, Cut]
    ) -> tuple[dict[str, Any], dict[str, bool], dict[Key, Winner]]:
        """What each party told, who takes part, and the winner of each group that has one."""
        channel, plan = self.channel, self.plan
        groups = groups_with_keys(self.shared)
        part = self._takes_part(channel.me)
        offered = best if part else {}
        open_keys = part and self._hidden is None
        keys = channel.open(KEYS, keys_message(groups, best)) if open_keys else []
        told: list[Value] = [int(part), self._message, keys]
        channel.broadcast(channel.open(SETTLED, told))
        received: dict[str, Any] = {channel.me: told, **channel.gather()}
        present, scores = {}, {}
        for name in plan.names:
            values = channel.check_list(name, received[name], 3, "settled regions")
            present[name] = bool(channel.check_int(name, values[0], 0, 1, "whether it takes part"))
            if name != channel.me:
                read_settled(channel, self.shared, name, values[1])
            if self._hidden is None:
                given = channel.check_list(name, values[2], 2 * present[name], "scores")
                none = [None] * len(groups)
                scores[name] = (
                    read_keys(channel, self.shared, name, groups, given) if present[name] else none
                )
        self._compare({name: digest_of(received[name]) for name in plan.names}, "its scores")
        for name in plan.names:
            if present[name] and not self._takes_part(name):
                raise channel.fault(name, "takes part though it has contributed more than others")
            if not present[name] and self._epsilon is None:
                raise channel.fault(name, "takes no part, which goes with 'adversary: malicious'")
        if self._hidden is None:
            winners = best_of(plan.names, scores, len(groups))
        else:
            judged = [self._judged[number] for number, _ in groups]
            winners = self._hidden.find(self.shared, groups, judged, offered)
            self._compare_winners(digest_of(repr(winners)))
        found = {g: winner for g, winner in zip(groups, winners, strict=True) if winner is not None}
        for winner in found.values():
            if not present[winner.party]:
                raise channel.fault(winner.party, "takes no part and wins a group")
        return {name: received[name][1] for name in plan.names}, present, found

    def _takes_part(self, name: str) -> bool:
        return self._epsilon is None or may_take_part(name, self.contributions, self._epsilon)

    def _compare(self, heard: Mapping[str, bytes], what: str) -> None:
        if self._epsilon is not None:
            with self.channel.step("compare"):
                compare_digests(self.channel, self.plan.names, heard, what)

    def _compare_winners(self, mine: bytes) -> None:
        """With hidden scores, everybody repeats the winners as it sees them."""
        if self._epsilon is None:
            return
        channel = self.channel
        with channel.step("compare"):
            channel.broadcast(channel.open(REPEATED, mine))
            for peer in channel.peers:
                if channel.recv_bytes(peer, len(mine), "digest of the winners") != mine:
                    raise channel.fault(
                        peer, "sees other winners than this party: it or a third sent wrong shares"
                    )

    def _own_codes(
        self, winners: Mapping[Key, Winner], best: Mapping[Key, Cut]
    ) -> dict[Key, Array]:
        """The part of each record of the groups that this party has won."""
        found: dict[Key, Array] = {}
        for number, partition in enumerate(self.shared.partitions):
            cuts = {
                at: best[n, at]
                for (n, at), winner in winners.items()
                if n == number and winner.party == self.channel.me
            }
            codes = codes_of_cuts(partition, cuts, self._cutters)
            found |= {(number, at): own for at, own in codes.items()}
        return found

    def _instruct(
        self,
        winners: Mapping[Key, Winner],
        refused: set[Key],
        best: Mapping[Key, Cut],
        codes: Mapping[Key, Array],
    ) -> dict[str, Any]:
        """The message of each party that cuts a group."""
        channel = self.channel
        due = {
            name: [g for g, w in winners.items() if w.party == name and g not in refused]
            for name in self.plan.names
        }
        found: dict[str, Any] = {}
        if mine := due[channel.me]:
            cuts = [(*group, best[group]) for group in mine]
            told = instruct_message(self.shared, cuts, codes)
            others = tuple(channel.peers)
            worth = sum(bits_told(cut.sizes, self._records) for _, _, cut in cuts)
            self._book(Contribution(channel.me, others, worth, self._mark(told)))
            channel.broadcast(channel.open(INSTRUCTED, told))
            found[channel.me] = told
        for name in self.plan.names:
            if due[name] and name != channel.me:
                found[name] = channel.open(INSTRUCTED, channel.recv(name))
        heard = {name: digest_of(value) for name, value in found.items()}
        self._compare(heard, "its instructions")
        return found

    def _mark(self, told: Sequence[Value]) -> str:
        """A hash of the cuts of a level, not of the records' order."""
        shape = [value.tobytes() for value in told[:4] if isinstance(value, np.ndarray)]
        return hashlib.sha256(repr((self.number, shape)).encode()).hexdigest()[:32]

    def _apply(
        self,
        present: Mapping[str, bool],
        winners: Mapping[Key, Winner],
        refused: set[Key],
        instructed: Mapping[str, Any],
        best: Mapping[Key, Cut],
        following: bool = False,
    ) -> None:
        """Checks the cuts of all parties and makes the groups of the next level."""
        made: dict[Key, tuple[Cut, Array]] = {}
        for name, told in instructed.items():
            won = [g for g, w in winners.items() if w.party == name and g not in refused]
            made |= self._read(name, won, told, winners, following)
        everybody = all(present.values())
        changed = False
        for number, partition in enumerate(self.shared.partitions):
            decisions: list[Decision] = []
            for at in range(len(partition.regions)):
                group = number, at
                winner = winners.get(group)
                if winner is None:
                    decisions.append(None if everybody else STAYS)
                    continue
                changed = True
                if group in refused:
                    own = best[group].attribute if winner.party == self.channel.me else None
                    decisions.append(Strike(own, winner.party))
                else:
                    decisions.append(made[group][0])
                    self.parties.append(winner.party)
            self.tree += branches_of(partition, decisions, self.number, number)
            codes = {at: made[number, at][1] for n, at in made if n == number}
            partition.apply(decisions, codes)
        if not changed:
            self._going = False
            for partition in self.shared.partitions:
                partition.close()

    def _read(
        self,
        name: str,
        won: Sequence[Key],
        told: Any,
        winners: Mapping[Key, Winner],
        following: bool,
    ) -> dict[Key, tuple[Cut, Array]]:
        """The checked cuts of one party."""
        channel, shared = self.channel, self.shared
        made: dict[Key, tuple[Cut, Array]] = {}
        worth = 0
        for group, (attribute, parts, codes, sizes) in read_instruct(
            channel, shared, name, won, told
        ).items():
            partition = shared.partitions[group[0]]
            score = self._score(partition, group[1], attribute, parts, codes, sizes)
            key = winners[group].key
            if key is not None and key != (score, attribute):
                raise channel.fault(
                    name, f"declared the score {key[0]}, but its cut has the score {score}"
                )
            made[group] = Cut(attribute, parts, sizes, score), codes
            worth += bits_told(sizes, self._records)
        if name != channel.me:
            self._check_models(name, made)
        self.contributions[name] += worth
        if name != channel.me and not following:
            others = tuple(peer for peer in self.plan.names if peer != name)
            self._book(Contribution(name, others, worth, self._mark(told)))
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
        if self._scoring.needs_class and self._classes is not None:
            count = len(self._classes.values)
            start = int(partition.open.starts[group])
            rows = partition.open.rows[start : start + len(codes)]
            cells = codes.astype(np.int64) * count + self._classes.codes[rows]
            by_class = np.bincount(cells, minlength=len(parts) * count).reshape(-1, count)
        name = partition.names[attribute]
        region = partition.regions[group][attribute]
        space = self.shared.spaces[name]
        return self._scoring.score(name, space, region, parts, sizes, by_class)

    def _check_models(self, name: str, made: Mapping[Key, tuple[Cut, Array]]) -> None:
        """Refuses cuts that violate the models that this party can judge."""
        for number, partition in enumerate(self.shared.partitions):
            cuts = {at: cut for (n, at), (cut, _) in made.items() if n == number}
            codes = {at: own.astype(np.int64) for (n, at), (_, own) in made.items() if n == number}
            if forbidden(partition.open, cuts, codes, self._models[number]):
                raise self.channel.fault(name, "instructs what a sensitive column forbids")

    # Kept levels.

    def _keep(
        self,
        heard: Mapping[str, Any],
        present: Mapping[str, bool],
        winners: Mapping[Key, Winner],
        refused: set[Key],
        instructed: Mapping[str, Any],
    ) -> None:
        names = list(self.plan.names)
        groups = [
            [*group, names.index(winner.party), int(group in refused)]
            for group, winner in winners.items()
        ]
        table = np.array(groups, np.int64).reshape(-1, 4)
        told: list[Value] = [instructed.get(name, 0) for name in names]
        settled: list[Value] = [heard[name] for name in names]
        self.channel.keep(LEVEL, [settled, [int(present[name]) for name in names], table, told])

    def _follow(self, kept: Any, best: Mapping[Key, Cut]) -> None:
        """Follows a level of an earlier attempt."""
        settled, flags, table, told = kept
        names = self.plan.names
        for name, regions in zip(names, settled, strict=True):
            if name != self.channel.me:
                read_settled(self.channel, self.shared, name, regions)
        present = {name: bool(flag) for name, flag in zip(names, flags, strict=True)}
        winners = {(n, at): Winner(names[place], None) for n, at, place, _ in table.tolist()}
        refused = {(n, at) for n, at, _, flag in table.tolist() if flag}
        instructed = {
            name: value
            for name, value in zip(names, told, strict=True)
            if not isinstance(value, int)
        }
        self._apply(present, winners, refused, instructed, best, following=True)

    # Tight boxes.

    def show_ends(self) -> None:
        """Every party tells the ends of its numbers in the final groups."""
        channel = self.channel
        with channel.step("ends"):
            mine = ends_message(self.shared, channel.me, self.columns)
            channel.broadcast(channel.open(ENDS, mine))
            heard: dict[str, Any] = {channel.me: mine, **channel.gather()}
            digests = {name: digest_of(value) for name, value in heard.items()}
            compare_digests(channel, self.plan.names, digests, "ends of its numbers")
            for name in self.plan.names:
                read_ends(channel, self.shared, name, heard[name])


def groups_of(outcome: CutOutcome, names: Sequence[str]) -> Array:
    """The number of each record's group by the shown values of some attributes."""
    return group_numbers([outcome.generalized(name)[0] for name in names])


def code_bits(outcome: CutOutcome) -> int:
    """The bits of all codes that the instructions had."""
    return sum(bits_for(len(b.cut.parts)) * sum(b.cut.sizes) for b in outcome.tree)


__all__ = ["MOST_SCORE", "CutOutcome", "code_bits", "cut_together", "groups_of"]
