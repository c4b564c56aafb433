"""Circuits that count the cells of exactly one record, on shares of two servers.

one_circuit     whether a count, of which the servers have additive shares modulo 2^32, is 1
sum_circuit     the sum of numbers that the servers share by XOR
"""

from __future__ import annotations

from coterie.protocols.circuits.arithmetic import Builder, Circuit, Word
from coterie.protocols.circuits.boolean import built_once

WIDTH = 32


@built_once(1)
def one_circuit() -> Circuit:
    """Whether a count is 1, from shares of the count less 1: `rest0` and `rest1`."""
    builder = Builder()
    rest = builder.add(builder.input("rest0", WIDTH), builder.input("rest1", WIDTH), WIDTH)
    builder.output("one", [builder.invert(builder.any(rest))])
    return builder.build()


@built_once(32)
def sum_circuit(numbers: int, width: int) -> Circuit:
    """The sum of so many numbers of `width` bits, which stand one after the other in `bits`."""
    builder = Builder()
    bits = builder.xor_words(
        builder.input("bits0", numbers * width), builder.input("bits1", numbers * width)
    )
    words: list[Word] = [bits[at * width : (at + 1) * width] for at in range(numbers)]
    while len(words) > 1:
        size = len(words[0]) + 1
        pairs = [
            builder.add(one, other, size)
            for one, other in zip(words[::2], words[1::2], strict=False)
        ]
        if len(words) % 2:
            pairs.append(builder.extend(words[-1], size))
        words = pairs
    builder.output("sum", words[0])
    return builder.build()
