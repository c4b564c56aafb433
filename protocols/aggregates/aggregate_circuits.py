"""Circuits over sums that two servers hold as additive shares modulo 2^64.

Each circuit has an input of either server, `name0` and `name1`, for every sum. The servers of
`protocols.aggregates.aggregates` garble and evaluate them.

    square_circuit    a sum of squares from the sums of its parts
    multiple_circuit  how often a public number goes into a number
    quotient_circuit  how often one number goes into another
    variance_circuit  a variance, rounded, from sums of squares and distances and the number of records
    top_circuit       whether the largest contributors have no more than their share of a sum
    bit_circuit       a bit, from its two shares
    both_circuit      whether two bits are set
"""

from __future__ import annotations

from dataclasses import dataclass

from coterie.protocols.circuits.arithmetic import ZERO, Builder, Circuit, Word
from coterie.protocols.circuits.boolean import built_once

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


def divide(builder: Builder, x: Word, y: Word) -> Word:
    """x / y rounded down, by the school method; all ones if y is 0."""
    width = len(y) + 1
    rest: Word = []
    quotient = []
    for bit in reversed(x):
        rest = builder.extend([bit, *rest], width)
        less = builder.subtract(rest, y, width + 1)
        fits = builder.invert(less[-1])
        rest = builder.choose(fits, less[:width], rest)
        quotient.append(fits)
    return quotient[::-1]


@built_once(32)
def multiple_circuit(base: int) -> Circuit:
    builder = Builder()
    number = _sum(builder, "number")
    builder.output("multiple", divide(builder, number, builder.constant(base, base.bit_length())))
    return builder.build()


@built_once(4)
def quotient_circuit() -> Circuit:
    builder = Builder()
    builder.output("quotient", divide(builder, _sum(builder, "number"), _sum(builder, "divisor")))
    return builder.build()


@dataclass(frozen=True)
class Spread:
    """The form of a variance: `half` as in `squares`, and bounds that keep words short.

    records   no group has more
    longest   no number is further from the middle of the range
    step      to whose multiples the variance is rounded, in squared units
    """

    half: int
    records: int
    longest: int
    step: int


@built_once(32)
def variance_circuit(form: Spread) -> Circuit:
    """Half a step more than (n S - d^2) / (n (n - 1)), divided by the step and rounded down.

    n is the number of records, S the sum of squared distances, d that of distances, which is signed.
    All ones if n is below 2.
    """
    builder = Builder()
    records = _sum(builder, "records")[: form.records.bit_length()]
    distance = _sum(builder, "distance")
    positive = builder.choose(distance[-1], builder.negate(distance, WIDTH), distance)
    positive = positive[: (form.records * form.longest).bit_length()]
    total = squares(builder, form.half, square_width(form.half))
    total = total[: (form.records * form.longest**2).bit_length()]
    width = (form.records**2 * form.longest**2).bit_length()
    spread = builder.subtract(
        builder.multiply(records, total, width), builder.multiply(positive, positive, width), width
    )
    fewer = builder.subtract(records, builder.constant(1, len(records)), len(records))
    pairs = builder.multiply(records, fewer, 2 * len(records))
    size = form.step.bit_length()
    step = builder.multiply(pairs, builder.constant(form.step, size), len(pairs) + size)
    above = builder.add([ZERO, *spread], step, max(width + 1, len(step)) + 1)
    builder.output("variance", divide(builder, above, [ZERO, *step]))
    return builder.build()


@built_once(32)
def top_circuit(weights: tuple[int, ...], largest: int) -> Circuit:
    """From the numbers of records in each bucket and above, modulo 2^32, and a part of the sum.

    A record of bucket k counts as `weights[k]`, which ascend. Input `above`: for every bucket its
    count, one after the other. Output `safe`: the `largest` records weigh no more than `part`.
    """
    builder = Builder()
    size = len(weights)
    shares = [builder.input(f"above{side}", 32 * size) for side in (0, 1)]
    above = [
        builder.add(shares[0][32 * k : 32 * k + 32], shares[1][32 * k : 32 * k + 32], 32)
        for k in range(size)
    ]
    top = builder.constant(0, WIDTH)
    for place in range(1, largest + 1):
        filled = [
            builder.any(count) if place == 1
            else builder.invert(builder.less(count, builder.constant(place, 32)))
            for count in above
        ]  # fmt: skip
        last = [builder.xor(a, b) for a, b in zip(filled, [*filled[1:], ZERO], strict=True)]
        top = builder.add(top, builder.look_up(last, weights, WIDTH), WIDTH)
    builder.output("safe", [builder.invert(builder.less(_sum(builder, "part"), top))])
    return builder.build()


@built_once(1)
def bit_circuit() -> Circuit:
    builder = Builder()
    builder.output("bit", builder.xor_words(builder.input("bit0", 1), builder.input("bit1", 1)))
    return builder.build()


@built_once(1)
def both_circuit() -> Circuit:
    builder = Builder()
    bits = [
        builder.xor_words(builder.input(f"{name}0", 1), builder.input(f"{name}1", 1))
        for name in ("one", "other")
    ]
    builder.output("both", [builder.conjoin(bits[0][0], bits[1][0])])
    return builder.build()


@built_once(32)
def square_circuit(half: int) -> Circuit:
    builder = Builder()
    builder.output("square", squares(builder, half, square_width(half)))
    return builder.build()


def square_width(half: int) -> int:
    """The bits of a sum of squares, of which each part is below 2^63."""
    return WIDTH + 2 * half + 1
