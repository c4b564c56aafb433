"""Rough durations of the slow test files, so that `make test` begins with them.

The files are run by several processes, each of which takes the next file when it has none left; a long
file at the end would keep the others waiting. `python -m pytest -n 4 -p tests.durations …` writes
the list anew: every file that took more than `LONG` seconds, the longest first.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

LIST = Path(__file__).with_name("durations.csv")
LONG = 4.0
LONGEST = 8.0
_seconds: Counter[str] = Counter()


def known() -> dict[str, float]:
    """By file, the seconds that its tests took when the list was written."""
    lines = LIST.read_text(encoding="utf-8").splitlines()[1:]
    return {file: float(seconds) for file, seconds in (line.split(",") for line in lines)}


def longest() -> set[str]:
    """The files that took more than `LONGEST` seconds: `make guard` runs them."""
    return {file for file, seconds in known().items() if seconds > LONGEST}


def file_of(test: str) -> str:
    """The file of a test, of which pytest's name is given."""
    return test.partition("::")[0]


def longest_first(items: list[Any]) -> None:
    """Sorts tests by the time of their files; those of one file stay as they are."""
    seconds = known()
    items.sort(key=lambda item: -seconds.get(file_of(item.nodeid), 0.0))


def pytest_runtest_logreport(report: Any) -> None:
    _seconds[file_of(report.nodeid)] += report.duration


def pytest_sessionfinish(session: Any) -> None:
    if hasattr(session.config, "workerinput"):
        return
    rows = [f"{file},{seconds:.0f}" for file, seconds in _seconds.most_common() if seconds > LONG]
    LIST.write_text("\n".join(["file,seconds", *rows]) + "\n", encoding="utf-8")
