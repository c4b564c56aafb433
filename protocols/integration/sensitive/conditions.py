"""Conditions on sensitive columns, decided on shares: the proposal stays with its proposer.

Paper 1, §8, lets the holder of a sensitive column see an instruction before anybody follows it, and
reject it. A rejected instruction is more specific than the release, so a holder that rejects
everything reads the top of every column. Here nobody but the proposer sees a proposal before it is
accepted, and the only result is yes or no.

In: at the proposer, the child of every record that its candidate concerns; at each holder, the
sensitive codes. Public: the groups so far and their sizes, the requirement, the taxonomies; and if
the proposer's score was announced, the attribute of its candidate. Out, at every party: whether all
models of all holders would still hold. The verdict equals that of `GeneralizedTable.permits`
(`condition_forms`).

How it works. A group can be split into as many parts as the value has children, but into no more
than its size divided by k, since smaller parts are not proposed. So each group has a number of
slots that all parties know, and the proposer assigns the parts to the slots; a group that the
candidate does not concern has all its records in the first slot. So the form of the messages
depends on public facts alone, not on the value that is to be specialized. For each slot but the
first of each group, the sums of `condition_forms` over the records of the slot are computed as
additive shares: by one oblivious transfer for each record the proposer chooses whether it gets a
pad, or the sum of a pad and the holder's numbers (Gilboa, CRYPTO 1999, section 4.1). The first slot
is the rest of the group, and the holder knows the sums of the whole group. A garbled circuit
decides each slot, and another one combines all slots.

Adversary: semi-honest. A holder that deviates can reject any proposal, but learns nothing else
about it: the holder is the sender of the transfers and the evaluator. A proposer that deviates gets
the answer to another yes/no question about the sensitive column than the one that it should ask; it
cannot ask more often than it has values to specialize (the honest parties count), and the holder
checks the instruction that follows a yes like every instruction. Assumptions: those of
`oblivious_transfer` and `garbling`.

Messages, in the step `propose`:
    holder -> all            once, before the first round: how many values its columns have; three
                             or more parties compare digests of it (`broadcast_check`)
    for each holder, proposer and holder:
    proposer -> holder       columns of the transfers
    holder -> proposer       corrections, in chunks
    proposer <-> holder      the circuits (`garbling`)
    then with one holder     proposer -> all others: yes or no
    with several             products of the shared verdicts, and their shares to all (`gmw`)
Cost, for V values, n records in groups that can be divided, and c children: n (c - 1) transfers
with corrections of V words of 8 to 64 bits; a circuit of about V (bits of the largest group) AND
gates for each of at most n / k slots.

`slots` has what everybody knows of the slots, `proposer_and_holder` the transfers and the circuits
between two parties, and this module what all parties do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from coterie.anonymity.models.privacy import Model
from coterie.anonymity.specialization.generalized import Instruction, Requirement
from coterie.anonymity.specialization.specialize import Specializer
from coterie.base.arrays import Bits
from coterie.protocols.circuits.garbling import Reveal
from coterie.protocols.integration.sensitive.condition_forms import Form, forms_of
from coterie.protocols.integration.sensitive.joint_verdicts import JointVerdicts
from coterie.protocols.integration.sensitive.slots import Layout, assigned_slots, layout_of
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.messaging.opening import declare
from coterie.protocols.primitives.randomness import Random

DECIDED = declare(
    "integrate: decided",
    what="With conditions that are decided on shares, whether a proposal is accepted, and nothing else of a rejected one.",
    to="every party",
    why="A rejected candidate is dropped, and the next round begins.",
)


@dataclass(frozen=True)
class Condition:
    """One model of one requirement, and who holds the sensitive column."""

    requirement: int
    part: Model
    form: Form
    holder: str


def conditions_of(
    requirements: Sequence[Requirement], sensitive: Mapping[str, str], holders: Mapping[str, str]
) -> list[Condition] | None:
    """What a proposer and a holder must decide together; None if a model has no form.

    `sensitive` has the holders of the sensitive columns without the class, and `holders` the
    holders of the attributes of the QIDs.
    """
    found: list[Condition] = []
    for j, requirement in enumerate(requirements):
        columns = [name for name in requirement.sensitive_columns if name in sensitive]
        if requirement.model is None or not concerns_others(requirement, sensitive, holders):
            continue
        forms = forms_of(requirement.model)
        if forms is None:
            return None
        found += [Condition(j, part, form, sensitive[columns[0]]) for part, form in forms]
    return found


def concerns_others(
    requirement: Requirement, sensitive: Mapping[str, str], holders: Mapping[str, str]
) -> bool:
    """Whether a party may propose something that another party's sensitive column must permit."""
    owners = {sensitive[name] for name in requirement.sensitive_columns if name in sensitive}
    return any(holders[name] != owner for name in requirement.qid for owner in owners)


