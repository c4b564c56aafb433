"""A process that imports the large libraries once, and forks for every run of pytest.

    python tests/secrecy/warm.py CORE [TREE MODULE FUNCTION]

Stays on the processor core of this number (`tests/cores.py`). Says `ready`; no file of the tree may be
a mutant before. Then reads one JSON object a line: `tree` (the copy of the project to test), `tests`,
`seconds` (how long they may take), `keep` (whether compiled modules are kept: never those of a
mutant), and `mutant` (the file that is a mutant, and its source without the change, or null). Answers
with one line each: `code` (pytest's exit code, `NO_END` or `OTHER_TREE`) and `output`; a fork that
imported another tree than the one it was given says `OTHER_TREE`.

With a tree and a function in it, the process calls that function before it forks, to import the
project and to load its compiled loops, which takes longer than most tests. A fork for a mutant then
gives every function that the change touches the changed code. Where the change is none of functions
alone, or touches a compiled loop, the fork forgets whatever it has of the project and imports the
mutant, as every fork does where nothing was imported before.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import inspect
import json
import os
import runpy
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType

NO_END, OTHER_TREE = -1, 97
_PROJECT = ("coterie", "tests")
_OPTIONS = ["-q", "-rfE", "--tb=line", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:cov"]
_LIBRARIES = (
    "click cryptography.x509 cryptography.hazmat.primitives.ciphers.aead duckdb gmpy2 grpc "
    "grpc_health.v1.health_pb2_grpc grpc_reflection.v1alpha.reflection hypothesis "
    "hypothesis.extra.numpy hypothesis.strategies numba numpy phe pyarrow pyarrow.compute "
    "pyarrow.csv pyarrow.dataset pyarrow.parquet pytest pytest_timeout rbcl rich.console rich.live unittest.mock yaml xml.etree.ElementTree"
)


def of_project() -> list[str]:
    """The modules of the project that this process has imported."""
    return [name for name in sys.modules if name.split(".")[0] in _PROJECT]


def forget_project() -> None:
    for name in of_project():
        del sys.modules[name]
    importlib.invalidate_caches()


def codes_within(code: CodeType) -> Iterator[CodeType]:
    """The codes of the functions and classes that stand directly in a module's or a class's code."""
    return (constant for constant in code.co_consts if isinstance(constant, CodeType))


def apart_from_lines(code: CodeType) -> tuple[object, ...]:
    """Whatever a code does, but not the lines it stands on."""
    constants = tuple(
        apart_from_lines(one) if isinstance(one, CodeType) else (type(one), repr(one))
        for one in code.co_consts
    )
    names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    numbers = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
    return code.co_qualname, code.co_code, code.co_exceptiontable, constants, names, numbers


def is_function(code: CodeType) -> bool:
    return bool(code.co_flags & inspect.CO_NEWLOCALS)


def changed_functions(old: CodeType, new: CodeType) -> list[tuple[CodeType, CodeType]] | None:
    """The functions of a module, or methods of its classes, that differ; None if anything else does."""
    before, after = list(codes_within(old)), list(codes_within(new))
    if len(before) != len(after):
        return None
    found = []
    for one, other in zip(before, after, strict=True):
        if apart_from_lines(one) == apart_from_lines(other):
            continue
        if one.co_qualname != other.co_qualname or is_function(one) != is_function(other):
            return None
        if is_function(one):
            found.append((one, other))
            continue
        within = changed_functions(one, other)
        if within is None:
            return None
        found += within
    # Without the codes within them, the two must be the same.
    kept = old.replace(co_consts=tuple(c for c in old.co_consts if not isinstance(c, CodeType)))
    made = new.replace(co_consts=tuple(c for c in new.co_consts if not isinstance(c, CodeType)))
    return found if apart_from_lines(kept) == apart_from_lines(made) else None


def become_mutant(path: Path, source: str) -> bool:
    """Gives the functions that the change touches their changed code; False where that cannot be.

    A function is known by its place: the file, its qualified name and its line in the given source.
    A module that is not imported yet will be imported as it is.
    """
    files = (getattr(sys.modules[name], "__file__", None) for name in of_project())
    if not any(Path(file).resolve() == path.resolve() for file in files if file):
        return True
    old, new = (
        compile(text, str(path), "exec", dont_inherit=True)
        for text in (source, path.read_text("utf-8"))
    )
    changed = changed_functions(old, new)
    if not changed:
        return False
    objects = gc.get_objects()
    made = [one for one in objects if isinstance(one, FunctionType)]
    compilers = ("coterie.base.compiled", "numba.core.registry")
    loops = [one for one in objects if type(one).__module__ in compilers]
    for before, after in changed:
        place = (before.co_qualname, before.co_firstlineno)
        functions = [
            one
            for one in made
            if (one.__code__.co_qualname, one.__code__.co_firstlineno) == place
            and Path(one.__code__.co_filename).resolve() == path.resolve()
        ]
        if len(functions) != 1 or apart_from_lines(functions[0].__code__) != apart_from_lines(
            before
        ):
            return False
        if any(getattr(one, "__wrapped__", None) is functions[0] for one in loops):
            return False
        if functions[0].__code__.co_freevars != after.co_freevars:
            return False
        functions[0].__code__ = after
    return True


def become_pytest(
    tree: Path, tests: list[str], keep: bool, mutant: tuple[str, str] | None, output: str
) -> int:
    """Runs in the fork: pytest in this tree, as if it had been started there."""
    import pytest

    if of_project() and (mutant is None or not become_mutant(tree / mutant[0], mutant[1])):
        forget_project()
    gc.freeze()  # the libraries stay; pytest collects garbage more than once
    os.chdir(tree)
    sys.path.insert(0, str(tree))
    sys.dont_write_bytecode = not keep
    os.environ["PYTHONPATH"] = str(tree)  # for the processes that tests start
    os.environ["PYTHONDONTWRITEBYTECODE"] = "" if keep else "1"
    file = os.open(output, os.O_WRONLY)
    os.dup2(file, 1)
    os.dup2(file, 2)
    code = int(pytest.main([*_OPTIONS, *tests]))
    elsewhere = [
        name
        for name in of_project()
        if (path := getattr(sys.modules[name], "__file__", None))
        and not Path(path).resolve().is_relative_to(tree.resolve())
    ]
    print(*(f"imported from elsewhere: {name}" for name in elsewhere), sep="\n")
    return OTHER_TREE if elsewhere else code


def run(
    tree: Path, tests: list[str], seconds: float, keep: bool, mutant: tuple[str, str] | None
) -> tuple[int, str]:
    """pytest's exit code and output, of a fork that has ended."""
    with tempfile.NamedTemporaryFile("r", prefix="coterie-secrecy-", errors="replace") as file:
        child = os.fork()
        if child == 0:
            code = 70
            try:
                os.setsid()  # so that what tests start ends with them
                code = become_pytest(tree, tests, keep, mutant, file.name)
            finally:
                with contextlib.suppress(OSError, ValueError):
                    sys.stdout.flush()
                os._exit(code)
        deadline = time.monotonic() + seconds
        while True:
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                break
            if time.monotonic() > deadline:
                os.killpg(child, signal.SIGKILL)
                os.waitpid(child, 0)
                return NO_END, f"no end after {seconds:g} s"
            time.sleep(0.02)
        return os.waitstatus_to_exitcode(status), file.read()


def stay_on(core: int) -> None:
    """As `tests.cores.stay_on`, which is the project's and must not be imported here."""
    runpy.run_path(str(Path(__file__).parents[1] / "cores.py"))["stay_on"](core)


def main() -> None:
    stay_on(int(sys.argv[1]))
    sys.path = [path for path in sys.path if Path(path) != Path(__file__).parent]
    for name in _LIBRARIES.split():
        with contextlib.suppress(ImportError):  # then the tests that need it say so
            importlib.import_module(name)
    imported = of_project()
    if imported:
        sys.exit(f"{imported[0]} was imported before the fork")
    if sys.argv[2:]:
        tree, module, function = sys.argv[2:]
        os.chdir(tree)
        sys.path.insert(0, tree)
        with contextlib.redirect_stdout(sys.stderr):
            getattr(importlib.import_module(module), function)()
        gc.collect()
    print("ready", flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        code, output = run(Path(request.pop("tree")), **request)
        print(json.dumps({"code": code, "output": output}), flush=True)


if __name__ == "__main__":
    main()
