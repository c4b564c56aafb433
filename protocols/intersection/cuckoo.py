"""Cuckoo hashing with three functions and no stash: each value in one of three bins, one to a bin.

Kirsch, Mitzenmacher and Wieder (2010) and, for these parameters, Pinkas, Schneider and Zohner,
"Scalable Private Set Intersection Based on OT Extension" (TOPS 2018): 1.27 n bins suffice for a
failure chance of 2^-40 in large sets. In small sets the likeliest failure is four values in the
same three bins; its probability is about 3690 n^4 / bins^9, which 320 more bins keep at 2^-40. If a
table fails, it is built again under another key, and a peer sees nothing of the table but the key.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from coterie.base.arrays import Blocks, Bytes, Int32s, UInt32s
from coterie.base.compiled import compiled
from coterie.protocols.primitives.blocks import spread
from coterie.protocols.primitives.randomness import Random

HASHES = 3
_TRIES = 1000  # moves after which a table counts as failed
_TABLES = 20


@dataclass(frozen=True)
class Cuckoo:
    """`item[b]` is the value in bin b, or -1; `which[b]` the hash function that put it there."""

    key: bytes
    item: Int32s
    which: Bytes


def bins_for(count: int) -> int:
    """Enough bins for `count` values; a multiple of 128."""
    return -(-(13 * count // 10 + 320) // 128) * 128


def positions(values: Blocks, key: bytes, bins: int) -> UInt32s:
    """The three bins of every value, of shape (n, 3)."""
    words = spread(key, values).view(np.uint32).reshape(-1, 4)[:, :HASHES]
    return ((words.astype(np.uint64) * np.uint64(bins)) >> np.uint64(32)).astype(np.uint32)


@compiled
def _insert(places: Any, item: Any, which: Any, state: Any, tries: Any) -> Any:
    for first in range(places.shape[0]):
        current = np.int32(first)
        placed = False
        for _ in range(tries):
            for h in range(3):
                b = places[current, h]
                if item[b] < 0:
                    item[b] = current
                    which[b] = h
                    placed = True
                    break
            if placed:
                break
            state ^= state << np.uint64(13)
            state ^= state >> np.uint64(7)
            state ^= state << np.uint64(17)
            other = np.int64(state % np.uint64(3))
            b = places[current, other]
            evicted = item[b]
            item[b] = current
            which[b] = other
            current = evicted
        if not placed:
            return False
    return True


def build(values: Blocks, rng: Random) -> Cuckoo:
    """A table of the values, which are all different."""
    bins = bins_for(len(values))
    for _ in range(_TABLES):
        key = rng.bytes(16)
        item = np.full(bins, -1, np.int32)
        which = np.zeros(bins, np.uint8)
        start = np.uint64(rng.below(2**63) + 1)
        if _insert(positions(values, key, bins), item, which, start, _TRIES):
            return Cuckoo(key, item, which)
    raise ValueError("no cuckoo table in twenty attempts: the values cannot be random")
