"""Groups: records with equal codes in several columns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from coterie.base.arrays import Array
from coterie.base.distinct import ranks

_ROOM = 2**62  # keys stay below this


def group_numbers(columns: Sequence[Array]) -> Array:
    """For each record the number of its group, from 0 on, without gaps."""
    key: Array = np.zeros(len(columns[0]), np.int64)
    room = 1
    for codes in columns:
        size = int(codes.max(initial=0)) + 1
        if room * size >= _ROOM:
            key = ranks(key)
            room = int(key.max(initial=0)) + 1
        key = key * size + codes
        room *= size
    return ranks(key)
