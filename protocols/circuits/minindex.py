"""The position of the least of several shared numbers, for many rows at once, by garbled circuit.

Paper 2, third article, §1: the third component that Lindell and Pinkas's two-party ID3 needs, a
"shares-to-public-value minindex". Two parties hold additive shares modulo any m of a matrix, one
row for each question. They learn for every row the position of its least (or greatest) number, the
first if several are equal, and nothing else: not the numbers, not the order of the others. Or
nobody learns the position, and the parties get shares of the position and of the number.

The circuit adds the shares modulo m and runs a tournament; signed numbers, in [-floor(m/2),
ceil(m/2)), cost nothing more, because one party moves its shares up by floor(m/2) beforehand. For
shares the garbler adds random masks as inputs, and the evaluator learns the position and the number
less these masks.

Adversary: semi-honest. Messages, rounds and assumptions: those of one `protocols.circuits.garbling`
run. Cost for n numbers of w bits: about n (w to 3 w) AND gates for the sums, 2 w + log n for each
of the n - 1 matches; `circuit(...)` has the exact counts.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from coterie.base.arrays import Array
from coterie.protocols.circuits.arithmetic import Builder, from_bits, to_bits
from coterie.protocols.circuits.boolean import Circuit, built_once
from coterie.protocols.circuits.garbling import Evaluator, Garbler, Reveal
from coterie.protocols.primitives.randomness import Random

Numbers: TypeAlias = Array


@built_once(64)
def circuit(count: int, modulus: int, greatest: bool = False, masked: bool = False) -> Circuit:
    """The circuit for one row. Inputs: both parties' shares, and masks if the result is shared."""
    width = (modulus - 1).bit_length()
    builder = Builder()
    mine = builder.input("garbler", count * width)
    theirs = builder.input("evaluator", count * width)
    words = [
        builder.add_modulo(mine[at : at + width], theirs[at : at + width], modulus)
        for at in range(0, count * width, width)
    ]
    value, index = (builder.maximum if greatest else builder.minimum)(words)
    if masked:
        for name, word in (("index", index), ("value", value)):
            mask = builder.input(f"{name} mask", width)
            builder.output(name, builder.subtract_modulo(word, mask, modulus))
    else:
        builder.output("index", index)
    return builder.build()


def minindex(
    role: Garbler | Evaluator,
    shares: Numbers,
    modulus: int,
    reveal: Reveal = "both",
    signed: bool = False,
    greatest: bool = False,
) -> Numbers | None:
    """The position of the least number of each row, for those it is revealed to.

    `shares` has shape (rows, numbers). "shares" gives XOR shares of the positions.
    """
    rows, count = _checked(shares, modulus)
    if count == 1:
        return np.zeros(rows, np.uint64)
    bits = _bits(role, shares, modulus, signed)
    outputs = role.run(circuit(count, modulus, greatest), bits, reveal)
    index = outputs["index"]
    return None if index is None else from_bits(index)


def minimum(
    role: Garbler | Evaluator,
    shares: Numbers,
    modulus: int,
    rng: Random,
    signed: bool = False,
    greatest: bool = False,
) -> tuple[Numbers, Numbers]:
    """Additive shares modulo m of the position of each row's least number, and of the number."""
    rows, count = _checked(shares, modulus)
    if count > modulus:
        raise ValueError(f"positions of {count} numbers have no shares modulo {modulus}")
    bits = _bits(role, shares, modulus, signed)
    plan = circuit(count, modulus, greatest, masked=True)
    width = plan.inputs["index mask"]
    if isinstance(role, Garbler):
        masks = [_masks(rng, rows, modulus) for _ in range(2)]
        for name, mask in zip(("index", "value"), masks, strict=True):
            bits[f"{name} mask"] = to_bits(mask, width)
        role.run(plan, bits, "evaluator")
        if signed:
            # The circuit saw numbers that were moved up; the garbler moves its share down again.
            masks[1] = _moved(masks[1], -(modulus // 2), modulus)
        return masks[0], masks[1]
    outputs = role.run(plan, bits, "evaluator")
    index, value = outputs["index"], outputs["value"]
    assert index is not None and value is not None  # noqa: S101, PT018 revealed to this side
    return from_bits(index), from_bits(value)


def _checked(shares: Numbers, modulus: int) -> tuple[int, int]:
    if shares.ndim != 2 or shares.shape[1] == 0 or shares.dtype.kind not in "iuO":
        raise ValueError("shares to find the least of are a matrix of integers, a row a question")
    if modulus < 2 or (shares.size and not 0 <= int(shares.min()) <= int(shares.max()) < modulus):
        raise ValueError(f"a share is outside [0, {modulus})")
    return shares.shape[0], shares.shape[1]


def _bits(role: Garbler | Evaluator, shares: Numbers, modulus: int, signed: bool) -> dict[str, Any]:
    """This party's shares as the circuit's input."""
    flat = shares.reshape(-1)
    if signed and isinstance(role, Garbler):
        flat = _moved(flat, modulus // 2, modulus)
    width = (modulus - 1).bit_length()
    name = "garbler" if isinstance(role, Garbler) else "evaluator"
    return {name: to_bits(flat, width).reshape(len(shares), shares.shape[1] * width)}


def _masks(rng: Random, rows: int, modulus: int) -> Numbers:
    if modulus <= 1 << 64 and modulus & (modulus - 1) == 0:
        return rng.array(rows) & np.uint64(modulus - 1)
    return _numbers(rng.integers(modulus, rows), modulus)


def _moved(values: Numbers, by: int, modulus: int) -> Numbers:
    if modulus <= 1 << 62 and values.dtype != object:
        return ((values.astype(np.int64) + by) % modulus).astype(np.uint64)
    return _numbers([(int(value) + by) % modulus for value in values], modulus)


def _numbers(values: list[int], modulus: int) -> Numbers:
    """The numbers in the form of `from_bits`: uint64 if they fit."""
    if modulus <= 1 << 64:
        return np.array(values, np.uint64)
    out = np.empty(len(values), object)
    out[:] = values
    return out
