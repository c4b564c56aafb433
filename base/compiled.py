"""Loops that are compiled when they are first called."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Any

import numba
from numba.core.bytecode import FunctionIdentity


class _RandomNumbers:
    """The numbers by which numba tells functions of the same name apart, in place of its own 1, 2, 3.

    The number is a part of the name of the machine code, also on disk. Processes that count alike
    store different inner functions under one name, and a process that loads both runs one of them
    in the place of the other (numba issue 10486): a check then answered what another loop found.
    """

    def __next__(self) -> int:
        return secrets.randbits(64)


def _names_are_unique() -> bool:
    """Has numba draw numbers; False if this version of numba does not count as expected."""
    if not hasattr(FunctionIdentity, "_unique_ids"):
        return False
    FunctionIdentity._unique_ids = _RandomNumbers()
    return True


_CACHED = _names_are_unique()


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compiles at the first call, and caches the machine code on disk where possible.

    The compiled function releases the interpreter lock.
    """
    try:
        return numba.njit(cache=_CACHED, nogil=True)(function)  # type: ignore[no-any-return]
    except RuntimeError:  # no cache folder can be written: compile once in each process
        return numba.njit(nogil=True)(function)  # type: ignore[no-any-return]
