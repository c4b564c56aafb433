"""Loops that are compiled when they are first called.

Importing numba and loading the first machine code take half a second, and most commands never run
such a loop. So a module that has one does not import numba: it says `@compiled`, and uses types of
NumPy inside the loop (`np.uintp`, which numba knows).
"""

from __future__ import annotations

import platform
import secrets
import threading
from collections.abc import Callable
from functools import cache, update_wrapper
from inspect import Parameter, Signature
from typing import Any


class Loop:
    """A function that is compiled, or read from the disk, at its first call.

    The compiled function releases the interpreter lock. Loops may call each other.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        update_wrapper(self, function)
        self._function = function
        self._compiled: Any = None

    def __call__(self, *arguments: Any) -> Any:
        return (self._compiled or self.dispatcher)(*arguments)

    @property
    def dispatcher(self) -> Any:
        """What numba has made of the function."""
        with _LOCK:
            if self._compiled is None:
                self._compiled = _compiled(self._function)
        return self._compiled


class Native:
    """A function of a C library for use in loops; pointers are passed as integers.

    `address` finds the function; `arguments` names the types of the arguments as numba does.
    """

    def __init__(self, name: str, address: Callable[[], int], arguments: str) -> None:
        self.name, self.address, self.arguments = name, address, arguments
        _unknown.append(self)

    def __call__(self, *arguments: Any) -> int:
        raise NotImplementedError(f"'{self.name}' is called in compiled loops only")

    def introduce(self) -> None:
        """Makes the function known to LLVM, which needs its address to load machine code."""
        import llvmlite.binding

        llvmlite.binding.add_symbol(self.name, self.address())


class Instructions:
    """LLVM instructions that stand in a loop like a call without a result.

    `write` appends them to a builder of llvmlite, from the values of the arguments.
    """

    def __init__(self, arguments: str, write: Callable[..., None]) -> None:
        self.arguments, self.write = arguments, write
        _unknown.append(self)

    def __call__(self, *arguments: Any) -> None:
        raise NotImplementedError("these instructions run in compiled loops only")

    def introduce(self) -> None:
        """Makes the instructions known to numba."""
        from numba import types
        from numba.extending import lower_builtin, type_callable

        taken = _types(self.arguments)
        names = [Parameter(f"a{n}", Parameter.POSITIONAL_OR_KEYWORD) for n in range(len(taken))]

        @type_callable(self)  # type: ignore[untyped-decorator]
        def typed(context: Any) -> Any:
            def signature(*arguments: Any) -> Any:
                return types.void(*arguments)

            signature.__signature__ = Signature(names)  # type: ignore[attr-defined]
            return signature

        @lower_builtin(self, *taken)  # type: ignore[untyped-decorator]
        def lowered(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            self.write(builder, *arguments)
            return context.get_dummy_value()


_LOCK = threading.RLock()
_unknown: list[Native | Instructions] = []  # until the first loop after them is called


def compiled(function: Callable[..., Any]) -> Loop:
    """Compiles at the first call, and caches the machine code on disk where possible."""
    return Loop(function)


def portable() -> bool:
    """Whether numba is told to compile nothing, and only NumPy remains."""
    import numba

    return bool(numba.config.DISABLE_JIT)


@cache
def processor_has(feature: str) -> bool:
    """Whether numba compiles for an x86 processor with these instructions, as LLVM calls them."""
    import llvmlite.binding
    import numba

    if portable() or platform.machine() not in ("x86_64", "AMD64"):
        return False
    if numba.config.CPU_FEATURES is not None:
        return f"+{feature}" in numba.config.CPU_FEATURES
    if numba.config.CPU_NAME == "generic":
        return False
    return bool(llvmlite.binding.get_host_cpu_features().get(feature, False))


def _compiled(function: Callable[..., Any]) -> Any:
    import numba

    cached = _prepared()
    while _unknown:
        _unknown.pop().introduce()
    try:
        return numba.njit(cache=cached, nogil=True)(function)
    except RuntimeError:  # no cache folder can be written: compile once in each process
        return numba.njit(nogil=True)(function)


@cache
def _prepared() -> bool:
    """Tells numba about loops that call others; False if their code cannot be cached."""
    import numba
    from numba import types
    from numba.extending import typeof_impl

    @typeof_impl.register(Loop)  # type: ignore[untyped-decorator]
    def type_of_loop(loop: Loop, context: Any) -> Any:
        return numba.typeof(loop.dispatcher)

    @typeof_impl.register(Native)  # type: ignore[untyped-decorator]
    def type_of_native(native: Native, context: Any) -> Any:
        return types.ExternalFunction(native.name, types.int32(*_types(native.arguments)))

    return _names_are_unique()


def _types(names: str) -> list[Any]:
    from numba import types

    return [getattr(types, name) for name in names.split()]


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
    from numba.core.bytecode import FunctionIdentity

    if not hasattr(FunctionIdentity, "_unique_ids"):
        return False
    FunctionIdentity._unique_ids = _RandomNumbers()
    return True
