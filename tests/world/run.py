"""Plays simulated worlds: `python -m tests.world.run [--runs N] [--real N] [--seconds S]`, or `make world`.

    python -m tests.world.run --seed 4711 [--kind cheap|real]   one world again, told step by step
    python -m tests.world.run --script FILE                     a script of the corpus, or another one

Worlds are numbered. How many were played is added up over runs in `worlds.json`, and the numbers go
on from there, so that no run repeats an earlier one; a change of `script.py` gives the numbers other
worlds, and counting begins anew. Two processes play at once (`--jobs`). The script
of a world that goes wrong is made as small as possible and kept in `tests/world/corpus`, and the
command ends with 1.
"""

from __future__ import annotations

import argparse
import functools
import gc
import itertools
import json
import sys
import time
from pathlib import Path
from typing import Any

from tests.world import checks, kind, pieces, script, substitutes
from tests.world.kind import NAME
from tests.world.model import World
from tests.world.shrink import Script, shrunk, sign_of
from tests.world.stage import REAL, stage_of

CORPUS = Path(__file__).with_name("corpus")
COUNTED = Path(__file__).with_name("worlds.json")
_SWEPT = 20  # worlds after which their garbage is collected
_WARMING = 20  # worlds that are played before processes begin
_played = itertools.count(1)


def play(found: Script, tell: bool = False) -> list[str]:
    """What goes wrong in the world of this script. Only within `ready`."""
    stage = stage_of(found["kind"])
    if found["kind"] != NAME and "expected" not in found:
        found = found | {"expected": undisturbed(found["kind"])}
    world = World(found, stage)
    try:
        wrong = checks.play(world)
        if tell:
            _tell(world)
        return wrong
    finally:
        world.close()
        if next(_played) % _SWEPT == 0:
            gc.collect()


@functools.cache
def undisturbed(name: str) -> dict[str, Any]:
    """The release of a real kind when nothing goes wrong."""
    calm = script.real(0) | {"kind": name}
    calm["steps"] = [{**calm["steps"][0], "parties": [*stage_of(name).names]}]
    world = World(calm, stage_of(name))
    try:
        wrong = checks.play(world)
        assert not wrong, wrong
        return checks.comparable(name, world.commands[0].out)
    finally:
        world.close()


def ready() -> Any:
    """A context in which worlds can be played."""
    return _Ready()


class _Ready:
    def __enter__(self) -> None:
        self._known = kind.known()
        self._substituted = substitutes.substituted()
        self._known.__enter__()
        self._substituted.__enter__()
        gc.collect()
        gc.freeze()  # the garbage of a world is looked for among its own objects only
        gc.disable()  # and only after some worlds, by `play`

    def __exit__(self, *_: object) -> None:
        gc.enable()
        gc.unfreeze()
        self._substituted.__exit__(None, None, None)
        self._known.__exit__(None, None, None)


def _tell(world: World) -> None:
    for line in world.faults.happened:
        print(line)
    for command in world.commands:
        end = "killed" if command.killed else command.error or "the release"
        print(f"{command.process.name}: {command.what} of job {command.job}: {end}")
    for name in world.servers:
        for job, state in world.jobs_of(name):
            print(f"{name}: {job} {state}")
    print(f"{world.time.now:.1f} simulated seconds, {world.time.steps} steps")


def _keep(wrong: list[str], found: Script, shrink: bool) -> Path:
    small = shrunk(found, play) if shrink else found
    small = {"found": play(small)[:1] or wrong[:1], **small}
    words = "-".join(sign_of(wrong).replace("#", "").split())[:60].strip("-:,.'")
    CORPUS.mkdir(exist_ok=True)
    path = CORPUS / f"{''.join(c for c in words if c.isalnum() or c == '-').lower()}.json"
    path.write_text(json.dumps(small, indent=1) + "\n")
    return path


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.world.run")
    parser.add_argument("--runs", type=int, default=1000, help="worlds of the cheap kind")
    parser.add_argument("--real", type=int, default=0, help="worlds of real kinds")
    parser.add_argument("--jobs", type=int, default=2, help="processes that play at once")
    parser.add_argument("--seconds", type=float, default=2400.0, help="at most")
    parser.add_argument("--first", type=int, help="the number of the first world")
    parser.add_argument("--seed", type=int, help="one world, told step by step")
    parser.add_argument("--kind", choices=["cheap", "real"], default="cheap")
    parser.add_argument("--script", type=Path)
    chosen = parser.parse_args(words)
    with ready():
        if chosen.script is not None or chosen.seed is not None:
            one = (
                json.loads(chosen.script.read_text())
                if chosen.script is not None
                else getattr(script, chosen.kind)(chosen.seed)
            )
            print(json.dumps(one, indent=1))
            wrong = play(one, tell=True)
            print("\n".join(wrong) or "nothing is wrong")
            return int(bool(wrong))
        end = time.monotonic() + chosen.seconds
        failed = _many("cheap", chosen.runs, end, chosen.first, chosen.jobs)
        return failed | _many("real", chosen.real, end, chosen.first, chosen.jobs)


def _counted() -> dict[str, int]:
    return json.loads(COUNTED.read_text()) if COUNTED.exists() else {}


def _count(what: str, worlds: int) -> None:
    COUNTED.write_text(json.dumps(_counted() | {what: worlds}) + "\n")


def _many(what: str, runs: int, end: float, first: int | None, jobs: int) -> int:
    if not runs:
        return 0
    before = _counted().get(what, 0)
    begin = before if first is None else first
    begun, done, signs = time.monotonic(), 0, set()
    _prepare(what)
    for played, found in pieces.played(lambda n: play_number(what, n), begin, runs, end, jobs):
        done += played
        for number, wrong in found:
            if sign_of(wrong) not in signs:
                signs.add(sign_of(wrong))
                kept = _keep(wrong, getattr(script, what)(number), shrink=what == "cheap")
                print(f"world {number}: {wrong[0]}; kept as {kept}", flush=True)
        if first is None:
            _count(what, before + done)
    seconds = time.monotonic() - begun
    print(
        f"{what}: {done:,} worlds in {seconds:.0f} s, {before + done:,} in all; "
        f"{len(signs)} ways to go wrong",
        flush=True,
    )
    return int(bool(signs))


def play_number(what: str, number: int) -> list[str]:
    """What goes wrong in a world of its number."""
    return play(getattr(script, what)(number))


def _prepare(what: str) -> None:
    """Makes once what all processes need: also what the first worlds of a process import and keep."""
    for name in [NAME] if what == "cheap" else REAL:
        stage_of(name)
        if what == "real":
            undisturbed(name)
    for number in range(_WARMING):
        play(script.cheap(number))
    gc.collect()
    gc.freeze()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
