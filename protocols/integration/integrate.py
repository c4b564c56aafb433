"""Joint top-down specialization over columns that different parties hold.

Mohammed, Fung, Debbabi, "Anonymity meets game theory" (paper 1), Algorithm 1 and §§5 and 8.

In, at each party, in the joint order of the common records: its own columns, and the class and
sensitive columns that it holds. Public: the job, which has the taxonomies, the requirement and the
holders of all columns. Out, equal at every party: the sequence of specializations, the final cut,
the generalized value of every record, and the contribution of each party. The result equals that of
`anonymity.specialization.specialize.specialize` on the joined table, bit for bit: every party
refines the same partitions by the same codes, and a score depends on one attribute and the class
alone.

Adversary: semi-honest. A party learns about another party's column the generalized value of each
record (from instructions), which the released table shows too; the span of a numeric column whose
range the job leaves open, which is released too; and, in each round, the score and the attribute of
every party's best candidate (`hide_scores` hides these by a secure maximum). Whether a sensitive
column forbids a specialization (§8) is decided on shares (`conditions`). With
`conditions="holder"`, as in the paper, the holder of the column sees the instruction before it may
reject it, which is more than the release shows; docs/threat-model.md discusses that.

Every received message is checked: an instruction for another party's attribute or for a value not
in the cut, with a wrong length or with a code out of range, an instruction that violates the
requirement or is not beneficial, and a score that does not follow from the codes and the class:
each ends the job with an error that names the sender.

Messages, in order, after the class (`protocols.integration.class_labels`):
    announce   each party to all: the spans of its numeric attributes without range (if any)
    compare    three or more parties, each to all: digests of class and spans (`broadcast_check`)
    start      only with bounds on generalization: for every value above them, its holder to all: the
               instruction, after `propose` if there are conditions
    then in rounds, until no party has a candidate:
    winner     `find_winner`: by default each party's best score and attribute, to all
    propose    only in jobs with conditions on sensitive columns: the messages of `conditions`; or, if
               holders judge, winner to all: the attribute; winner to each holder of a sensitive
               column concerned: the instruction; these to the winner: yes or no; winner to all: yes
               or no. After a no the next round begins
    instruct   winner to all who do not have it yet: attribute, value, split, score, one child code
               for each record that has this value, in the order of the leaf partitions, and whether
               one more code marks records that are left out (`max_suppression`)
    In turns (`Plan.turns`), and while scores do not depend on groups, a winner sends instruction
    after instruction as long as its next candidate beats all that the others have announced (these
    cannot grow until they win), and then 0. It is the same sequence in fewer rounds.

Cost, for p parties: 2 messages in sequence for each round (5 with conditions), or for each turn,
however long it is. The winner sends every other party ceil(log2 c) bits per record concerned, for c
children, and about 120 bytes; p (p - 1) scores of some 20 bytes are sent in each round. Operations:
counting and moving 4-byte numbers, O(records concerned) a round at each party. Memory: 4 bytes per
record besides the columns and the class, and some 100 bytes per leaf partition.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from coterie.anonymity.models.privacy import JointDiversity
from coterie.anonymity.specialization.generalized import check_sizes, models_of
from coterie.anonymity.specialization.specialize import (
    Candidate,
    Instruction,
    InvalidError,
    Labels,
    Requirement,
    Specializer,
    suppression_limit,
)
from coterie.anonymity.specialization.starting import StartedSpecializer
from coterie.anonymity.table.columns import Column, ContinuousColumn, IntervalTree, Tree
from coterie.base.errors import DataError, PeerError, UsageError
from coterie.protocols.integration.broadcast_check import compare_digests
from coterie.protocols.integration.class_labels import digest_of_class, share_class
from coterie.protocols.integration.conditions import (
    SharedConditions,
    children_of,
    conditions_of,
)
from coterie.protocols.integration.contributions import (
    Contribution,
    RecordContribution,
    mark_of,
    record_nothing,
)
from coterie.protocols.integration.instructions import (
    digest_of,
    instruction_values,
    read_instruction,
)
from coterie.protocols.integration.joint_frequencies import JointFrequencies
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.messaging.opening import declare
from coterie.protocols.primitives.randomness import Random

MOST_ATTRIBUTES = 1 << 16
MOST_SCORE = 1 << 40

SPANS = declare(
    "integrate: spans",
    what="The lowest and the highest number of every numeric column of a QID whose `range` the job leaves open.",
    to="every party",
    why="They are the ends of the topmost interval, which the release may show.",
)
SCORES = declare(
    "integrate: scores",
    what="Without `hide_scores`, in each round the score and the attribute of every party's best candidate, or that it takes no part.",
    to="every party",
    why="The best candidate of all parties is specialized next.",
)
INSTRUCTION = declare(
    "integrate: instruction",
    what="The attribute, the value, the split, the score, and for every record with the value the child that it goes to.",
    to="every party",
    why="All parties refine the same groups; the children are no more specific than the released table.",
)
PROPOSED = declare(
    "integrate: proposed attribute",
    what="With `conditions: holder`, the attribute that the winner of a round proposes to specialize.",
    to="every party",
    why="All parties must know whose condition the proposal concerns.",
)
PROPOSAL = declare(
    "integrate: proposal",
    what="With `conditions: holder`, the whole instruction of a proposal, also of one that is then rejected.",
    to="the holders of the sensitive columns that it concerns",
    why="A holder judges whether its sensitive column permits the specialization.",
)
VERDICT = declare(
    "integrate: verdict",
    what="With `conditions: holder`, whether a proposal is accepted.",
    to="every party",
    why="A rejected candidate is dropped, and the next round begins.",
)

# (channel, all parties in job order, this party's key or None) -> the winner and, if they are
# known, its key and the best key of all others; None when nobody takes part. Keys are positive, and
# no two parties have equal keys.
Found: TypeAlias = "tuple[str, int | None] | tuple[str, int | None, int] | None"
FindWinner: TypeAlias = Callable[[Channel, Sequence[str], int | None], Found]
# (this party, contributions so far) -> whether this party takes part in the next round
TakesPart: TypeAlias = Callable[[str, Mapping[str, int]], bool]
# (channel, winner, digest of its instruction), before anybody follows it; raises unless all agree
Confirm: TypeAlias = Callable[[Channel, str, bytes], None]


@dataclass(frozen=True)
class Plan:
    """What the job says. `trees` and `holders` have the attributes of the QIDs in job order.

    A tree is None if the holder has yet to announce the span of its numbers.
    """

    names: tuple[str, ...]
    trees: Mapping[str, Tree | None]
    holders: Mapping[str, str]
    requirements: tuple[Requirement, ...]
    class_holders: tuple[str, ...] = ()
    class_name: str | None = None
    sensitive_holders: Mapping[str, str] | None = None
    rule: str = "gain-ratio"
    max_suppression: float = 0.0
    turns: bool = False  # whether a winner may continue while its candidates stay the best
    # How proposals are judged: on "shares" (nobody sees them) or by the "holder", as in the paper.
    conditions: str = "shares"
    # By attribute, the values that bounds ask to be specialized before the first round.
    starts: Mapping[str, Sequence[int]] = field(default_factory=dict)


@dataclass(frozen=True)
class Outcome:
    """The generalized table with its history, and each party's contribution (scores times 2^30)."""

    table: Specializer
    winners: list[str]  # the party of each specialization
    contributions: dict[str, int]
    classes: Labels | None


