"""A secret order for large sets: Fisher and Yates's shuffle in a compiled loop."""

from __future__ import annotations

from typing import Any

import numpy as np

from coterie.base.arrays import Ints
from coterie.base.compiled import compiled
from coterie.protocols.primitives.randomness import Random


@compiled
def _shuffle(order: Any, words: Any) -> None:
    for i in range(order.shape[0] - 1, 0, -1):
        # The high half of word * (i + 1), by 32-bit halves: uniform but for 2^-40 in sets up to
        # 2^24.
        bound = np.uint64(i + 1)
        low = (words[i] & np.uint64(0xFFFFFFFF)) * bound
        j = ((words[i] >> np.uint64(32)) * bound + (low >> np.uint64(32))) >> np.uint64(32)
        order[i], order[j] = order[j], order[i]


def shuffled(count: int, rng: Random) -> Ints:
    """A random order of 0 … count-1, for counts below 2^32."""
    order = np.arange(count, dtype=np.int64)
    _shuffle(order, rng.array(count))
    return order
