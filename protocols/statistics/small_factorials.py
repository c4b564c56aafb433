"""The correction to Stirling's formula for small numbers that two parties share, as shares.

ln x! is (x + 1/2) ln x - x + ln(2π)/2 and a correction between 1/(12 x + 1) and 1/(12 x) (Robbins,
"A Remark on Stirling's Formula", American Mathematical Monthly 1955). For 1, and for 0, which
counts as 1 here, the correction is 0.081: sums over many small counts need it. A garbled circuit
adds the shares of x, looks the correction up for x below 64, and subtracts the garbler's random
mask modulo 2^64; the evaluator's share is the output, the garbler's is the mask. Each party puts in
its shares and gets shares; nobody learns anything. From 64 on there is no correction, and the error
is at most `LEFT_OVER`.

Adversary: semi-honest. Messages: one run of `garbling`, outputs to the evaluator. Cost: some 180
AND gates for each number.
"""

from __future__ import annotations

import gmpy2
import numpy as np

from coterie.base.arrays import Words
from coterie.protocols.circuits.arithmetic import Builder, Circuit, Word, from_bits, to_bits
from coterie.protocols.circuits.boolean import built_once
from coterie.protocols.circuits.garbling import Evaluator, Garbler
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.shared_counts import RING_BITS, Ring

TABLE_BITS = 6
LEFT_OVER = 1 / (12 << TABLE_BITS)  # ln x! less Stirling's formula is less than this for larger x
_WIDTH = 64


def entry(x: int, unit: int) -> int:
    """ln x! less Stirling's formula, in which 0 counts as 1, times `unit`, rounded.

    It is computed with 200 bits, so that it is the same on every machine: two servers with different
    libraries of mathematical functions would otherwise make different circuits and accuse each other.
    """
    with gmpy2.context(gmpy2.get_context(), precision=200):
        one = gmpy2.mpfr(max(x, 1))
        stirling = (one + 0.5) * gmpy2.log(one) - one + gmpy2.log(2 * gmpy2.const_pi()) / 2
        return int(gmpy2.rint(unit * (gmpy2.log(gmpy2.mpfr(gmpy2.fac(x))) - stirling)))


@built_once(8)
def correction_circuit(unit: int) -> Circuit:
    """The correction of x = x1 + x2 modulo 2^32, times `unit`, rounded, less the input `mask`."""
    builder = Builder()
    x = builder.add(builder.input("x1", RING_BITS), builder.input("x2", RING_BITS), RING_BITS)
    mask = builder.input("mask", _WIDTH)
    small = builder.invert(builder.any(x[TABLE_BITS:]))
    one_hot: Word = [small]
    for bit in reversed(x[:TABLE_BITS]):
        upper = [builder.conjoin(wire, bit) for wire in one_hot]
        one_hot = [
            part
            for wire, high in zip(one_hot, upper, strict=True)
            for part in (builder.xor(wire, high), high)
        ]
    entries = [entry(n, unit) for n in range(1 << TABLE_BITS)]
    found = builder.look_up(one_hot, entries, max(entries).bit_length())
    builder.output("correction", builder.subtract(found, mask, _WIDTH))
    return builder.build()


def corrections(role: Garbler | Evaluator, shares: Ring, unit: int, rng: Random) -> Words:
    """Shares modulo 2^64 of the corrections, times `unit`, of numbers shared modulo 2^32."""
    circuit = correction_circuit(unit)
    if isinstance(role, Garbler):
        mask: Words = rng.array(len(shares), np.uint64)
        inputs = {"x1": to_bits(shares, RING_BITS), "mask": to_bits(mask, _WIDTH)}
        role.run(circuit, inputs, "evaluator")
        return mask
    bits = role.run(circuit, {"x2": to_bits(shares, RING_BITS)}, "evaluator")["correction"]
    if bits is None:
        raise AssertionError("an output for the evaluator did not come to it")
    return from_bits(bits)
