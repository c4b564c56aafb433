"""Circuits over sums that two servers hold as additive shares modulo 2^64.

Each circuit has an input of either server, `name0` and `name1`, for every sum. The servers of
`protocols.aggregates.aggregates` garble and evaluate them.

    square_circuit    a sum of squares from the sums of its parts
"""

from __future__ import annotations

from functools import lru_cache

from coterie.protocols.circuits.arithmetic import ZERO, Builder, Circuit, Word

WIDTH = 64


def _sum(builder: Builder, name: str, width: int = WIDTH) -> Word:
    """A number from its two shares."""
    return builder.add(builder.input(f"{name}0", width), builder.input(f"{name}1", width), width)


def squares(builder: Builder, half: int, width: int) -> Word:
    """The sum of (a 2^half + b)^2, from the sums of a^2, a b and b^2."""
    high, both, low = (_sum(builder, name) for name in ("high", "both", "low"))
    total = builder.extend(low, width)
    for word, shift in ((both, half + 1), (high, 2 * half)):
        total = builder.add(total, [*[ZERO] * shift, *word], width)
    return total


@lru_cache(maxsize=32)
def square_circuit(half: int) -> Circuit:
    builder = Builder()
    builder.output("square", squares(builder, half, square_width(half)))
    return builder.build()


def square_width(half: int) -> int:
    """The bits of a sum of squares, of which each part is below 2^63."""
    return WIDTH + 2 * half + 1