class SharedConditions(JointVerdicts):
    """One party's part in deciding proposals; made by all parties before the first round."""

    def __init__(
        self,
        channel: Channel,
        names: Sequence[str],
        conditions: Sequence[Condition],
        table: Specializer,
        rng: Random,
    ) -> None:
        super().__init__(channel, names, table.models, table.records, rng)
        self.channel, self.names, self.table = channel, tuple(names), table
        self.conditions = list(conditions)
        self.announce({c.requirement: c.holder for c in conditions})

    def decide(
        self, proposer: str, attributes: Sequence[int], instruction: Instruction | None
    ) -> bool:
        """Whether a candidate of one of the attributes is accepted; only the proposer knows which."""
        channel = self.channel
        concerned = [
            condition
            for condition in self.conditions
            if condition.holder != proposer
            and any(condition.requirement in self.table.concerning[a] for a in attributes)
        ]
        holders = [name for name in self.names if any(c.holder == name for c in concerned)]
        if not holders:
            return True
        alone = len(holders) == 1
        share: Bits | None = None
        shares: dict[str, Bits] = {}
        for holder in holders:
            if channel.me in (proposer, holder):
                due = [c for c in concerned if c.holder == holder]
                share = self._between(
                    proposer, holder, due, attributes, instruction, "both" if alone else "shares"
                )
                shares[holder] = share
        if alone:
            return self._told(proposer, holders[0], share)
        verdict = self.conjunction(proposer, holders, shares, 1)
        return bool(channel.open(DECIDED, int(verdict[0])))

    def _between(
        self,
        proposer: str,
        holder: str,
        conditions: Sequence[Condition],
        attributes: Sequence[int],
        instruction: Instruction | None,
        reveal: Reveal,
    ) -> Bits:
        """The verdict of one holder: the bit, or this party's share of it."""
        pair = self.pair(proposer, holder)
        verdicts: list[Bits] = []
        layouts: dict[int, Layout] = {}
        for condition in conditions:
            j = condition.requirement
            if j not in layouts:
                layouts[j] = layout_of(self.table, j, attributes)
            if layouts[j].slots:
                slots = None
                if pair.proposes:
                    assert instruction is not None  # noqa: S101
                    slots = assigned_slots(self.table, j, layouts[j], instruction)
                held = self.slots_hold(pair, j, condition.part, condition.form, layouts[j], slots)
                verdicts.append(held)
        if not verdicts:  # no group is large enough to be divided, which all parties know
            return np.array([1 if reveal == "both" or pair.proposes else 0], np.uint8)
        return pair.all_hold(np.concatenate(verdicts), reveal)

    def _told(self, proposer: str, holder: str, share: Bits | None) -> bool:
        """The verdict at every party: the proposer sends it to all but the holder."""
        channel = self.channel
        with channel.step("tell"):
            if share is not None:
                verdict = channel.open(DECIDED, int(share[0]))
                if channel.me == proposer:
                    for peer in channel.peers:
                        if peer != holder:
                            channel.send(peer, verdict)
                return bool(verdict)
            told = channel.recv_flag(proposer)
        return channel.open(DECIDED, told)
