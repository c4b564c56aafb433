"""Small codes, one per record, packed into as few bits as their range needs."""

from __future__ import annotations

from typing import Any

import numpy as np

from coterie.base.arrays import Array


def bits_for(choices: int) -> int:
    """The bits of one code below `choices`: none if there is only one choice."""
    return (choices - 1).bit_length()


def pack_codes(codes: Array, choices: int) -> Array:
    """The codes, each in `bits_for(choices)` bits, least significant bit first."""
    bits = bits_for(choices)
    if bits == 0:
        return np.empty(0, np.uint8)
    if bits == 1:
        return np.packbits(codes, bitorder="little")
    if bits == 8 and codes.dtype == np.uint8:
        return codes
    spread = np.empty((len(codes), bits), np.uint8)
    for bit in range(bits):
        spread[:, bit] = (codes >> bit) & 1
    return np.packbits(spread, bitorder="little")


def unpack_codes(packed: Any, count: int, choices: int) -> Array:
    """`count` codes below `choices`; raises ValueError if the received array cannot be these."""
    bits = bits_for(choices)
    size = (count * bits + 7) // 8
    if not isinstance(packed, np.ndarray) or packed.dtype != np.uint8 or packed.ndim != 1:
        raise ValueError("is not an array of bytes")
    if len(packed) != size:
        raise ValueError(f"has {len(packed)} bytes where {size} are due")
    spare = size * 8 - count * bits
    if spare and packed[-1] >> (8 - spare):
        raise ValueError("has bits set beyond its end")
    kind: Any = np.uint8 if choices <= 256 else np.uint16
    if bits == 0:
        return np.zeros(count, kind)
    spread = np.unpackbits(packed, count=count * bits, bitorder="little")
    if bits == 1:
        return spread
    rows = spread.reshape(count, bits)
    codes: Array = rows[:, 0].astype(kind)
    for bit in range(1, bits):
        codes |= rows[:, bit].astype(kind) << kind(bit)
    if count and int(codes.max()) >= choices:
        raise ValueError(f"has the code {int(codes.max())} where {choices - 1} is the largest")
    return codes