def key_of(score: int, attribute: int) -> int:
    """The key of a candidate. The larger key wins: by score, then by the order of the attributes."""
    return (score << 16) | (MOST_ATTRIBUTES - 1 - attribute)


def key_of_candidate(candidate: Candidate) -> int:
    return key_of(candidate.score, candidate.attribute)


def _key(candidate: Candidate | None) -> int | None:
    return None if candidate is None else key_of_candidate(candidate)


def announce_scores(
    channel: Channel, names: Sequence[str], key: int | None
) -> tuple[str, int | None, int] | None:
    """Finds the winner by open scores."""
    keys = announced_keys(channel, key)
    second, best = sorted(names, key=lambda name: keys[name])[-2:]
    return (best, keys[best], keys[second]) if keys[best] else None


def announced_keys(channel: Channel, key: int | None) -> dict[str, int]:
    """The keys of all parties, which every party sends to all; 0 means Not-participate."""
    channel.broadcast(key or 0)
    most = (MOST_SCORE << 16) - 1
    keys = {peer: channel.recv_int(peer, 0, most, "score") for peer in channel.peers}
    keys[channel.me] = key or 0
    return channel.open(SCORES, keys)


def always(me: str, contributions: Mapping[str, int]) -> bool:
    """The semi-honest party takes part while it has a candidate."""
    return True


