"""Kills the parties of small jobs of every kind, at many places, and has the jobs go on: `make kills`.

    python -m tests.kills memory [--job NAME] [--most N]
    python -m tests.kills servers [--job NAME] [--places N]

`memory` kills every party before and after each of its messages (at most N of them, spread evenly),
in this process. `servers` kills real servers by SIGKILL, one, two or all at once, and has `coterie
attach` go on; it also says which phase `coterie run` has named, beside the phase in which the party
that it named stood. Each line is one place, or one job; a release that differs, and an attempt that
does not end as it should, end the command with code 1.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

from tests.jobs.run.interrupted import fresh, places
from tests.jobs.run.resumed_jobs import NAMES, comparable, write_job
from tests.party.mortals import Mortals, release
from tests.protocols.wrappers import Fault

_ALL = 1 << 30


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
            steps = {
                party: (houses.state(party) / "steps").read_text().splitlines()
                for party in houses.names
            }
            for turn in range(number):
                victim, *others = turned(houses.names, turn)
                at = (2 * turn + 1) * len(steps[victim]) // (2 * number)
                kill = Death(
                    victim,
                    "before" if turn % 2 else "after",
                    at,
                    others[: (0, 1, len(others))[turn % 3]],
                    phase(steps[victim][min(at + 1, len(steps[victim]) - 1)]),
                )
                wrong += _killed(houses, kill, expected, phases, Path(scratch) / f"out-{turn}")
    return wrong


class Death(NamedTuple):
    """A server dies before or after a message, and others with it."""

    victim: str
    when: str
    at: int
    others: list[str]
    following: str  # the phase of the victim's next message


def phase(step: str) -> str:
    return step.split("/")[0]


def turned(names: tuple[str, ...], turn: int) -> tuple[str, ...]:
    """The names, beginning with another one at each turn."""
    at = turn % len(names)
    return names[at:] + names[:at]


def _killed(
    houses: Mortals,
    kill: Death,
    expected: dict[str, Any],
    phases: Counter[str],
    out: Path,
) -> int:
    """Whether the job went wrong after this kill of a party, and of others with it: 0 or 1."""
    victim, when, at, others, following = kill
    houses.processes[victim].kill()
    houses.processes[victim].wait()
    houses.bury()
    houses.begin({victim: (when, at)})
    houses.together(victim, others)
    begun = time.monotonic()
    done = houses.run(out)
    told = time.monotonic() - begun
    dead = houses.bury(1 + len(others))
    lost = done.json.get("party", victim) if done.code else victim
    stood = phase(houses.last_step(lost if lost in houses.names else victim))
    houses.begin({})
    named = phase(str(done.json.get("step", ""))) if done.code else ""
    code, errors = done.code, [done.json.get("error", "")]
    if done.code:
        done = houses.attach(out)
        errors.append(done.json.get("error", ""))
    same = done.code == 0 and comparable(houses.called, release(out)) == expected
    if not done.code and not named:
        phases["nobody missed it"] += 1
    elif named == stood:
        phases["its own"] += 1
    else:  # between two phases, the others wait for it in the next one
        between = when == "after" and lost == victim and named == following
        phases["the next one" if between else "another"] += 1
    kept = len(houses.answers())
    print(
        f"{houses.written.kind}: {' '.join(dead)} {when} message {at} of {victim}: run ended with "
        f"{code} after {told:.1f} s, named '{named}', {lost} stood in '{stood}'; attach {done.code}, "
        f"{'the same release' if same else 'ANOTHER'}, {kept} files left  {errors}",
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
