"""`make secrecy`: removes, one at a time, every step that hides something; the tests must notice.

    python -m tests.secrecy.run [NAME …] [--jobs 2]

Each mutant of `tests/secrecy/mutants.py` is applied in a copy of the tree, where only the tests that
it names are run; each of them must fail (of a file, some test). Before that the same tests must pass on the copy as it is. A
snippet that no longer stands in its file, a test that cannot be run, and a mutant that survives each
end the run with exit code 1.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue

from tests import ROOT
from tests.secrecy.mutants import MUTANTS, Mutant

_LEFT_OUT = (".git", ".venv", ".hypothesis", ".mypy_cache", ".ruff_cache", ".pytest_cache", "*.egg-info",
             "demo-out", "build", "dist")  # fmt: skip
_FAILED = 1  # pytest's exit code when tests ran and some failed
_FAILURES = ("FAILED ", "ERROR ")
_SECONDS = 240  # for the tests of one mutant
_ALL_SECONDS = 1200  # for all tests without any mutant


def copy_of_tree(folder: Path, number: int) -> Path:
    """With the times of all files, so that compiled kernels stay valid."""
    target = folder / f"tree-{number}"
    shutil.copytree(ROOT, target, symlinks=True, ignore=shutil.ignore_patterns(*_LEFT_OUT))
    return target


def run_tests(tree: Path, tests: tuple[str, ...], seconds: float) -> tuple[int, str]:
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-rfE",
        "--tb=line",
        "-p",
        "no:cacheprovider",
        *tests,
    ]
    environment = {**os.environ, "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            command, cwd=tree, env=environment, capture_output=True, text=True, timeout=seconds
        )
    except subprocess.TimeoutExpired:
        return -1, f"no end after {seconds:g} s"
    return done.returncode, done.stdout + done.stderr


def judge(tree: Path, mutant: Mutant) -> str:
    """Why the mutant is not killed as it should be; empty if it is."""
    path = tree / mutant.file
    source = path.read_text(encoding="utf-8")
    if source.count(mutant.old) != 1:
        return f"its snippet stands {source.count(mutant.old)} times in {mutant.file}, not once"
    times = path.stat()
    path.write_text(source.replace(mutant.old, mutant.new), encoding="utf-8")
    try:
        code, output = run_tests(tree, mutant.tests, _SECONDS)
    finally:
        path.write_text(source, encoding="utf-8")
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    failed = [line.split(" ", 1)[1] for line in output.splitlines() if line.startswith(_FAILURES)]
    alive = [t for t in mutant.tests if not any(name.startswith(t) for name in failed)]
    if code == _FAILED and not alive:
        return ""
    if code in (0, _FAILED):
        return f"survives {', '.join(alive)}"
    return f"its tests could not be run (exit code {code}):\n{output[-2000:]}"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="mutants to try; all without any")
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args(arguments)
    unknown = set(given.names) - {mutant.name for mutant in MUTANTS}
    if unknown:
        parser.error(f"no mutant '{min(unknown)}'")
    chosen = [m for m in MUTANTS if not given.names or m.name in given.names]
    started = time.monotonic()
    failures = []
    with tempfile.TemporaryDirectory(prefix="coterie-secrecy-") as scratch:
        trees: SimpleQueue[Path] = SimpleQueue()
        for number in range(given.jobs):
            trees.put(copy_of_tree(Path(scratch), number))

        def unharmed(tests: tuple[str, ...]) -> str:
            tree = trees.get()
            try:
                code, output = run_tests(tree, tests, _ALL_SECONDS)
            finally:
                trees.put(tree)
            return "" if code == 0 else f"the tests fail without any mutant:\n{output[-3000:]}"

        def attempt(mutant: Mutant) -> str:
            tree = trees.get()
            try:
                return judge(tree, mutant)
            finally:
                trees.put(tree)

        with ThreadPoolExecutor(given.jobs) as pool:
            tests = sorted({test for mutant in chosen for test in mutant.tests})
            parts = [tuple(tests[at :: given.jobs]) for at in range(min(given.jobs, len(tests)))]
            failures += [fault for fault in pool.map(unharmed, parts) if fault]
            if not failures:
                for mutant, fault in zip(chosen, pool.map(attempt, chosen), strict=True):
                    print(f"{'ALIVE ' if fault else 'killed'} {mutant.name}", flush=True)
                    if fault:
                        failures.append(f"{mutant.name}: {fault}")
    print(f"{len(chosen)} mutants, {len(failures)} faults, {time.monotonic() - started:.0f} s")
    for fault in failures:
        print(fault, file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
