"""Circuits that decide which cells of a table are shown (`anonymity.counts.hidden_cells`).

They compute on bits that two servers hold as XOR shares: the first server gives `name0` and the
second `name1`, whose XOR is the input `name`.

    large_circuit   whether a cell has at least `minimum` records (or none at all, if zeros are shown)
    line_circuit    of a line of cells: the large ones if there are two or more, else none
    whole_circuit   whether all cells of a group are large
    linked_circuit  whether large atoms link all cells of a table
"""

from __future__ import annotations

from collections.abc import Sequence

from coterie.protocols.circuits.arithmetic import ZERO, Builder, Circuit, Word
from coterie.protocols.circuits.boolean import built_once

WIDTH = 32
_LINKS = 3  # how often cells are reached through others; more would only show more


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


@built_once(32)
def linked_circuit(cells: int, others: int) -> Circuit:
    """Whether large atoms link all cells of a table.

    Atom `cell * others + other` is in a cell of the table, and in one combination of the cells of
    other tables. Two cells are linked if they have large atoms with the same combination, or if cells
    in between link them. Longer chains than the circuit follows count as not linked.
    """
    builder = Builder()
    large = _shared(builder, "large", cells * others)
    rows = [large[at * others : (at + 1) * others] for at in range(cells)]
    reached = [builder.any(rows[0]), *[ZERO] * (cells - 1)]
    for _ in range(min(_LINKS, cells - 1)):
        through = builder.gate_word(reached[0], rows[0])
        for bit, row in zip(reached[1:], rows[1:], strict=True):
            if bit != ZERO:
                through = [
                    builder.either(old, new)
                    for old, new in zip(through, builder.gate_word(bit, row), strict=True)
                ]
        reached = [
            builder.any([builder.conjoin(a, b) for a, b in zip(row, through, strict=True)])
            for row in rows
        ]
    builder.output("linked", [builder.all(reached)])
    return builder.build()
