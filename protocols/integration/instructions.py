"""The encoding of an instruction: attribute, value, score, split and packed child codes.

The receiver knows how many records have the value and how many children the value has, so that only
the codes are sent about records, in as few bits as possible. A flag says whether one code more than
the children marks suppressed records.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from typing import Any

import numpy as np

from coterie.anonymity.specialization.generalized import GeneralizedTable, Instruction, InvalidError
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.messaging.codes import pack_codes, unpack_codes
from coterie.protocols.messaging.wire import Value


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
    channel: Channel, table: GeneralizedTable, sender: str, own: Collection[int], received: Any
) -> Instruction:
    """The instruction in a message, if an honest party with these attributes may send it."""
    if (
        not isinstance(received, list)
        or len(received) != 6
        or not all(isinstance(value, int) for value in (*received[:3], received[5]))
        or not isinstance(received[3], np.ndarray)
        or received[3].dtype != np.float64
        or received[3].shape not in ((0,), (1,))
    ):
        raise channel.fault(sender, "sent no instruction")
    attribute, node, score, splits, packed, leaves_out = received
    split = float(splits[0]) if len(splits) else None
    if not 0 <= attribute < len(table.names):
        raise channel.fault(sender, f"instructs on an attribute {attribute} that is none")
    if attribute not in own:
        name = table.names[attribute]
        raise channel.fault(sender, f"instructs on '{name}', which it does not hold")
    if leaves_out not in ((0, 1) if table.most_suppressed else (0,)):
        raise channel.fault(sender, "leaves out records, which the job does not permit")
    try:
        width = table.width(attribute, node, split) + leaves_out
        children = unpack_codes(packed, table.concerned(attribute, node), width)
    except InvalidError as error:
        raise channel.fault(sender, f"sent an impossible instruction: {error}") from None
    except ValueError as error:
        raise channel.fault(sender, f"sent an instruction that {error}") from None
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
