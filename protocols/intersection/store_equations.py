"""A few linear equations over GF(2^128), by elimination.

In: factors of shape (equations, unknowns, 2), as many right sides, and what the unknowns are where the
equations leave them free. Out: unknowns that solve all equations; None if the equations depend on each
other, also where their right sides do. For systems of some twenty equations.
"""

from __future__ import annotations

import numpy as np

from coterie.base.arrays import Array, Blocks
from coterie.protocols.primitives.field128 import multiply


def solved(factors: Array, rights: Blocks, free: Blocks) -> Blocks | None:
    """The unknowns; those without a pivot are as in `free`."""
    rows = np.concatenate([factors, rights[:, None]], axis=1)
    pivots: list[int] = []
    for number in range(len(rows)):
        found = np.flatnonzero(rows[number, :-1].any(axis=1))
        if not len(found):
            return None
        pivots.append(int(found[0]))
        rows[number] = times(rows[number], inverse(rows[number, found[0]]))
        for other in range(len(rows)):
            if other != number:
                rows[other] ^= times(rows[number], rows[other, found[0]])
    out = free.copy()
    for row, at in zip(rows, pivots, strict=True):
        row[pivots] = 0
        out[at] = row[-1] ^ np.bitwise_xor.reduce(multiply(row[:-1], free), axis=0)
    return out


def times(blocks: Blocks, factor: Blocks) -> Blocks:
    """Every block times one factor."""
    return multiply(blocks, np.broadcast_to(factor, blocks.shape))


def inverse(block: Blocks) -> Blocks:
    """One over a block that is not zero: its power 2^128 - 2."""
    square, out = block[None], None
    for _ in range(127):
        square = multiply(square, square)
        out = square if out is None else multiply(out, square)
    assert out is not None  # noqa: S101 the loop ran
    return np.asarray(out[0])
