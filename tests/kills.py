"""Kills the parties of small jobs of every kind, at many places, and has the jobs go on: `make kills`.

    python -m tests.kills memory [--job NAME] [--most N]
    python -m tests.kills servers [--job NAME] [--places N]

`memory` kills every party before and after each of its messages (at most N of them, spread evenly),
in this process. `servers` kills real servers by SIGKILL and has `coterie attach` go on; it also says
which phase `coterie run` has named, beside the phases in which the killed party and the witness
stood. Each line is one place, or one job; a release that differs, and an attempt that does not end
as it should, end the command with code 1.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from coterie.protocols.messaging.wrappers import Fault
from tests.jobs.run.interrupted import fresh, places
from tests.jobs.run.resumed_jobs import NAMES, RANDOM, write_job
from tests.party.mortals import Mortals, release

_ALL = 1 << 30


def comparable(name: str, found: dict[str, Any]) -> dict[str, Any]:
    """What two undisturbed runs have in common: some things are drawn at random, once for each job."""
    return {key: value for key, value in found.items() if key not in RANDOM.get(name, ())}


def in_memory(name: str, most: int) -> int:
    """The number of kills after which the job came to another release."""
    wrong = kills = 0
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as scratch:
        data, run = Path(scratch) / "data", Path(scratch) / "run"
        data.mkdir()
        job = write_job(name, data)
        whole = fresh(job, data, run)
        whole.attempt()
        expected, messages = comparable(name, whole.release()), dict(whole.messages)
        for party, count in messages.items():
            for at in places(count, most):
                for when in ("kill-before", "kill-after"):
                    world = fresh(job, data, run)
                    world.attempt({party: Fault(when, at)})  # type: ignore[arg-type]
                    ends = world.attempt()
                    kills += 1
                    if (
                        set(ends.values()) != {None}
                        or comparable(name, world.release()) != expected
                    ):
                        wrong += 1
                        print(f"{name}: {party} {when} {at}: {ends}", flush=True)
    seconds = time.monotonic() - begun
    print(f"{name}: {kills} kills, {wrong} wrong, {seconds:.0f} s", flush=True)
    return wrong


def at_servers(name: str, number: int, phases: Counter[str]) -> int:
    """The number of kills after which `attach` did not come to the same release."""
    wrong = 0
    with tempfile.TemporaryDirectory() as scratch:
        houses = Mortals(Path(scratch) / "houses", name)
        with houses.stack:
            houses.begin({})
            assert houses.run(Path(scratch) / "whole").code == 0
            expected = comparable(name, release(Path(scratch) / "whole"))
            counts = {
                party: len((houses.state(party) / "steps").read_text().splitlines())
                for party in houses.names
            }
            for turn in range(number):
                victim = houses.names[turn % len(houses.names)]
                at = (2 * turn + 1) * counts[victim] // (2 * number)
                kill = (victim, "before" if turn % 2 else "after", at)
                wrong += _killed(houses, kill, expected, phases, Path(scratch) / f"out-{turn}")
    return wrong


def _killed(
    houses: Mortals,
    kill: tuple[str, str, int],
    expected: dict[str, Any],
    phases: Counter[str],
    out: Path,
) -> int:
    """Whether the job went wrong after this kill of a party: 0 or 1."""
    victim, when, at = kill
    houses.processes[victim].kill()
    houses.processes[victim].wait()
    houses.bury()
    houses.begin({victim: (when, at)})
    begun = time.monotonic()
    done = houses.run(out)
    told = time.monotonic() - begun
    stood = houses.last_step(victim).split("/")[0]
    houses.bury()
    houses.begin({})
    named = str(done.json.get("step", "")).split("/")[0] if done.code else ""
    code, error = done.code, done.json.get("error", "")
    if done.code:
        done = houses.attach(out)
        error = error if done.code == 0 else done.json.get("error", "")
    same = done.code == 0 and comparable(houses.written.kind, release(out)) == expected
    right = named == stood
    phases["right" if right else "another"] += 1
    kept = len(houses.answers())
    print(
        f"{houses.written.kind}: {victim} {when} message {at}: run ended with {code} after "
        f"{told:.1f} s, named '{named}', {victim} stood in '{stood}'; attach {done.code}, "
        f"{'the same release' if same else 'ANOTHER'}, {kept} files left  [{error[:90]}]",
        flush=True,
    )
    return int(not same or bool(kept))


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.kills")
    parser.add_argument("where", choices=["memory", "servers"])
    parser.add_argument("--job", action="append", choices=NAMES)
    parser.add_argument("--most", type=int, default=_ALL)
    parser.add_argument("--places", type=int, default=3)
    chosen = parser.parse_args(words)
    os.environ["COTERIE_STATE"] = tempfile.mkdtemp()
    if chosen.where == "memory":
        wrong = [in_memory(name, chosen.most) for name in chosen.job or NAMES]
        return int(any(wrong))
    phases: Counter[str] = Counter()
    some = chosen.job or ("intersect", "integrate", "count", "tree", "bayesnet")
    wrong = [at_servers(name, chosen.places, phases) for name in some]
    print(f"{sum(phases.values())} kills, {sum(wrong)} wrong; phase named: {dict(phases)}")
    return int(any(wrong))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
