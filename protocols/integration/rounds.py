"""The rounds of a joint specialization at one party; `integrate` has the whole protocol."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from coterie.anonymity.specialization.slack import SlackWatch
from coterie.anonymity.specialization.specialize import (
    Candidate,
    Instruction,
    InvalidError,
    Specializer,
)
from coterie.anonymity.specialization.starting import StartedSpecializer
from coterie.base.errors import DataError, UsageError
from coterie.protocols.integration.contributions import Contribution, RecordContribution, mark_of
from coterie.protocols.integration.instructions import Exchange, digest_of, instruction_values
from coterie.protocols.integration.plan import Plan
from coterie.protocols.integration.scores import (
    MOST_ATTRIBUTES,
    MOST_SCORE,
    FindWinner,
    Found,
    key_of,
    key_of_candidate,
)
from coterie.protocols.integration.sensitive.conditions import SharedConditions, conditions_of
from coterie.protocols.integration.sensitive.holders import Holders, checkers_of
from coterie.protocols.integration.sensitive.slots import children_of
from coterie.protocols.integration.telling import Telling
from coterie.protocols.integration.witness import ROUND, Asking
from coterie.protocols.messaging.broadcast_check import compare_digests
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.messaging.opening import declare
from coterie.protocols.messaging.wire import Value
from coterie.protocols.primitives.randomness import Random

# The kept answers: the steps that bounds require, and the rounds.
START = "start"

INSTRUCTION = declare(
    "integrate: instruction",
    what="The attribute, the value, the split, the score, and for every record with the value the child that it goes to.",
    to="every party",
    why="All parties refine the same groups; the children are no more specific than the released table.",
)

# (this party, contributions so far) -> whether this party takes part in the next round
TakesPart: TypeAlias = Callable[[str, Mapping[str, int]], bool]
# (channel, winner, digest of its instruction), before anybody follows it; raises unless all agree
Confirm: TypeAlias = Callable[[Channel, str, bytes], None]


def always(me: str, contributions: Mapping[str, int]) -> bool:
    """The semi-honest party takes part while it has a candidate."""
    return True


class Rounds:
    """The rounds at one party."""

    def __init__(
        self,
        channel: Channel,
        plan: Plan,
        table: Specializer,
        book: RecordContribution,
        rng: Random,
        telling: Telling,
    ) -> None:
        self.channel = channel
        self._telling = telling
        self.book = book
        self.plan = plan
        self.table = table
        self.winners: list[str] = []
        self.contributions = dict.fromkeys(plan.names, 0)
        self._exchange = Exchange(channel, plan, table, book)
        self.holders = Holders(channel, plan, table, self._exchange, telling)
        self._checked = any(checkers_of(plan, name) for name in table.names)
        self.asking = None if plan.witness is None else Asking(channel, plan, table)
        self._rejected = dict.fromkeys(plan.names, 0)
        self.watch = SlackWatch(table) if plan.slack else None
        self._taking_part = True  # in the current round
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
        judged = self._checked or self.asking is not None
        return self.plan.turns and self.table.scores_last and not judged

    def _compete(
        self, find_winner: FindWinner, takes_part: TakesPart
    ) -> tuple[Candidate | None, Found]:
        """This party's best candidate, if it takes part, and the winner."""
        candidate = None
        self._taking_part = takes_part(self.channel.me, self.contributions)
        if self._taking_part:
            candidate = self.table.propose()
        key = None if candidate is None else key_of_candidate(candidate)
        with self.channel.step("winner"):
            return candidate, find_winner(self.channel, self.plan.names, key)

    def start(self, table: StartedSpecializer) -> None:
        """Leads the table to the cut that the bounds set, with instructions of each holder to all.

        These steps win nothing and count for nobody's contribution. They are judged like proposals:
        a condition that a step violates would be violated by every release within the bounds.
        """
        channel, names = self.channel, table.names
        with channel.step("start"):
            for attribute, node in table.steps(self.plan.starts):
                holder = self.plan.holders[names[attribute]]
                kept = channel.next_kept(START)
                if kept is not None:
                    table.follow(self._exchange.read(holder, kept))
                    continue
                instruction = None
                accepted, informed = True, list[str]()
                if holder == channel.me:
                    try:
                        instruction = table.forced(attribute, node)
                    except InvalidError as error:
                        reason = f"one of them shared false counts: {error}"
                        raise channel.fault(", ".join(channel.peers), reason) from None
                    self._compare(instruction)
                    accepted = table.permits(instruction)
                if accepted and self._checked:
                    with channel.step("propose"):
                        if self._shared is None:
                            accepted, informed, instruction = self.holders.propose(
                                holder, instruction
                            )
                        else:
                            accepted = self._shared.decide(holder, [attribute], instruction)
                with channel.step("instruct"):
                    if accepted and instruction is None:
                        instruction = self._exchange.receive(holder)
                    elif accepted and instruction is not None and holder == channel.me:
                        self._exchange.give(
                            instruction, [p for p in channel.peers if p not in informed]
                        )
                if not accepted or instruction is None or not table.permits(instruction):
                    raise DataError(
                        f"the bounds in at_most of '{names[attribute]}' violate a condition on a "
                        "sensitive column; permit more general values"
                    )
                if (instruction.attribute, instruction.node) != (attribute, node):
                    raise channel.fault(holder, "instructs something else than the bounds ask for")
                with channel.step("compare"):
                    heard = {holder: digest_of(instruction)}
                    compare_digests(channel, self.plan.names, heard, "its start values")
                mark = mark_of(table, instruction)
                values = instruction_values(table, instruction)
                told = self._told(instruction)
                try:
                    table.follow(channel.open(INSTRUCTION, instruction))
                except InvalidError as error:
                    raise channel.fault(
                        holder, f"sent an impossible instruction: {error}"
                    ) from None
                if holder != channel.me:
                    others = tuple(name for name in self.plan.names if name != holder)
                    self.book(Contribution(holder, others, 0, mark))
                channel.keep(START, values, told)
            table.begun()

    def all_rounds(
        self, find_winner: FindWinner, takes_part: TakesPart, confirm: Confirm | None
    ) -> None:
        """The rounds of a phase, those of an earlier attempt first."""
        if self.resume(takes_part):
            return
        in_turns = self.in_turns
        while (
            self.turn(find_winner, takes_part)
            if in_turns
            else self.next_round(find_winner, takes_part, confirm)
        ):
            self.channel.progress(len(self.winners), 0)

    def refine(self) -> None:
        """Begins the second phase, whose contributions have a unit of their own."""
        self.table.refine()
        self.contributions = dict.fromkeys(self.plan.names, 0)
        self._rejected = dict.fromkeys(self.plan.names, 0)

    def resume(self, takes_part: TakesPart) -> bool:
        """Follows the rounds that all parties have kept from earlier attempts; whether these are all.

        Every contribution in them was recorded before it was kept.
        """
        table, me = self.table, self.channel.me
        while (kept := self.channel.next_kept(ROUND)) is not None:
            if self.watch is not None:
                self._taking_part = takes_part(me, self.contributions)
            if not kept:
                self._watch(None)
                return True
            winner = self.plan.names[kept[0]]
            if len(kept) == 1:
                self._rejected[winner] += 1
                if winner == me and (mine := table.propose()) is not None:
                    table.drop(mine)
                continue
            instruction = self._exchange.read(winner, kept[1:])
            self._watch(instruction)
            score = table.apply(instruction)
            self.winners.append(winner)
            self.contributions[winner] += score
        return False

    def _watch(self, step: Instruction | None) -> None:
        """Lets the watch of the slack, if there is one, see the next step, or the end."""
        if self.watch is not None and self._taking_part:
            self.watch.before(step)

    def _keep(
        self, winner: str | None, values: Sequence[Value] = (), told: bytes | None = None
    ) -> None:
        """Keeps the end of the rounds, a rejection, or the instruction of a winner.

        `told` is the digest of the instruction, accepted or not, as far as this party knows it.
        """
        at = [] if winner is None else [self.plan.names.index(winner), *values]
        whole = told or self._telling.digest([*at])
        self.channel.keep(ROUND, [*at], whole + bytes([bool(values)]))

    def _told(self, instruction: Instruction) -> bytes:
        return self._telling.of_instruction(self.table, instruction)

    def _compare(self, instruction: Instruction) -> None:
        """Ends the job if this party told another instruction here, in an earlier attempt."""
        self.channel.compare(self._told(instruction))

    def turn(self, find_winner: FindWinner, takes_part: TakesPart) -> bool:
        """A round in which the winner continues while its candidates stay the best.

        The scores that the others have announced are the best they can offer until one of them
        wins: an instruction adds candidates of its own attribute only, and can only remove
        candidates of the others. So the winner knows whether it would win again, and need not ask.
        """
        channel, table = self.channel, self.table
        candidate, found = self._compete(find_winner, takes_part)
        if found is None:
            self._watch(None)
            self._keep(None)
            return False
        winner, key = found[0], found[1]
        rest = found[2] if len(found) > 2 else MOST_SCORE << 16
        with channel.step("instruct"):
            if winner == channel.me:
                going_on = candidate
                while going_on is not None:
                    instruction = table.instruction(going_on)
                    self._compare(instruction)
                    self._exchange.give(instruction, channel.peers)
                    self._perform(winner, key, instruction)
                    going_on, key = table.propose(), None
                    if going_on is not None and key_of_candidate(going_on) < rest:
                        going_on = None
                channel.broadcast(0)
                return True
            first = True
            while (received := self._exchange.receive_next(winner)) is not None:
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
            self._watch(None)
            if self.asking is not None:
                self.asking.end()
            self._keep(None)
            return False
        winner, winning_key = found[0], found[1]
        mine = candidate if winner == channel.me else None
        instruction = None if mine is None else table.instruction(mine)
        if instruction is not None:
            self._compare(instruction)
        accepted, informed = True, list[str]()
        if self._checked:
            with channel.step("propose"):
                self._check_supply(winner)
                if self._shared is None:
                    accepted, informed, instruction = self.holders.propose(winner, instruction)
                else:
                    candidates = self._candidates(winner, winning_key)
                    accepted = self._shared.decide(winner, candidates, instruction)
        if self.asking is not None:
            self._check_supply(winner)
            if accepted:
                accepted = self.asking.permits(winner, instruction)
            else:
                self.asking.refused()
        if not accepted:
            self._rejected[winner] += 1
            told = None if instruction is None else self._told(instruction)
            if mine is not None:
                table.drop(mine)
            self._keep(winner, told=told)
            return True
        with channel.step("instruct"):
            if instruction is None:
                instruction = self._exchange.receive(winner)
                if not table.permits(instruction):
                    raise channel.fault(winner, "instructs what a sensitive column forbids")
            elif winner == channel.me:
                self._exchange.give(
                    instruction, [peer for peer in channel.peers if peer not in informed]
                )
            if self.asking is not None:
                self.asking.check(winner, instruction)
            if confirm is not None:
                confirm(channel, winner, digest_of(instruction))
            self._perform(winner, winning_key, instruction)
        return True

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

    def _perform(self, winner: str, key: int | None, instruction: Instruction) -> None:
        channel = self.channel
        mark = mark_of(self.table, instruction)
        values = instruction_values(self.table, instruction)
        told = self._told(instruction)
        self._watch(instruction)
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
        self._keep(winner, values, told=told)
