"""Random numbers for what hides people's values: from the operating system, in whole columns.

Whoever knows some records sees the noise on them. The numbers of a statistical generator would then
reveal its state, and with it the noise on all other records; those of the operating system reveal
nothing. Tests inject a seeded source of bytes in its place, such as `default_rng(1).bytes`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from coterie.base.arrays import Floats

Bytewise: TypeAlias = Callable[[int], bytes]  # returns this many random bytes
SYSTEM: Bytewise = os.urandom
_BITS = 52  # random ones; the half that is added makes 53, the precision of a float


def uniform(shape: tuple[int, ...], source: Bytewise = SYSTEM) -> Floats:
    """Numbers between 0 and 1, neither of them included, all multiples of 2^-53."""
    size = int(np.prod(shape))
    words = np.frombuffer(source(8 * size), np.uint64) >> np.uint64(64 - _BITS)
    return ((words.astype(np.float64) + 0.5) * 2.0**-_BITS).reshape(shape)


def normal(shape: tuple[int, ...], source: Bytewise = SYSTEM) -> Floats:
    """Standard normal numbers, by the method of Box and Muller."""
    size = int(np.prod(shape))
    half = (size + 1) // 2
    radius = np.sqrt(-2 * np.log(uniform((half,), source)))
    angle = 2 * np.pi * uniform((half,), source)
    both = np.concatenate([radius * np.cos(angle), radius * np.sin(angle)])
    return both[:size].reshape(shape)
