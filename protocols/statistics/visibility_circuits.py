"""Circuits that decide which cells of a table are shown (`anonymity.counts.hidden_cells`).

They compute on bits that two servers hold as XOR shares: the first server gives `name0` and the
second `name1`, whose XOR is the input `name`.

    large_circuit   whether a cell has at least `minimum` records (or none at all, if zeros are shown)
    line_circuit    of a line of cells: the large ones if there are two or more, else none
    whole_circuit   whether all cells of a group are large
    linked_circuit  whether large atoms link all cells of a table
    few_circuit     a count, or a number of at least `minimum` in its place
    reached_circuit whether components can be shown together (`anonymity.counts.compared_tables`)
    some_circuit    whether one of some bits is set
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce

import numpy as np

from coterie.base.arrays import Ints
from coterie.protocols.circuits.arithmetic import ONE, ZERO, Builder, Circuit, Word
from coterie.protocols.circuits.boolean import built_once

WIDTH = 32
_ROUNDS = 3  # how often nodes are reached through others
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


@built_once(4)
def few_circuit(minimum: int) -> Circuit:
    """A count in as many bits as `minimum` has; if there are not enough, the largest number of these."""
    builder, width = Builder(), minimum.bit_length()
    count = builder.add(builder.input("count0", WIDTH), builder.input("count1", WIDTH), WIDTH)
    more = builder.any(count[width:])
    builder.output("few", [builder.either(bit, more) for bit in count[:width]])
    return builder.build()


@built_once(32)
def reached_circuit(
    shape: tuple[int, ...], hidden: tuple[int | None, ...], minimum: int
) -> Circuit:
    """Whether all nodes of all components are reached that must be, from nodes that are given.

    `few` has the counts of all combinations of nodes as `few_circuit` leaves them, `start` for every
    component but the last a bit for each of its nodes. A node need not be reached if it is empty, or
    small and not the hidden one.
    """
    builder, width = Builder(), minimum.bit_length()
    size = math.prod(shape)
    words = np.array(_shared(builder, "few", size * width)).reshape(*shape, width)
    rows = [np.moveaxis(words, at, 0).reshape(n, -1, width) for at, n in enumerate(shape)]
    reached = [_shared(builder, f"start{at}_", nodes) for at, nodes in enumerate(shape[:-1])]
    reached.append([ZERO] * shape[-1])
    last = len(shape) - 1
    for at in [last, *[*range(last), last] * _ROUNDS]:
        others = _all_of(builder, [own for place, own in enumerate(reached) if place != at])
        found = [_enough(builder, minimum, row, others) for row in rows[at]]
        reached[at] = [builder.either(a, b) for a, b in zip(reached[at], found, strict=True)]
    spared = []
    for at, row in enumerate(rows):
        large = [_enough(builder, minimum, counts, [ONE] * len(counts)) for counts in row]
        if (own := hidden[at]) is not None:
            large[own] = builder.any(row[own].reshape(-1).tolist())
        spared += builder.invert_word(large)
    every = [bit for own in reached for bit in own]
    fine = [builder.either(a, b) for a, b in zip(every, spared, strict=True)]
    builder.output("reached", [builder.all(fine)])
    return builder.build()


def _all_of(builder: Builder, nodes: Sequence[Word]) -> Word:
    """For each combination of nodes, one of each component, whether all their bits are set."""
    return reduce(lambda bits, own: [builder.conjoin(a, b) for a in bits for b in own], nodes)


def _enough(builder: Builder, minimum: int, counts: Ints, which: Sequence[int]) -> int:
    """Whether some of the counts add up to at least `minimum`."""
    width = minimum.bit_length()
    total, over = [ZERO] * width, ZERO
    for count, bit in zip(counts.tolist(), which, strict=True):
        if bit != ZERO:
            total = builder.add(total, builder.gate_word(bit, count), width + 1)
            total, over = total[:width], builder.either(over, total[width])
    return builder.either(
        over, builder.invert(builder.less(total, builder.constant(minimum, width)))
    )


@built_once(32)
def some_circuit(size: int) -> Circuit:
    """Whether one of the bits is set."""
    builder = Builder()
    builder.output("some", [builder.any(_shared(builder, "bits", size))])
    return builder.build()
