"""The circuits of the secure logarithm: its first phase, its quick base-2 form, and the flag.

Paper 2, third article. With x = x1 + x2 modulo the modulus of the inputs, `phase_one` finds n and
eps, x = 2^n (1 + eps) and -1/4 <= eps < 1/2 (§2), and gives the second party eps 2^N and n less the
random shares that the first party puts in, modulo 2^l. The circuit has no table of logarithms (§4):
n is scaled outside. `quick` gives floor(log2 x) with the bits after the top one appended (§6).

An x that is 0 or has more than N bits raises the flag. The flag stays in XOR shares: `some_flag`
joins the flags of many instances, so that the parties learn only whether any is set. With
`zero_as_one` a zero counts as a one and raises no flag, for callers that multiply the logarithm of
x by x.

Inputs of the first party are `x1` and the shares it chose, `first …`; of the second `x2`. All
outputs except the flag are for the second party.
"""

from __future__ import annotations

from typing import Literal

from coterie.protocols.circuits.arithmetic import ZERO, Builder, Circuit, Word
from coterie.protocols.circuits.boolean import built_once

WithX = Literal["no", "as it is", "positive"]
FLAGS = 256  # the number of flags that one instance of `some_flag` joins


def _argument(
    builder: Builder, modulus: int, bits: int, zero_as_one: bool
) -> tuple[Word, Word, int]:
    """The lower `bits` bits of x = x1 + x2; the same, or 1 for a zero; whether x is refused."""
    width = (modulus - 1).bit_length()
    x1, x2 = builder.input("x1", width), builder.input("x2", width)
    x = builder.extend(builder.add_modulo(x1, x2, modulus), max(width, bits))
    low, high = x[:bits], x[bits:]
    is_zero = builder.invert(builder.any(low))
    if zero_as_one:
        # A number that is 0 modulo 2^bits but has upper bits is flagged; so only 0 itself is
        # changed.
        return low, [builder.xor(low[0], is_zero), *low[1:]], builder.any(high)
    return low, low, builder.either(is_zero, builder.any(high))


def _normalized(builder: Builder, x: Word) -> tuple[Word, Word]:
    """x shifted so that its top one is the highest bit, and the one-hot position of that one."""
    top = builder.leading_one(x)
    size = len(x)
    amount = builder.look_up(top, range(size - 1, -1, -1), (size - 1).bit_length())
    return builder.shift_left(x, amount, size), top


@built_once(64)
def phase_one(
    modulus: int, bits: int, share_bits: int, zero_as_one: bool, with_x: WithX = "no"
) -> Circuit:
    """Outputs `eps`, `n` and, with `with_x`, x or max(x, 1), modulo 2^share_bits, and `flag`."""
    builder = Builder()
    x, positive, wrong = _argument(builder, modulus, bits, zero_as_one)
    eps1 = builder.input("first eps", share_bits)
    n1 = builder.input("first n", share_bits)
    y, top = _normalized(builder, positive)  # 2^(N-1) <= y < 2^N
    upper = y[-2] if bits > 1 else ZERO
    # Above 3/2 of its power of two, x is taken as below the next one: eps = y / 2^N - 1 is
    # negative. Otherwise eps = 2 y / 2^N - 1. The low N bits are those of y or 2 y, the sign is
    # `upper`.
    scaled = builder.choose(upper, y, [ZERO, *y[:-1]])
    eps = builder.extend_signed([*scaled, upper], share_bits)
    n = builder.increment(builder.encode(top), upper, bits.bit_length())
    builder.output("eps", builder.subtract(eps, eps1, share_bits))
    builder.output("n", builder.subtract(n, n1, share_bits))
    if with_x != "no":
        again = positive if with_x == "positive" else x
        first = builder.input("first x", share_bits)
        builder.output("x", builder.subtract(again, first, share_bits))
    builder.output("flag", [wrong])
    return builder.build()


@built_once(64)
def quick(modulus: int, bits: int, share_bits: int, zero_as_one: bool, fraction: int) -> Circuit:
    """Output `log2`, scaled by 2^fraction, modulo 2^share_bits, and `flag`."""
    builder = Builder()
    _, positive, wrong = _argument(builder, modulus, bits, zero_as_one)
    first = builder.input("first log2", share_bits)
    y, top = _normalized(builder, positive)
    after = y[:-1][-fraction:] if fraction else []
    zeros = builder.constant(0, fraction - len(after))
    result = [*zeros, *after, *builder.encode(top)]
    builder.output("log2", builder.subtract(result, first, share_bits))
    builder.output("flag", [wrong])
    return builder.build()


@built_once(1)
def some_flag() -> Circuit:
    """Whether one of FLAGS bits, shared by XOR, is set."""
    builder = Builder()
    mine, theirs = builder.input("first flags", FLAGS), builder.input("second flags", FLAGS)
    builder.output("flag", [builder.any(builder.xor_words(mine, theirs))])
    return builder.build()
