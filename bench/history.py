"""What it costs a party to judge a job by what it remembers: `policy.repeat`.

Earlier jobs about a million people, each of which counted the same attribute: of a few different
sets of people (a customer base that grows, the same question every day), or each of a set of its own,
drawn at random, which is more than the audit compares, so that the job is refused. Then earlier
releases, whose groups are compared with those of a new one. Seconds are those of one judgement;
memory is the most that it takes at once; the state is what lies on the disk.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from coterie.base.arrays import Ints
from coterie.bench._spent import rounded
from coterie.party.history.judgement import Finding, judge_groups, judge_people
from coterie.party.history.releases import History, Remembered, digest_of
from coterie.party.settings import Repeat

SETS = 20
REPEAT = Repeat(k=10)


def remembered(at: int, people: Ints) -> Remembered:
    """One job of somebody who counted the column Sex of these people."""
    return Remembered(
        f"{at:032x}", "digest", f"job {at}", "count", "analyst", ["bank", "lender"], "", time.time(),
        ["ID"], len(people), digest_of(people), {"Sex": ""},
    )  # fmt: skip


def growing(people: int, at: int) -> Ints:
    """The customers after so many months: each month a hundredth more."""
    return np.arange(people - (SETS - at % SETS) * (people // 100))


def random_half(people: int, at: int) -> Ints:
    return np.flatnonzero(np.random.default_rng(at).random(people) < 0.5)


def measured(judge: Callable[[], list[Finding]]) -> dict[str, Any]:
    """Seconds and memory of a judgement, and what it found."""
    begin = time.perf_counter()
    found = judge()
    seconds = time.perf_counter() - begin
    tracemalloc.start()
    judge()
    memory = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return {"seconds": seconds, "memory_bytes": memory, "found": [f.rule for f in found]}


def size_of(history: History) -> int:
    return sum(path.stat().st_size for path in history.folder.iterdir())


def measure_counts(
    folder: Path, people: int, jobs: int, draw: Callable[[int, int], Ints]
) -> dict[str, Any]:
    history = History(folder)
    for at in range(jobs):
        one = draw(people, at)
        history.add(remembered(at, one), one)
    asked = np.arange(people)
    found = measured(lambda: judge_people(history, REPEAT, remembered(jobs, asked), asked))
    return {"jobs": jobs, "people": people, "state_bytes": size_of(history), **found}


def measure_releases(folder: Path, people: int, releases: int) -> dict[str, Any]:
    """Releases in groups of 20, each of which divides the same people in the same way."""
    history, asked = History(folder), np.arange(people)
    groups = {"Sex, Age": asked // 20}
    for at in range(releases):
        one = remembered(at, asked)
        history.add(one, asked)
        history.add_groups(one.job, asked, groups)
    entry = remembered(releases, asked)
    found = measured(lambda: judge_groups(history, REPEAT, entry, asked, groups))
    return {"jobs": releases, "people": people, "state_bytes": size_of(history), **found}


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="coterie bench history", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer people and jobs")
    options = parser.parse_args(argv)
    people, jobs, releases = (20_000, 50, 3) if options.quick else (1_000_000, 1000, 20)
    with tempfile.TemporaryDirectory(prefix="coterie-") as made:
        report = {
            "bench": "history",
            "cores": os.cpu_count(),
            "machine": platform.machine(),
            "counts": {
                "few sets": measure_counts(Path(made) / "few", people, jobs, growing),
                "sets at random": measure_counts(Path(made) / "many", people, jobs, random_half),
            },
            "releases": measure_releases(Path(made) / "releases", people, releases),
        }
    print(json.dumps(rounded(report)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
