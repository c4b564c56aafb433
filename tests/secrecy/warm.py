"""A process that imports the large libraries once, and forks for every run of pytest.

    python tests/secrecy/warm.py CORE

Stays on the processor core of this number (`tests/cores.py`).
Reads one JSON object a line: `tree` (the copy of the project to test), `tests`, `seconds` (how long
they may take), and `keep` (whether compiled modules are kept: never those of a mutant). Answers with
one line each: `code` (pytest's exit code, `NO_END` or `OTHER_TREE`) and `output`. Nothing of the
project is imported before the fork, so that a fork imports the tree it is given, mutant and all; a
fork that imported another one says `OTHER_TREE`.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import runpy
import signal
import sys
import tempfile
import time
from pathlib import Path

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


def become_pytest(tree: Path, tests: list[str], keep: bool, output: str) -> int:
    """Runs in the fork: pytest in this tree, as if it had been started there."""
    import pytest

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


def run(tree: Path, tests: list[str], seconds: float, keep: bool) -> tuple[int, str]:
    """pytest's exit code and output, of a fork that has ended."""
    with tempfile.NamedTemporaryFile("r", prefix="coterie-secrecy-", errors="replace") as file:
        child = os.fork()
        if child == 0:
            code = 70
            try:
                os.setsid()  # so that what tests start ends with them
                code = become_pytest(tree, tests, keep, file.name)
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
    for line in sys.stdin:
        request = json.loads(line)
        code, output = run(Path(request.pop("tree")), **request)
        print(json.dumps({"code": code, "output": output}), flush=True)


if __name__ == "__main__":
    main()
