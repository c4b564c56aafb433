"""Circuits over numbers of alike pairs that two servers hold as additive shares modulo 2^32.

level_circuit   a number of pairs, kept away from what others know, in steps of random offset
"""

from __future__ import annotations

from coterie.protocols.circuits.arithmetic import Builder, Circuit, Word
from coterie.protocols.circuits.boolean import built_once

WIDTH = 32


def _sum(builder: Builder, name: str) -> Word:
    return builder.add(builder.input(f"{name}0", WIDTH), builder.input(f"{name}1", WIDTH), WIDTH)


@built_once(32)
def level_circuit(step: int, others: int, width: int) -> Circuit:
    """The level of a count, in steps of 2^step, which is at most `width` bits long.

    The inputs `count`, `other0`, `other1` … are additive shares, `offset` is shared by XOR. The
    count is first lowered to at most 2^step less than every other number, and to 0 where that
    would be negative; the offset, of which each server knows half, is added before what is below
    the step is cut off.
    """
    builder = Builder()
    count = _sum(builder, "count")
    margin = builder.constant(1 << step, WIDTH)
    for place in range(others):
        other = _sum(builder, f"other{place}_")
        room = builder.subtract(other, margin, WIDTH)
        room = builder.gate_word(builder.invert(builder.less(other, margin)), room)
        count = builder.choose(builder.less(room, count), room, count)
    offset = builder.xor_words(builder.input("offset0", step), builder.input("offset1", step))
    raised = builder.add(count, offset, WIDTH)
    builder.output("level", raised[step : step + width])
    return builder.build()
