"""Loops that are compiled when they are first called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compiles at the first call, and keeps the machine code on disk where there is a place.

    The compiled function releases the interpreter lock.
    """
    try:
        return numba.njit(cache=True, nogil=True)(function)  # type: ignore[no-any-return]
    except RuntimeError:  # nowhere to write
        return numba.njit(nogil=True)(function)  # type: ignore[no-any-return]
