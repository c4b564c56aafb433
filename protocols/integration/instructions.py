"""The encoding of an instruction: attribute, value, score, split and packed child codes.

The receiver knows how many records have the value and how many children the value has, so that only
the codes are sent about records, in as few bits as possible. A flag says whether one code more than
the children marks suppressed records.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from coterie.anonymity.specialization.generalized import GeneralizedTable, Instruction, InvalidError
from coterie.protocols.integration.contributions import Contribution, RecordContribution, mark_of
from coterie.protocols.integration.plan import Plan
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.messaging.codes import pack_codes
from coterie.protocols.messaging.wire import Value

_MOST = 1 << 62  # of any number in an instruction; what it may be is checked against the table


class Exchange:
    """Gives this party's instructions to others, and receives and reads theirs."""

    def __init__(
        self, channel: Channel, plan: Plan, table: GeneralizedTable, book: RecordContribution
    ) -> None:
        self.channel, self.table = channel, table
        self._plan, self._book = plan, book

    def give(self, instruction: Instruction, peers: Sequence[str], proposal: bool = False) -> None:
        """Records an instruction as a contribution, and sends it to those who do not have it yet.

        An accepted instruction is a contribution to all parties, also to those that have seen it as
        a proposal.
        """
        to = tuple(peers) if proposal else tuple(self.channel.peers)
        if to:
            mark = mark_of(self.table, instruction)
            self._book(Contribution(self.channel.me, to, instruction.score, mark, proposal))
        for peer in peers:
            self.channel.send(peer, *instruction_values(self.table, instruction))

    def receive(self, winner: str) -> Instruction:
        return self.read(winner, self.channel.recv(winner))

    def receive_next(self, winner: str) -> Instruction | None:
        """The next instruction of a turn, or None at its end."""
        received = self.channel.recv(winner)
        return None if isinstance(received, int) and received == 0 else self.read(winner, received)

    def read(self, winner: str, received: Any) -> Instruction:
        """The instruction of this party in a message, or in a kept answer."""
        holders = self._plan.holders
        own = {i for i, name in enumerate(self.table.names) if holders[name] == winner}
        return read_instruction(self.channel, self.table, winner, own, received)


def instruction_values(table: GeneralizedTable, instruction: Instruction) -> list[Value]:
    """The values of the message."""
    width = table.width(instruction.attribute, instruction.node, instruction.split)
    split = [] if instruction.split is None else [instruction.split]
    return [
        instruction.attribute,
        instruction.node,
        instruction.score,
        np.array(split, np.float64),
        pack_codes(instruction.children, width + instruction.leaves_out),
        int(instruction.leaves_out),
    ]


def read_instruction(
    channel: Channel, table: GeneralizedTable, sender: str, own: set[int], received: Any
) -> Instruction:
    """The instruction in a message, if an honest party with these attributes may send it."""
    due = "instruction"
    first, *rest = channel.check_list(sender, received, 6, due)
    attribute = channel.check_int(sender, first, -_MOST, _MOST, due)
    node = channel.check_int(sender, rest[0], -_MOST, _MOST, due)
    score = channel.check_int(sender, rest[1], -_MOST, _MOST, due)
    splits = channel.check_array(sender, rest[2], np.float64, (None,), due)
    leaves_out = channel.check_int(sender, rest[4], 0, 1, due)
    if len(splits) > 1:
        raise channel.fault(sender, f"sent no {due}")
    split = float(splits[0]) if len(splits) else None
    if not 0 <= attribute < len(table.names):
        raise channel.fault(sender, f"instructs on attribute {attribute}, which does not exist")
    if attribute not in own:
        name = table.names[attribute]
        raise channel.fault(sender, f"instructs on '{name}', which it does not hold")
    if leaves_out and not table.most_suppressed:
        raise channel.fault(sender, "leaves out records, which the job does not permit")
    try:
        width = table.width(attribute, node, split) + leaves_out
        concerned = table.concerned(attribute, node)
    except InvalidError as error:
        raise channel.fault(sender, f"sent an impossible instruction: {error}") from None
    children = channel.check_codes(sender, rest[3], concerned, width, "an instruction")
    return Instruction(attribute, node, split, score, children, bool(leaves_out))


def digest_of(instruction: Instruction) -> bytes:
    """The digest by which parties check that all received the same instruction."""
    total = hashlib.sha256()
    head = (
        instruction.attribute,
        instruction.node,
        instruction.score,
        instruction.split,
        instruction.leaves_out,
    )
    total.update(repr(head).encode())
    total.update(np.ascontiguousarray(instruction.children, "<u2").data)
    return total.digest()
