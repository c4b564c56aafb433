"""`make secrecy`: removes or weakens, one at a time, every step that hides something; the tests must notice.

    python -m tests.secrecy.run [NAME …] [--jobs 2] [--tested]

Each mutant of `tests/secrecy/mutants/` is applied in a copy of the tree, where only the tests that
it names are run; each of them must fail (of a file, some test). Before that the same tests must pass
on the copy as it is; `--tested` leaves this out where all tests have just passed. A snippet that no
longer stands in its file (also of a step that may be weaker, `HARMLESS`), a test that cannot be run, and
a mutant that survives each end the run with exit code 1.

The tests run in forks of a process that has imported the large libraries and the project
(`tests/secrecy/warm.py`), because importing them would take longer than most of the tests.
"""

from __future__ import annotations

import argparse
import compileall
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from queue import SimpleQueue
from typing import TypeVar

from tests import ROOT
from tests.secrecy.mutants import HARMLESS, MUTANTS, Harmless, Mutant

T = TypeVar("T")
WARM = Path(__file__).with_name("warm.py")
PREPARED = ("tests.secrecy.prepared", "prepare")
_LEFT_OUT = (".git", ".venv", ".hypothesis", ".mypy_cache", ".ruff_cache", ".pytest_cache", "*.egg-info",
             "demo-out", "build", "dist")  # fmt: skip
_FAILED = 1  # pytest's exit code when tests ran and some failed
_FAILURES = ("FAILED ", "ERROR ")
_SECONDS = 240  # for the tests of one mutant
_ALL_SECONDS = 1200  # for a part of the tests without any mutant
_PARTS = 4  # of the tests without any mutant, for each job


class Copy:
    """A copy of the tree, and the process whose forks run tests in it."""

    def __init__(self, root: Path, target: Path, core: int, prepared: Sequence[str] = ()) -> None:
        """`prepared` is a module and a function of it that make the process ready to be forked."""
        self.tree = copy_of_tree(root, target)
        self._ready = False
        place = [str(self.tree), *prepared] if prepared else []
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
        self._warm = subprocess.Popen(
            [sys.executable, str(WARM), str(core), *place],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )

    def wait(self) -> None:
        """Until the process is ready to be forked: a file changed before that would be in all forks."""
        assert self._warm.stdout is not None
        if not self._ready:
            line = self._warm.stdout.readline()
            assert line == "ready\n", "the process that forks did not start"
            self._ready = True

    def run_tests(
        self,
        tests: Iterable[str],
        seconds: float,
        keep: bool = False,
        mutant: tuple[str, str] | None = None,
    ) -> tuple[int, str]:
        """pytest's exit code, or one of `warm`, and what it printed.

        `mutant` is the file that was changed in the copy, and its source before.
        """
        request = {"tree": str(self.tree), "tests": list(tests), "seconds": seconds, "keep": keep,
                   "mutant": mutant}  # fmt: skip
        self.wait()
        assert self._warm.stdin is not None
        assert self._warm.stdout is not None
        self._warm.stdin.write(json.dumps(request) + "\n")
        self._warm.stdin.flush()
        answer = json.loads(self._warm.stdout.readline())
        return answer["code"], answer["output"]

    def close(self) -> None:
        assert self._warm.stdin is not None
        self._warm.stdin.close()
        self._warm.wait()


def copy_of_tree(root: Path, target: Path) -> Path:
    """With the times of all files, so that compiled kernels stay valid, and with all modules compiled.

    The modules of a mutant are not compiled to files: a later mutant of the same length, made
    within the same second, would be taken for it.
    """
    shutil.copytree(root, target, symlinks=True, ignore=shutil.ignore_patterns(*_LEFT_OUT))
    compileall.compile_dir(target, quiet=2)
    return target


def parts_of(tests: Iterable[str], number: int) -> list[list[str]]:
    """At most this many parts, with the tests of one file in one part."""
    files: dict[str, list[str]] = {}
    for test in sorted(set(tests)):
        files.setdefault(test.partition("::")[0], []).append(test)
    groups = list(files.values())
    parts = [[test for group in groups[at::number] for test in group] for at in range(number)]
    return [part for part in parts if part]


def missing(root: Path, mutant: Mutant | Harmless) -> str:
    """Why the mutant cannot be made; empty if it can."""
    times = (root / mutant.file).read_text(encoding="utf-8").count(mutant.old)
    return "" if times == 1 else f"its snippet stands {times} times in {mutant.file}, not once"


def judge(copy: Copy, mutant: Mutant) -> str:
    """Why the mutant is not killed as it should be; empty if it is."""
    copy.wait()
    if fault := missing(copy.tree, mutant):
        return fault
    path = copy.tree / mutant.file
    source = path.read_text(encoding="utf-8")
    times = path.stat()
    path.write_text(source.replace(mutant.old, mutant.new), encoding="utf-8")
    try:
        code, output = copy.run_tests(mutant.tests, _SECONDS, mutant=(mutant.file, source))
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
    parser.add_argument("--tested", action="store_true", help="the tests passed a moment ago")
    given = parser.parse_args(arguments)
    unknown = set(given.names) - {mutant.name for mutant in MUTANTS}
    if unknown:
        parser.error(f"no mutant '{min(unknown)}'")
    chosen = [m for m in MUTANTS if not given.names or m.name in given.names]
    # Those with the most tests take the longest, and must not be what one core does at the end.
    chosen.sort(key=lambda mutant: -len(mutant.tests))
    started = time.monotonic()
    failures = [f"{one.name}: {fault}" for one in HARMLESS if (fault := missing(ROOT, one))]
    with tempfile.TemporaryDirectory(prefix="coterie-secrecy-") as scratch, ExitStack() as stack:
        copies: SimpleQueue[Copy] = SimpleQueue()
        for number in range(given.jobs):
            copy = Copy(ROOT, Path(scratch, f"tree-{number}"), number, PREPARED)
            stack.callback(copy.close)
            copies.put(copy)

        def with_a_copy(work: Callable[[Copy], T]) -> tuple[T, float]:
            copy, began = copies.get(), time.monotonic()
            try:
                return work(copy), time.monotonic() - began
            finally:
                copies.put(copy)

        def unharmed(tests: list[str]) -> str:
            (code, output), _ = with_a_copy(
                lambda copy: copy.run_tests(tests, _ALL_SECONDS, keep=True)
            )
            return "" if code == 0 else f"the tests fail without any mutant:\n{output[-3000:]}"

        def attempt(mutant: Mutant) -> tuple[str, float]:
            return with_a_copy(lambda copy: judge(copy, mutant))

        with ThreadPoolExecutor(given.jobs) as pool:
            tests = () if given.tested else (t for m in chosen for t in m.tests)
            parts = parts_of(tests, _PARTS * given.jobs)
            broken = [fault for fault in pool.map(unharmed, parts) if fault]
            failures += broken
            if not broken:
                for mutant, (fault, seconds) in zip(chosen, pool.map(attempt, chosen), strict=True):
                    verdict = "ALIVE " if fault else "killed"
                    print(f"{verdict} {seconds:5.1f} s  {mutant.name}", flush=True)
                    if fault:
                        failures.append(f"{mutant.name}: {fault}")
    print(
        f"{len(chosen)} mutants, {len(HARMLESS)} that are harmless, {len(failures)} faults, "
        f"{time.monotonic() - started:.0f} s"
    )
    for fault in failures:
        print(fault, file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