def integrate(
    channel: Channel,
    plan: Plan,
    columns: Mapping[str, Column],
    labels: Mapping[str, Labels],
    records: int,
    rng: Random,
    *,
    find_winner: FindWinner = announce_scores,
    takes_part: TakesPart = always,
    confirm: Confirm | None = None,
    book: RecordContribution = record_nothing,
    left_out: int = 0,
) -> Outcome:
    """This party's part of the joint specialization.

    `columns` are its own attributes of the QIDs; `labels` has the class, if the party holds it, and
    its sensitive columns, by name. Both are in the joint order. `book` is called with each
    contribution of this party before it is sent, and with each contribution that it has received
    and checked. Bounds on generalization have left out `left_out` further records before (`bounds`).
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
    with channel.step("specialize"):
        trees = _announce(channel, plan, columns)
        classes = labels[plan.class_name] if plan.class_name is not None else None
        with channel.step("compare"):
            heard = _digests(plan, classes, trees)
            compare_digests(channel, plan.names, heard, "the class and the spans")
        engine = StartedSpecializer if plan.starts else Specializer
        table = engine(
            trees,
            columns,
            labels,
            plan.requirements,
            records,
            plan.class_name,
            plan.rule,
            suppression_limit(plan.max_suppression, records + left_out) - left_out,
        )
        run = _Run(channel, plan, table, book, rng)
        run.judge_jointly(labels, rng)
        try:
            if isinstance(table, StartedSpecializer):
                run.start(table)
            if run.in_turns:
                while run.turn(find_winner, takes_part):
                    channel.progress(len(run.winners), 0)
            else:
                while run.next_round(find_winner, takes_part, confirm):
                    channel.progress(len(run.winners), 0)
        except PeerError as error:
            place = error.step or channel.failed_step
            reason = f"{error.reason}, in round {len(run.winners) + 1}"
            raise error.placed(place, reason) from error
    return Outcome(table, run.winners, run.contributions, classes)


def _announce(channel: Channel, plan: Plan, columns: Mapping[str, Column]) -> dict[str, Tree]:
    """Completes the trees by the spans that only the holders of numeric columns know."""
    trees = {**plan.trees, **{name: column.tree for name, column in columns.items()}}
    opened = {
        party: [n for n, tree in plan.trees.items() if tree is None and plan.holders[n] == party]
        for party in plan.names
    }
    with channel.step("announce"):
        if opened[channel.me]:
            spans = []
            for name in opened[channel.me]:
                column = columns[name]
                assert isinstance(column, ContinuousColumn)  # noqa: S101
                spans.append([column.tree.low[0], column.tree.high[0]])
            channel.broadcast(channel.open(SPANS, np.array(spans, np.float64)))
        for peer in channel.peers:
            if opened[peer]:
                what = "spans of its numeric attributes"
                received = channel.recv_array(peer, np.float64, (len(opened[peer]), 2), what)
                if not np.isfinite(received).all() or (received[:, 0] > received[:, 1]).any():
                    raise channel.fault(peer, f"sent no {what}")
                channel.open(SPANS, received)
                for name, (low, high) in zip(opened[peer], received.tolist(), strict=True):
                    trees[name] = IntervalTree(low, high)
    return {name: tree for name, tree in trees.items() if tree is not None}


def _digests(plan: Plan, classes: Labels | None, trees: Mapping[str, Tree]) -> dict[str, bytes]:
    """Digests of what each party has sent to all others: the class, the spans of its numbers."""
    heard = {}
    for party in plan.names:
        total = hashlib.sha256()
        if classes is not None and party == plan.class_holders[0]:
            total.update(digest_of_class(classes))
        for name, tree in plan.trees.items():
            if tree is None and plan.holders[name] == party:
                span = trees[name]
                assert isinstance(span, IntervalTree)  # noqa: S101
                total.update(np.array([span.low[0], span.high[0]], "<f8").data)
        heard[party] = total.digest()
    return heard


class _Run:
    """The rounds at one party."""

    def __init__(
        self,
        channel: Channel,
        plan: Plan,
        table: Specializer,
        book: RecordContribution,
        rng: Random,
    ) -> None:
        self.channel = channel
        self.book = book
        self.plan = plan
        self.table = table
        self.winners: list[str] = []
        self.contributions = dict.fromkeys(plan.names, 0)
        self._checkers = [self._checkers_of(name) for name in table.names]
        self._checked = any(self._checkers)
        self._joint: dict[int, JointFrequencies] = {}
        self._rejected = dict.fromkeys(plan.names, 0)
        self._shared: SharedConditions | None = None
        if self._checked and plan.conditions == "shares":
            conditions = conditions_of(
                plan.requirements, plan.sensitive_holders or {}, plan.holders
            )
            if conditions is None:
                raise UsageError("a model that is not decided on shares needs 'conditions: holder'")
            with channel.step("conditions"):
                fork = rng.fork("conditions")
                self._shared = SharedConditions(channel, plan.names, conditions, table, fork)

    @property
    def in_turns(self) -> bool:
        """Whether scores stay valid until their party wins, and no other party must agree."""
        return self.plan.turns and self.table.scores_last and not self._checked

    def _checkers_of(self, attribute: str) -> list[str]:
        """The parties, other than its holder, that must permit a specialization of this attribute."""
        holders = self.plan.sensitive_holders or {}
        found = {
            holders[name]
            for requirement in self.plan.requirements
            if attribute in requirement.qid
            for name in requirement.sensitive_columns
            if name in holders
        }
        found.discard(self.plan.holders[attribute])
        return [name for name in self.plan.names if name in found]

    def _compete(
        self, find_winner: FindWinner, takes_part: TakesPart
    ) -> tuple[Candidate | None, Found]:
        """This party's best candidate, if it takes part, and the winner."""
        candidate = None
        if takes_part(self.channel.me, self.contributions):
            candidate = self.table.propose()
        with self.channel.step("winner"):
            return candidate, find_winner(self.channel, self.plan.names, _key(candidate))

    def start(self, table: StartedSpecializer) -> None:
        """Leads the table to where the bounds let it begin, each holder instructing all others.

        These steps win nothing and count for nobody's contribution. They are judged like proposals:
        a condition that a step violates would be violated by every release within the bounds.
        """
        channel, names = self.channel, table.names
        with channel.step("start"):
            for attribute, node in table.steps(self.plan.starts):
                holder = self.plan.holders[names[attribute]]
                instruction = None
                accepted, informed = True, list[str]()
                if holder == channel.me:
                    instruction = table.forced(attribute, node)
                    accepted = table.permits(instruction)
                if accepted and self._checked:
                    with channel.step("propose"):
                        if self._shared is None:
                            accepted, informed, instruction = self._propose(holder, instruction)
                        else:
                            accepted = self._shared.decide(holder, [attribute], instruction)
                with channel.step("instruct"):
                    if accepted and instruction is None:
                        instruction = self._receive(holder)
                    elif accepted and instruction is not None and holder == channel.me:
                        self._give(instruction, [p for p in channel.peers if p not in informed])
                if not accepted or instruction is None or not table.permits(instruction):
                    raise DataError(
                        f"the bounds in at_most of '{names[attribute]}' violate a condition on a "
                        "sensitive column; permit more general values"
                    )
                if (instruction.attribute, instruction.node) != (attribute, node):
                    raise channel.fault(holder, "instructs something else than the bounds ask for")
                mark = mark_of(table, instruction)
                try:
                    table.follow(channel.open(INSTRUCTION, instruction))
                except InvalidError as error:
                    raise channel.fault(
                        holder, f"sent an impossible instruction: {error}"
                    ) from None
                if holder != channel.me:
                    others = tuple(name for name in self.plan.names if name != holder)
                    self.book(Contribution(holder, others, 0, mark))
            table.begun()

    def turn(self, find_winner: FindWinner, takes_part: TakesPart) -> bool:
        """A round in which the winner continues while its candidates stay the best.

        The scores that the others have announced are the best they can offer until one of them
        wins: an instruction adds candidates of its own attribute only, and can only remove
        candidates of the others. So the winner knows whether it would win again, and need not ask.
        """
        channel, table = self.channel, self.table
        candidate, found = self._compete(find_winner, takes_part)
        if found is None:
            return False
        winner, key = found[0], found[1]
        rest = found[2] if len(found) > 2 else MOST_SCORE << 16
        with channel.step("instruct"):
            if winner == channel.me:
                going_on = candidate
                while going_on is not None:
                    instruction = table.instruction(going_on)
                    self._give(instruction, channel.peers)
                    self._perform(winner, key, instruction)
                    going_on, key = table.propose(), None
                    if going_on is not None and key_of_candidate(going_on) < rest:
                        going_on = None
                channel.broadcast(0)
                return True
            first = True
            while (received := self._receive_next(winner)) is not None:
                if not first and key_of(received.score, received.attribute) < rest:
                    raise channel.fault(winner, "goes on though another party has a better score")
                if not table.permits(received):
                    raise channel.fault(winner, "instructs what a sensitive column forbids")
                self._perform(winner, key, received)
                first, key = False, None
            if first:
                raise channel.fault(winner, "won and gave no instruction")
        return True

    def next_round(
        self, find_winner: FindWinner, takes_part: TakesPart, confirm: Confirm | None = None
    ) -> bool:
        """One specialization or rejection; False if no party takes part any more."""
        channel, table = self.channel, self.table
        candidate, found = self._compete(find_winner, takes_part)
        if found is None:
            return False
        winner, winning_key = found[0], found[1]
        mine = candidate if winner == channel.me else None
        instruction = None if mine is None else table.instruction(mine)
        if self._checked:
            with channel.step("propose"):
                self._check_supply(winner)
                if self._shared is None:
                    accepted, informed, instruction = self._propose(winner, instruction)
                else:
                    candidates, informed = self._candidates(winner, winning_key), []
                    accepted = self._shared.decide(winner, candidates, instruction)
            if not accepted:
                self._rejected[winner] += 1
                if mine is not None:
                    table.drop(mine)
                return True
        else:
            informed = []
        with channel.step("instruct"):
            if instruction is None:
                instruction = self._receive(winner)
                if not table.permits(instruction):
                    raise channel.fault(winner, "instructs what a sensitive column forbids")
            elif winner == channel.me:
                self._give(instruction, [peer for peer in channel.peers if peer not in informed])
            if confirm is not None:
                confirm(channel, winner, digest_of(instruction))
            self._perform(winner, winning_key, instruction)
        return True

    def judge_jointly(self, labels: Mapping[str, Labels], rng: Random) -> None:
        """Sets up what two holders decide together, and checks the topmost table.

        All parties call this method; only the holders of such columns do something.
        """
        held = self.plan.sensitive_holders or {}
        for j, requirement in enumerate(self.plan.requirements):
            model = requirement.model
            if not isinstance(model, JointDiversity) or not model.by_frequency:
                continue
            first, second = (
                name for name in self.plan.names if name in {held.get(c) for c in model.columns}
            )
            if self.channel.me not in (first, second):
                continue
            # Both have the class; it counts as a column of the first.
            mine = [c for c in model.columns if held.get(c, first) == self.channel.me]
            columns = [(labels[c], model.limits[model.columns.index(c)]) for c in mine]
            with self.channel.step("joint"):
                fork = rng.fork(f"joint {j}")
                both = JointFrequencies(self.channel, (first, second), model, columns, fork)
                every = np.arange(self.table.records)
                if not both.hold(np.zeros(len(every), np.int64), every, 1):
                    raise DataError(
                        f"requirement {j + 1} ({', '.join(requirement.qid)}): not even the whole "
                        f"table satisfies {model.name}: the sensitive columns must be in one house"
                    )
            self._joint[j] = both

    def _permits(self, instruction: Instruction) -> bool:
        """The verdict of a holder that sees the instruction."""
        table = self.table
        verdict = table.permits(instruction)
        width = table.width(instruction.attribute, instruction.node, instruction.split)
        leaves = table.partitions.link(instruction.attribute, instruction.node)
        for j in table.concerning[instruction.attribute]:
            if j in self._joint:
                records = table.partitions.records_of(leaves)
                cells, _, count = table.partitions.sensitive_cells(
                    j, leaves, instruction.children, width, np.arange(table.records)
                )
                verdict = self._joint[j].hold(cells, records.astype(np.int64), count) and verdict
        return verdict

    def _candidates(self, winner: str, key: int | None) -> list[int]:
        """The attributes that the winner's candidate may belong to, as far as all parties know."""
        own = [i for i, name in enumerate(self.table.names) if self.plan.holders[name] == winner]
        if key is None:
            return own
        attribute = MOST_ATTRIBUTES - 1 - (key & 0xFFFF)
        if attribute not in own:
            raise self.channel.fault(winner, "won with an attribute that it does not hold")
        return [attribute]

    def _check_supply(self, winner: str) -> None:
        """Refuses a winner that has been rejected more often than it has values.

        A rejected value stays in the cut and is not proposed again. Each rejection tells the
        proposer something about a sensitive column, or the holder something about a proposal.
        """
        table = self.table
        supply = sum(
            children_of(table, attribute, node) > 0
            for attribute in self._candidates(winner, None)
            for node in table.cut_nodes(attribute)
        )
        if self._rejected[winner] >= supply:
            raise self.channel.fault(winner, "proposes more often than it has values to specialize")

    def _propose(
        self, winner: str, instruction: Instruction | None
    ) -> tuple[bool, list[str], Instruction | None]:
        """§8: the holders of sensitive columns judge the instruction before anybody follows it."""
        channel = self.channel
        if winner == channel.me:
            assert instruction is not None  # noqa: S101
            channel.broadcast(channel.open(PROPOSED, instruction.attribute))
            checkers = self._checkers[instruction.attribute]
            for peer in checkers:
                channel.open(PROPOSAL, instruction, to=peer)
            self._give(instruction, checkers, proposal=True)
            own = self._permits(instruction)
            verdicts = [own, *(self._flag(peer) for peer in checkers)]
            channel.broadcast(channel.open(VERDICT, int(all(verdicts))))
            return all(verdicts), checkers, instruction
        attribute = channel.recv(winner)
        if not isinstance(attribute, int) or not 0 <= attribute < len(self.table.names):
            raise channel.fault(winner, "proposed no attribute")
        channel.open(PROPOSED, attribute)
        checkers = self._checkers[attribute]
        if channel.me in checkers:
            instruction = channel.open(PROPOSAL, self._receive(winner), to=channel.me)
            if instruction.attribute != attribute:
                raise channel.fault(winner, "proposed one attribute and sent another")
            channel.send(winner, int(self._permits(instruction)))
        return channel.open(VERDICT, self._flag(winner)), checkers, instruction

    def _flag(self, peer: str) -> bool:
        return self.channel.recv_flag(peer)

    def _give(self, instruction: Instruction, peers: Sequence[str], proposal: bool = False) -> None:
        """Records an instruction as a contribution, and sends it to those who do not have it yet.

        An accepted instruction is a contribution to all parties, also to those that have seen it as
        a proposal.
        """
        to = tuple(peers) if proposal else tuple(self.channel.peers)
        if to:
            mark = mark_of(self.table, instruction)
            self.book(Contribution(self.channel.me, to, instruction.score, mark, proposal))
        for peer in peers:
            self.channel.send(peer, *instruction_values(self.table, instruction))

    def _receive(self, winner: str) -> Instruction:
        return self._read(winner, self.channel.recv(winner))

    def _receive_next(self, winner: str) -> Instruction | None:
        """The next instruction of a turn, or None at its end."""
        received = self.channel.recv(winner)
        return None if isinstance(received, int) and received == 0 else self._read(winner, received)

    def _read(self, winner: str, received: Any) -> Instruction:
        own = {i for i, name in enumerate(self.table.names) if self.plan.holders[name] == winner}
        return read_instruction(self.channel, self.table, winner, own, received)

    def _perform(self, winner: str, key: int | None, instruction: Instruction) -> None:
        channel = self.channel
        mark = mark_of(self.table, instruction)
        try:
            score = self.table.apply(channel.open(INSTRUCTION, instruction))
        except InvalidError as error:
            raise channel.fault(winner, f"sent an impossible instruction: {error}") from None
        if score != instruction.score or (
            key is not None and key != key_of(score, instruction.attribute)
        ):
            declared = instruction.score if score != instruction.score else (key or 0) >> 16
            raise channel.fault(
                winner, f"declared the score {declared}, but its instruction has the score {score}"
            )
        self.winners.append(winner)
        self.contributions[winner] += score
        if winner != channel.me:
            others = tuple(name for name in self.plan.names if name != winner)
            self.book(Contribution(winner, others, score, mark))


__all__ = [
    "Candidate",
    "Confirm",
    "FindWinner",
    "Outcome",
    "Plan",
    "TakesPart",
    "always",
    "announce_scores",
    "announced_keys",
    "digest_of",
    "integrate",
    "key_of",
]
