"""Groups: records with equal codes in several columns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from coterie.base.arrays import Array

_ROOM = 2**62  # keys stay below this


def group_numbers(columns: Sequence[Array]) -> Array:
    """For each record the number of its group, from 0 on, without gaps."""
    key: Array = np.zeros(len(columns[0]), np.int64)
    room = 1
    for codes in columns:
        size = int(codes.max(initial=0)) + 1
        if room * size >= _ROOM:
            _, key = np.unique(key, return_inverse=True)
            room = int(key.max(initial=0)) + 1
        key = key * size + codes
        room *= size
    return np.asarray(np.unique(key, return_inverse=True)[1], np.int64)
