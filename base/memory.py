"""Memory that goes back to the system: pages of mapped files, and what allocators keep for later.

A command with a budget of memory works in steps, and each step may use the whole budget. So what a
step has freed must be gone when the next one begins: the allocators of Arrow and of C would keep
most of it. Pages of a mapped file are the system's own and leave the memory whenever something else
needs the room; until then they count as the process's, and a reader of `top` cannot tell them from
what the process has asked for.
"""

from __future__ import annotations

import ctypes
import mmap

import numpy as np
import pyarrow as pa

from coterie.base.arrays import Array


def give_back() -> None:
    """Returns freed memory to the system, as far as the allocators can."""
    pa.default_memory_pool().release_unused()
    try:
        trim = ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):
        return  # not the C library of GNU
    trim(0)


def let_go(array: Array) -> None:
    """Takes the pages of a mapped file out of this process; what was written stays in the file.

    An array that is no mapped file is left as it is.
    """
    file = array.base
    if isinstance(file, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
        file.madvise(mmap.MADV_DONTNEED)


def read_part(array: Array, rows: slice | Array) -> Array:
    """A copy of some elements; of a mapped file nothing else stays in memory."""
    found = np.array(array[rows])
    let_go(array)
    return found
