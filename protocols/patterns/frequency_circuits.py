"""Circuits over numbers of records that two servers hold as additive shares modulo 2^32.

class_circuit   in which class of neighbouring numbers a count lies
"""

from __future__ import annotations

from coterie.protocols.circuits.arithmetic import Builder, Circuit
from coterie.protocols.circuits.boolean import built_once

WIDTH = 32


@built_once(32)
def class_circuit(step: int, second: int, width: int) -> Circuit:
    """The class of a count: 0 below `second`, else the count without its lowest `step` bits.

    The inputs `count0` and `count1` are additive shares; the class has at most `width` bits.
    """
    builder = Builder()
    count = builder.add(builder.input("count0", WIDTH), builder.input("count1", WIDTH), WIDTH)
    first = builder.less(count, builder.constant(second, WIDTH))
    builder.output("class", builder.gate_word(builder.invert(first), count[step : step + width]))
    return builder.build()
