"""Loops that are compiled when they are first called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compiles at the first call, and caches the machine code on disk where possible.

    The compiled function releases the interpreter lock.
    """
    try:
        return numba.njit(cache=True, nogil=True)(function)  # type: ignore[no-any-return]
    except RuntimeError:  # no cache folder can be written: compile once in each process
        return numba.njit(nogil=True)(function)  # type: ignore[no-any-return]
