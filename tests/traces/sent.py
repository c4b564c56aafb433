"""Prints what the jobs of the traces send with more people: `python -m tests.traces.sent 4000`."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.traces import cases
from tests.traces.record import recorded


def main(people: int, wanted: list[str]) -> None:
    cases.PEOPLE = people
    for name, case in cases.JOBS.items():
        if wanted and name not in wanted:
            continue
        with tempfile.TemporaryDirectory() as folder:
            pairs = recorded(case, Path(folder)).values()
        print(f"{name}: {sum(int(pair.split(' ')[2]) for pair in pairs):,} bytes", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
