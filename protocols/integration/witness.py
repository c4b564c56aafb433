"""A witness: a party that holds a population says which specializations it permits (k-map).

A requirement entry with `k_map` asks for k people of a population in place of k records of the
table (`anonymity.specialization.universe` has the definition, the rule and why it is stricter than
the definition). The population is another party's, which the job names by `universe`. The witness
takes no part in the intersection, holds no attribute of the table, and its people have no
identifiers here; the organisations are all other parties.

In: at the organisations, the joint specialization (`rounds`), whose winner has a candidate; at the witness,
the population's columns of all attributes in entries with `k_map`. Public: the job. Out, at every
organisation: whether the candidate is permitted, and at the end whether every group of the table has people
in the population. The course of the specialization equals that of `specialize(…, universe=…)` on
the joined table.

Who learns what. Adversary: semi-honest.
    witness    in each round which organisation has won and its candidate (attribute, value, split of an
               interval), also of a candidate that is then refused; or only that the candidate
               concerns no column of the population, or that a sensitive column has refused it. So it
               learns the course of the cut, and of each split that somebody in the table has a
               number from there up to the next value that k of its people have. At the end the
               combinations of values of the final cut that the table has, not how often, which are a
               part of the release. Verdicts depend on the population and the cut alone, so that they
               tell the witness nothing that it does not know: no record, and of nobody that he or
               she is one of less than k of its people.
    organisations     the values of each column of numbers that k people of the population have, not how
               many; one bit for each candidate: whether every combination of the cut after it would have
               nobody or k people in the population; and how many groups of the final table have
               nobody there, which is 0 in a job that comes to a release.
A witness that deviates can permit or refuse what it likes: nobody can check a count in a population
that only the witness has. It cannot tell different organisations different answers, which they compare,
and an organisation cannot ask about one candidate and instruct another, since a granted candidate is told to
all organisations (the instruction tells it to them anyway).

Messages, in the step `population`:
    first       if entries with `k_map` have columns of numbers, witness to all organisations: the values at
                which they may be split; all compare digests (`broadcast_check`)
    each round  organisation to witness: the candidate, or that another organisation has it, that a sensitive
                column has refused it, or that no organisation has one, which is the end; witness to all
                organisations: no, or yes and the candidate; digests as above
    at the end  organisation to witness: the combinations of the final cut; witness to all organisations: for each
                entry, how many of them nobody in the population has; digests as above
Kept answers: at the organisations, those of `integrate`, and the numbers at the end; at the witness at the
same places a blank for what it does not take part in, and each candidate that it has judged.

Cost, for p organisations: three messages in sequence a round, of some 100 bytes, and p (p + 1) digests; at
the witness, one pass over the people who have the value. At the end 8 bytes for each group and
attribute.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from coterie.anonymity.specialization.generalized import (
    GeneralizedTable,
    Instruction,
    InvalidError,
)
from coterie.anonymity.specialization.universe import (
    Universe,
    check_people,
    combinations,
    mapped,
    mapped_names,
    rounded,
)
from coterie.anonymity.table.columns import Column, IntervalTree
from coterie.base.arrays import Array
from coterie.protocols.integration.plan import Plan
from coterie.protocols.messaging.broadcast_check import compare_digests, digest_of
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.messaging.opening import declare
from coterie.protocols.messaging.wire import Value

# The kept answers: of the rounds at the witness, and of the end at all.
ROUND = "round"
CONFIRMED = "groups in the population"

CANDIDATE = declare(
    "integrate: candidate for the witness",
    what="With `universe`, in each round which party has won, and the attribute, the value and the split of its candidate, also of one that is then refused; of a candidate that concerns no column of the population, or that a sensitive column has refused, only that; and when no party has one any more.",
    to="the witness",
    why="The witness counts its population under the cut that the candidate would give.",
)
POINTS = declare(
    "integrate: values of many people",
    what="With `universe`, which values of each column of numbers in an entry with `k_map` at least k people of the population have.",
    to="every party",
    why="Intervals are split at these values alone: a split shows that somebody in the table has about this value.",
)
PERMITTED = declare(
    "integrate: answer of the witness",
    what="With `universe`, whether after a candidate each combination of values would have nobody or k people in the population; a candidate that is permitted, with the answer.",
    to="every party",
    why="A candidate that the population refuses is dropped, and the next round begins.",
)
COMBINATIONS = declare(
    "integrate: combinations for the witness",
    what="With `universe`, which combinations of values the final table has on each QID with `k_map`, not how many records have them.",
    to="the witness",
    why="The witness makes sure that each of them has people in the population; the release shows them, too.",
)
LACKING = declare(
    "integrate: groups without people",
    what="With `universe`, how many of the final table's groups nobody in the population is in, for each entry with `k_map`.",
    to="every party",
    why="Nothing is released unless all these numbers are 0.",
)

Candidate: TypeAlias = "tuple[str, int, float | None]"  # the attribute, the value, the split

_OTHER, _MINE, _REFUSED, _END = range(4)  # what an organisation says of a round
_NO_COLUMN = -1  # the place of an attribute that the population does not have
_MOST = 1 << 31


def witness_names(plan: Plan) -> tuple[str, ...]:
    """All parties, the witness last."""
    assert plan.witness is not None  # noqa: S101
    return (*plan.names, plan.witness)


def points_of_population(
    channel: Channel, plan: Plan, columns: Mapping[str, Column]
) -> dict[str, Column]:
    """An organisation's columns, whose numbers are rounded to the values that the witness permits."""
    assert plan.witness is not None  # noqa: S101
    witness, everybody = plan.witness, witness_names(plan)
    names = [
        name
        for name in mapped_names(plan.requirements, [*plan.trees])
        if isinstance(plan.trees[name], IntervalTree)
    ]
    if not names:
        return dict(columns)
    what = "values at which numbers may be split"
    with channel.among(everybody), channel.step("population"):
        received = channel.recv_list(witness, len(names), what)
        points = {
            name: channel.check_array(witness, one, np.float64, (None,), what)
            for name, one in zip(names, received, strict=True)
        }
        channel.open(POINTS, points)
        compare_digests(channel, everybody, {witness: digest_of(received)}, what)
    return {
        name: rounded(column, points[name]) if name in points else column
        for name, column in columns.items()
    }


