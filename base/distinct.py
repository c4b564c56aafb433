"""The different values of an array of whole numbers, faster than `np.unique` finds them.

Measured with NumPy 2.4 on three million random 64-bit numbers: `np.unique` takes 2.9 s, for it puts each
one into a hash table; sorting them takes 0.05 s. Numbers of a small range, as codes are, need not be
sorted at all: counting them gives each one's rank.
"""

from __future__ import annotations

import numpy as np

from coterie.base.arrays import Array, Codes, Ints

_SPAN = 4  # counting pays up to so many possible values for each one present


def distinct(values: Array) -> Array:
    """The different values in ascending order, without repeats."""
    ordered = np.sort(values, axis=None)
    new = np.ones(len(ordered), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    return ordered[new]


def ranks(values: Codes) -> Ints:
    """For each value, a vector's, how many different smaller ones there are."""
    if not len(values):
        return np.zeros(0, np.int64)
    low, span = values.min(), int(values.max()) - int(values.min()) + 1
    if span > max(_SPAN * len(values), 1 << 16):
        return np.unique(values, return_inverse=True)[1].astype(np.int64, copy=False)
    from_low: Ints = np.subtract(values, low, dtype=np.int64, casting="unsafe")  # small in any case
    rank: Ints = np.cumsum(np.bincount(from_low, minlength=span) > 0) - 1
    return rank[from_low]
