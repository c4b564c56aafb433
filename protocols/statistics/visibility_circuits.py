"""Circuits that decide which cells of a table are shown (`anonymity.counts.hidden_cells`).

They compute on bits that two servers hold as XOR shares: the first server gives `name0` and the
second `name1`, whose XOR is the input `name`.

    large_circuit   whether a cell has at least `minimum` records (or none at all, if zeros are shown)
    line_circuit    of a line of cells: the large ones if there are two or more, else none
    whole_circuit   whether all cells of a group are large
"""

from __future__ import annotations

from collections.abc import Sequence

from coterie.protocols.circuits.arithmetic import ZERO, Builder, Circuit, Word
from coterie.protocols.circuits.boolean import built_once

WIDTH = 32


def _shared(builder: Builder, name: str, width: int) -> Word:
    return builder.xor_words(builder.input(f"{name}0", width), builder.input(f"{name}1", width))


def _two(builder: Builder, bits: Sequence[int]) -> int:
    """Whether two or more of the bits are set."""
    one = two = ZERO
    for bit in bits:
        two = builder.either(two, builder.conjoin(one, bit))
        one = builder.either(one, bit)
    return two


@built_once(4)
def large_circuit(zeros: bool) -> Circuit:
    """Whether a count is large, from shares modulo 2^32 of the count less the minimum.

    With `zeros` the shares of the count itself are inputs too.

    Counts and minimum are below 2^31, so that the difference is negative if its top bit is set.
    """
    builder = Builder()
    rest = builder.add(builder.input("rest0", WIDTH), builder.input("rest1", WIDTH), WIDTH)
    large = builder.invert(rest[-1])
    if zeros:
        count = builder.add(builder.input("count0", WIDTH), builder.input("count1", WIDTH), WIDTH)
        large = builder.either(large, builder.invert(builder.any(count)))
    builder.output("large", [large])
    return builder.build()


@built_once(64)
def line_circuit(cells: int) -> Circuit:
    """The large cells of a line, if there are two or more."""
    builder = Builder()
    large = _shared(builder, "large", cells)
    builder.output("shown", builder.gate_word(_two(builder, large), large))
    return builder.build()


@built_once(32)
def whole_circuit(cells: int) -> Circuit:
    builder = Builder()
    builder.output("whole", [builder.all(_shared(builder, "large", cells))])
    return builder.build()