class Asking:
    """The side of an organisation; made by all organisations before the first round."""

    def __init__(self, channel: Channel, plan: Plan, table: GeneralizedTable) -> None:
        assert plan.witness is not None  # noqa: S101
        self.channel, self.table = channel, table
        self._everybody, self._witness = witness_names(plan), plan.witness
        self._columns = mapped_names(plan.requirements, table.names)
        self._granted: list[Value] = []

    def permits(self, winner: str, instruction: Instruction | None) -> bool:
        """The answer about the winner's candidate, which only the winner has."""
        channel = self.channel
        with channel.among(self._everybody), channel.step("population"):
            if winner == channel.me:
                assert instruction is not None  # noqa: S101
                told = self._told(instruction)
                channel.send(self._witness, _MINE, *channel.open(CANDIDATE, told, to=self._witness))
            else:
                channel.send(self._witness, _OTHER, *_nothing())
            what = "answer about a candidate"
            answer = channel.recv_list(self._witness, 4, what)
            permitted = channel.check_int(self._witness, answer[0], 0, 1, what)
            self._granted = _sound(channel, self._witness, answer[1:], what)
            channel.open(PERMITTED, answer)
            heard = {self._witness: digest_of(permitted, *self._granted)}
            compare_digests(channel, self._everybody, heard, "its answer")
        return bool(permitted)

    def check(self, winner: str, instruction: Instruction) -> None:
        """Refuses an instruction that is not the candidate about which the witness was asked."""
        if digest_of(*self._told(instruction)) != digest_of(*self._granted):
            raise self.channel.fault(
                winner, "instructs something else than the witness was asked about"
            )

    def refused(self) -> None:
        """Tells the witness that a sensitive column has refused the candidate of this round."""
        self._say(_REFUSED)

    def end(self) -> None:
        """Tells the witness that no organisation has a candidate any more."""
        self._say(_END)

    def _say(self, state: int) -> None:
        channel = self.channel
        with channel.among(self._everybody), channel.step("population"):
            channel.open(CANDIDATE, None, to=self._witness)
            channel.send(self._witness, state, *_nothing())

    def confirm(self) -> None:
        """Makes sure that every group has people in the population; raises `DataError`."""
        channel, table = self.channel, self.table
        entries = mapped(table.requirements)
        groups = [combinations(table, entry.qid) for entry in entries]

        def ask() -> list[Value]:
            channel.send(self._witness, list(channel.open(COMBINATIONS, groups, to=self._witness)))
            most = max(map(len, groups))
            what = "numbers of groups without people"
            found = channel.recv_ints(self._witness, len(entries), 0, most, what)
            channel.open(LACKING, found)
            heard = {self._witness: digest_of(list(found))}
            compare_digests(channel, self._everybody, heard, what)
            return list(found)

        with channel.among(self._everybody), channel.step("population"):
            lacking = channel.once(CONFIRMED, ask)
        check_people(table.requirements, lacking)

    def _told(self, instruction: Instruction) -> list[Value]:
        name = self.table.names[instruction.attribute]
        if name not in self._columns:
            return _nothing()
        split = [] if instruction.split is None else [instruction.split]
        return [self._columns.index(name), instruction.node, np.array(split, np.float64)]


