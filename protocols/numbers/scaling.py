"""Non-integer multiples of shared values, and shares moved to another modulus.

Paper 2, third article, §4 and §5. Two parties hold shares γ1, γ2 modulo m of a value γ that is in
[0, m) once a public `offset` has been added; they get shares, modulo any m', of ρ γ rounded, for a
public rational ρ >= 0. With ρ = 1 this converts shares from modulus m to m', exactly.

Each party can multiply its own share, but γ1 + γ2 is γ or γ + m, and in the second case the result
is too large by ρ m. There are two ways to correct that:

`exact` (§4): a garbled circuit compares γ1 + γ2 with m and gives the second party -ρ m or 0, less a
random number that the first party puts in and subtracts. (The paper adds ργ1 and ργ2 inside the
circuit; the parties can do that outside, which saves input wires.) Nothing is learned.
    Messages and adversary: those of `protocols.circuits.garbling` for one instance a value.
    Cost: about bits(m) + bits(m') AND gates a value, for powers of two; one round.

`autonomous` (§5): the shares are changed so that γ1 + γ2 = γ + m always. With t the largest γ, the
first party draws a new share uniformly in [t+1, m-1] and sends what it subtracts from its old one,
which the second adds; then each scales alone, and the first subtracts ρ m. No circuit.
    Leakage: the second party's share is γ + m less a number that is not quite uniform modulo m. For
    two values of γ its distributions differ by at most t / (m-1-t): with that probability the share
    reveals something about γ, in the extreme γ itself. Refused unless m is at least 2^40 times t.
    Cost: one message of bits(m) a value; half a round.

Error: |result - ρ γ| <= 3/2, from three roundings, and 2 where ρ offset is not an integer; 0 if ρ
is an integer.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from coterie.base.arrays import Array
from coterie.base.errors import UsageError
from coterie.protocols.circuits.arithmetic import Builder, Circuit
from coterie.protocols.circuits.boolean import built_once, from_bits, to_bits
from coterie.protocols.circuits.garbling import Evaluator, Garbler
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.numbers.shares import Ring
from coterie.protocols.primitives.randomness import Random

SECRECY_BITS = 40  # the least secrecy of an autonomous scaling


def error_bound(factor: Fraction, offset: int = 0) -> Fraction:
    """How far a scaled value can be from the true one, in units of the result."""
    if factor.denominator == 1:
        return Fraction(0)
    return Fraction(3 if (factor * offset).denominator == 1 else 4, 2)


def multiple(values: Array, factor: Fraction) -> Array:
    """ρ times non-negative integers, rounded to the nearest integer, halves upwards."""
    top, bottom = factor.numerator, factor.denominator
    if values.dtype == np.uint64 and top == 1 and bottom < 1 << 63:
        d = np.uint64(bottom)
        quotient, rest = values // d, values % d
        return quotient + (rest >= d - d // np.uint64(2)).astype(np.uint64)
    scaled = [(2 * int(value) * top + bottom) // (2 * bottom) for value in values]
    out = np.empty(len(scaled), object)
    out[:] = scaled
    return out


@built_once(64)
def carry_circuit(source: int, target: int, correction: int) -> Circuit:
    """The correction if g1 + g2 reaches the source modulus, else 0; less `first`, mod target."""
    builder = Builder()
    width, out = (source - 1).bit_length(), (target - 1).bit_length()
    total = builder.add(builder.input("g1", width), builder.input("g2", width), width + 1)
    first = builder.input("first", out)
    if source == 1 << width:
        excess = total[-1]
    else:
        excess = builder.invert(builder.less(total, builder.constant(source, width + 1)))
    value = builder.gate_word(excess, builder.constant(correction % target, out))
    builder.output("share", builder.subtract_modulo(value, first, target))
    return builder.build()


def scale_exactly(
    garbling: Garbler | Evaluator,
    source: Ring,
    target: Ring,
    share: Array,
    factor: Fraction,
    rng: Random,
    offset: int = 0,
) -> Array:
    """This party's share of ρ γ modulo the target's modulus; the garbler is the first party."""
    first = isinstance(garbling, Garbler)
    share = _moved(source, share, offset, first)
    circuit = carry_circuit(
        source.modulus, target.modulus, -_nearest(factor * source.modulus) % target.modulus
    )
    if first:
        mine = target.random(share.shape, rng)
        inputs = {"g1": to_bits(share, source.bits), "first": to_bits(mine, target.bits)}
        garbling.run(circuit, inputs, "evaluator")
    else:
        bits = garbling.run(circuit, {"g2": to_bits(share, source.bits)}, "evaluator")["share"]
        assert bits is not None  # noqa: S101 for the type checker
        mine = target.array(from_bits(bits))
    return _finish(target, multiple(share, factor), mine, factor, offset, first)


def scale_autonomously(
    channel: Channel,
    peer: str,
    first: bool,
    source: Ring,
    target: Ring,
    share: Array,
    factor: Fraction,
    rng: Random,
    largest: int,
    offset: int = 0,
) -> Array:
    """This party's share of ρ γ, without a circuit, if every γ + offset is in [0, largest]."""
    if largest < 0 or (source.modulus - 1 - largest) >> SECRECY_BITS < largest:
        raise UsageError(
            f"values up to {largest} leave less than {SECRECY_BITS} bits of secrecy to autonomous "
            f"scaling modulo {source.modulus}: a larger modulus or exact scaling is needed"
        )
    share = _moved(source, share, offset, first)
    with channel.step("excess"):
        if first:
            drawn = rng.integers(source.modulus - 1 - largest, len(share))
            fresh = source.array([largest + 1 + value for value in drawn])
            channel.send(peer, source.to_wire(source.subtract(share, fresh)))
            share = fresh
        else:
            sent = source.from_wire(channel, peer, channel.recv(peer), share.shape)
            share = source.add(share, sent)
    excess = target.array([-_nearest(factor * source.modulus)]) if first else target.zeros(1)
    return _finish(target, multiple(share, factor), excess, factor, offset, first)


def _moved(ring: Ring, share: Array, offset: int, first: bool) -> Array:
    return ring.add(share, ring.array([offset])) if first and offset else share


def _finish(
    target: Ring, scaled: Array, correction: Array, factor: Fraction, offset: int, first: bool
) -> Array:
    result = target.add(target.array(scaled), correction)
    if first and offset:
        result = target.subtract(result, target.array([_nearest(factor * offset)]))
    return result


def _nearest(value: Fraction) -> int:
    return (2 * value.numerator + value.denominator) // (2 * value.denominator)
