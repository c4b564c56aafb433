"""`conditions: holder`, as in the paper: holders of sensitive columns see and judge proposals.

Mohammed, Fung, Debbabi (paper 1), §8. In: at the winner its instruction; at each holder its
sensitive columns. Out, at every party: whether all holders accept. Adversary: semi-honest. A holder
sees a proposal before anybody follows it, also one that it then rejects, which is more than the
release shows; docs/threat-model.md discusses that. With `conditions: shares` (`conditions`) nobody
sees proposals, and `rounds` uses only `checkers_of` of this module.

Messages, in the step `propose`: winner to all: the attribute; winner to each party that holds a
sensitive column concerned: the instruction; these to the winner: yes or no; winner to all: yes or
no. Two holders of columns that are judged jointly exchange the messages of `joint_frequencies`.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from coterie.anonymity.models.privacy import JointDiversity
from coterie.anonymity.specialization.generalized import Instruction
from coterie.anonymity.specialization.specialize import Labels, Specializer
from coterie.base.errors import DataError
from coterie.protocols.integration.instructions import Exchange
from coterie.protocols.integration.plan import Plan
from coterie.protocols.integration.sensitive.joint_frequencies import JointFrequencies
from coterie.protocols.integration.telling import Telling
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.messaging.opening import declare
from coterie.protocols.primitives.randomness import Random

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


def checkers_of(plan: Plan, attribute: str) -> list[str]:
    """The parties, other than its holder, that must permit a specialization of this attribute."""
    holders = plan.sensitive_holders or {}
    found = {
        holders[name]
        for requirement in plan.requirements
        if attribute in requirement.qid
        for name in requirement.sensitive_columns
        if name in holders
    }
    found.discard(plan.holders[attribute])
    return [name for name in plan.names if name in found]


class Holders:
    """One party's part in judging proposals by their holders."""

    def __init__(
        self,
        channel: Channel,
        plan: Plan,
        table: Specializer,
        exchange: Exchange,
        telling: Telling,
    ) -> None:
        self.channel, self.plan, self.table = channel, plan, table
        self._exchange, self._telling = exchange, telling
        self._checkers = [checkers_of(plan, name) for name in table.names]
        self._joint: dict[int, JointFrequencies] = {}

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
                        f"table satisfies {model.name}: the sensitive columns must be at one organisation"
                    )
            self._joint[j] = both

    def propose(
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
            self._exchange.give(instruction, checkers, proposal=True)
            own = self._permits(instruction)
            verdicts = [own, *(channel.recv_flag(peer) for peer in checkers)]
            channel.broadcast(channel.open(VERDICT, int(all(verdicts))))
            return all(verdicts), checkers, instruction
        last = len(self.table.names) - 1
        attribute = channel.recv_int(winner, 0, last, "attribute that it proposes")
        channel.open(PROPOSED, attribute)
        checkers, permitted = self._checkers[attribute], True
        if channel.me in checkers:
            instruction = channel.open(PROPOSAL, self._exchange.receive(winner), to=channel.me)
            if instruction.attribute != attribute:
                raise channel.fault(winner, "proposed one attribute and sent another")
            channel.compare(self._telling.of_instruction(self.table, instruction))
            permitted = self._permits(instruction)
            channel.send(winner, int(permitted))
        accepted = channel.open(VERDICT, channel.recv_flag(winner))
        if accepted and not permitted:
            raise channel.fault(winner, "instructs what a sensitive column forbids")
        return accepted, checkers, instruction

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