def bear_witness(
    channel: Channel, organisations: Sequence[str], universe: Universe, blanks: Sequence[str]
) -> None:
    """The side of the witness, whose columns are in the order of the job.

    `blanks` are the answers that the organisations keep before the first round.
    """
    everybody = (*organisations, channel.me)
    for what in blanks:
        channel.once(what, lambda: 0)
    with channel.step("specialize"):
        if universe.numbers:
            with channel.step("population"):
                points: list[Value] = [universe.points(name) for name in universe.numbers]
                channel.broadcast(channel.open(POINTS, points))
                what = "values at which numbers may be split"
                compare_digests(channel, everybody, {channel.me: digest_of(points)}, what)
        rounds = 0
        while _judge(channel, organisations, everybody, universe):
            rounds += 1
            channel.progress(rounds, 0)

        def count() -> list[Value]:
            told = _gathered_groups(channel, organisations, universe)
            found: list[Value] = [universe.lacking(j, groups) for j, groups in enumerate(told)]
            channel.broadcast(channel.open(LACKING, found))
            what = "numbers of groups without people"
            compare_digests(channel, everybody, {channel.me: digest_of(found)}, what)
            return found

        with channel.step("population"):
            lacking = channel.once(CONFIRMED, count)
        check_people(universe.requirements, lacking)


def _judge(
    channel: Channel, organisations: Sequence[str], everybody: Sequence[str], universe: Universe
) -> bool:
    """Answers the candidate of one round; False if there is none any more."""
    kept = channel.next_kept(ROUND)
    if kept is None:
        with channel.step("population"):
            kept = _answer(channel, organisations, everybody, universe)
        channel.keep(ROUND, kept)
    if not kept:
        return False
    permitted, place, node, split = kept
    if permitted and place != _NO_COLUMN:
        universe.follow(*_candidate(universe, place, node, split))
    return True


def _answer(
    channel: Channel, organisations: Sequence[str], everybody: Sequence[str], universe: Universe
) -> list[Value]:
    winner, candidate = _gathered(channel, organisations)
    if winner is None:
        return candidate
    channel.open(CANDIDATE, candidate, to=channel.me)
    place, node, split = candidate
    permitted = place == _NO_COLUMN
    if not permitted:
        if not 0 <= place < len(universe.names):
            raise channel.fault(winner, f"asks about column {place}, which does not exist")
        try:
            permitted = universe.permits(*_candidate(universe, place, node, split))
        except InvalidError as error:
            raise channel.fault(winner, f"asks about an impossible candidate: {error}") from None
    answer: list[Value] = [int(permitted), *(candidate if permitted else _nothing())]
    channel.broadcast(*channel.open(PERMITTED, answer))
    compare_digests(channel, everybody, {channel.me: digest_of(*answer)}, "its answer")
    return answer


def _gathered(channel: Channel, organisations: Sequence[str]) -> tuple[str | None, list[Any]]:
    """The winner and its candidate; without a winner, what the witness keeps of the round."""
    what = "candidate, or word that it has none"
    said: dict[str, int] = {}
    told: dict[str, list[Any]] = {}
    for organisation in organisations:
        state, *rest = channel.recv_list(organisation, 4, what)
        said[organisation] = channel.check_int(organisation, state, _OTHER, _END, what)
        told[organisation] = _sound(channel, organisation, rest, what)
    states = set(said.values())
    if states == {_END}:
        return None, []
    if states == {_REFUSED}:
        return None, [0, *_nothing()]
    winners = [organisation for organisation in organisations if said[organisation] == _MINE]
    if len(winners) != 1 or not states <= {_OTHER, _MINE}:
        odd = next(
            (h for h in organisations if said[h] != said[organisations[0]]), organisations[0]
        )
        raise channel.fault(
            odd, "does not agree with the other organisations about the winner of a round"
        )
    return winners[0], told[winners[0]]


def _gathered_groups(
    channel: Channel, organisations: Sequence[str], universe: Universe
) -> list[Array]:
    """The combinations of the final table, which must be the same from all organisations."""
    what = "combinations of the final table"
    first: list[Array] | None = None
    for organisation in organisations:
        listed = channel.recv_list(organisation, len(universe.requirements), what)
        groups = [
            channel.check_array(organisation, one, np.int64, (None, len(entry.qid)), what)
            for one, entry in zip(listed, universe.requirements, strict=True)
        ]
        if first is None:
            first = groups
        elif not all(map(np.array_equal, first, groups)):
            raise channel.fault(organisation, f"told other combinations than {organisations[0]}")
    assert first is not None  # noqa: S101
    return channel.open(COMBINATIONS, first, to=channel.me)


def _sound(channel: Channel, peer: str, values: Sequence[Any], what: str) -> list[Any]:
    """The place, the node and the split of a candidate in a message."""
    place = channel.check_int(peer, values[0], _NO_COLUMN, _MOST, what)
    node = channel.check_int(peer, values[1], 0, _MOST, what)
    split = channel.check_array(peer, values[2], np.float64, (None,), what)
    if len(split) > 1 or not np.isfinite(split).all():
        raise channel.fault(peer, f"sent no {what}")
    return [place, node, split]


def _nothing() -> list[Value]:
    return [_NO_COLUMN, 0, np.empty(0, np.float64)]


def _candidate(universe: Universe, place: int, node: int, split: Array) -> Candidate:
    return universe.names[place], node, float(split[0]) if len(split) else None


__all__ = ["Asking", "bear_witness", "points_of_population", "witness_names"]
