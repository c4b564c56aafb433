"""`make soak`: some hundred jobs of all kinds and outcomes at real servers; what they hold is printed.

Ends with 1 if, after the last job, a server holds more descriptors, threads or temporary files than
after the first jobs, or a tenth more memory.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

from tests.party.houses import Houses
from tests.party.outcomes import KINDS, OUTCOMES, furnish, play

SETTLE = 3.0  # seconds for the last farewells
SPARE = {"descriptors": 2, "threads": 4, "temporary": 0}


def held(houses: Houses, name: str) -> dict[str, int]:
    """What the server of this name holds now."""
    process = Path("/proc") / str(houses.processes[name].pid)
    status = dict(line.split(":", 1) for line in (process / "status").read_text().splitlines())
    return {
        "descriptors": len(list((process / "fd").iterdir())),
        "threads": int(status["Threads"]),
        "temporary": len(list(houses.state(name).glob("tmp*"))),
        "megabytes": int(status["VmRSS"].split()[0]) // 1000,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=500)
    jobs = parser.parse_args().jobs
    warm = 2 * len(KINDS) * len(OUTCOMES)  # code is compiled, pools have their size
    every = max(1, (jobs - warm) // 10)
    with tempfile.TemporaryDirectory() as folder:
        houses = Houses(Path(folder))
        first: dict[str, dict[str, int]] = {}
        last: dict[str, dict[str, int]] = {}
        with houses.stack:
            furnish(houses)
            houses.spawn_all()
            coordinator = houses.coordinator()
            began = time.monotonic()
            for number in range(jobs):
                if number == warm or (number > warm and (number - warm) % every == 0):
                    time.sleep(SETTLE)
                    last = {name: held(houses, name) for name in houses.names}
                    first = first or last
                    figures = {"jobs": number, "seconds": round(time.monotonic() - began)}
                    print(json.dumps({**figures, "held": last}), flush=True)
                play(houses, coordinator, number)
            time.sleep(SETTLE)
            last = {name: held(houses, name) for name in houses.names}
            seconds = round(time.monotonic() - began)
    grown = [
        f"{name}: {key} {first[name][key]} -> {last[name][key]}"
        for name in last
        for key in last[name]
        if last[name][key]
        > (1.1 * first[name][key] if key == "megabytes" else first[name][key] + SPARE[key])
    ]
    print(json.dumps({"jobs": jobs, "seconds": seconds, "held": last, "grown": grown}))
    return 1 if grown else 0


if __name__ == "__main__":
    sys.exit(main())
