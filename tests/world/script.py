"""Scripts: what happens in a world, as plain data. A seed gives one; a corpus keeps some."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from tests.world.kind import NAME
from tests.world.stage import COORDINATORS, REAL

Script = dict[str, Any]
_PARTIES = ("alba", "birk", "cedar")
_CALLS = ("Propose", "Queue", "Watch", "Fetch", "Deliver", "Cancel", "Resume", "Approve", "Check")
_PEER_CALLS = ("Collect", "Part", "Reserve", "Compare")
_MACHINES = (*_PARTIES, *COORDINATORS)
_SPAN = 6.0  # seconds in which people do things
# Most worlds are small: in the same time, many small ones find more than few large ones.
_SERVERS = (2, 3)
_JOBS = (1, 1, 1, 1, 1, 1, 1, 2, 2, 3)
_DEEDS = [
    "attach",
    "attach",
    "fetch",
    "approve",
    "approve",
    "deny",
    "cancel",
    "prune",
    "list",
    "restart",
    "restart",
    "reload",
    "reload",
    "clock",
]
_CHANGES = ("memory", "certificate", "coordinators", "broken")
_AHEAD = (-86400.0, -3600.0, -5.0, 5.0, 3600.0, 86400.0)  # seconds of a clock that is wrong
_SET = (-2.0, 2.0, 3.0)  # seconds by which a clock is set; a job waits longer than that
_FAULTS = [
    "kill",
    "power",
    "kill",
    "power",
    "kill",
    "power",
    "full",
    "part",
    "slow",
    "lose",
    "twice",
    "deaf",
    "cut",
    "cut",
    "older",
]


def cheap(seed: int) -> Script:
    """A world of the cheap kind: some jobs, some people, some bad luck."""
    draw = random.Random(seed)
    parties = sorted(draw.sample(_PARTIES, draw.choice(_SERVERS)))
    script: Script = {
        "seed": seed,
        "unrest": draw.choice((0.0, 0.02, 0.1)),
        "kind": NAME,
        "servers": parties,
        "manual": [p for p in parties if draw.random() < 0.12],
        "running": draw.choice((1, 1, 2, 4)),
        "latency": draw.choice((0.0, 0.0, 0.0, 0.0, 0.05, 0.3)),
        "clocks": {p: draw.choice(_AHEAD) for p in _MACHINES if draw.random() < 0.1},
    }
    jobs = draw.choice(_JOBS)
    steps = [_job(draw, number, parties) for number in range(jobs)]
    steps += [_person(draw, jobs, parties) for _ in range(draw.choice((0, 0, 1, 1, 2, 4)))]
    steps += [fault(draw, parties) for _ in range(draw.choice((0, 1, 1, 1, 2, 2, 3, 5)))]
    return script | {"steps": steps}


def real(seed: int) -> Script:
    """A world of a real kind: one job, and some bad luck."""
    draw = random.Random(seed)
    kind = REAL[seed % len(REAL)]
    from tests.world.stage import stage_of

    parties = tuple(stage_of(kind).names)
    steps = [{"do": "run", "job": 0, "by": COORDINATORS[0], "parties": [*parties], "at": 0.1}]
    steps += [fault(draw, parties) for _ in range(draw.choice((1, 1, 2, 3)))]
    return {"seed": seed, "unrest": 0.0, "kind": kind, "running": 4, "steps": steps}


def _job(draw: random.Random, number: int, parties: Sequence[str]) -> dict[str, Any]:
    count = min(len(parties), draw.choice((2, 3, 3)))
    step: dict[str, Any] = {
        "do": draw.choice(("run", "run", "run", "detach")),
        "job": number,
        "by": draw.choice(COORDINATORS),
        "parties": sorted(draw.sample(parties, count)),
        "at": _moment(draw, 1.0),
    }
    if draw.random() < 0.25:
        step["recipients"] = sorted(draw.sample(step["parties"], draw.randint(1, count)))
    return step


def _person(draw: random.Random, jobs: int, parties: Sequence[str]) -> dict[str, Any]:
    what = draw.choice(_DEEDS)
    step: dict[str, Any] = {"do": what, "at": _moment(draw, _SPAN)}
    if what in ("attach", "fetch"):
        return step | {"job": draw.randrange(jobs)}
    step["party"] = draw.choice(parties)
    if what == "reload":
        step["change"] = draw.choice(_CHANGES)
    elif what == "clock":
        step["by"] = draw.choice(_SET)
    return step


def fault(draw: random.Random, parties: Sequence[str]) -> dict[str, Any]:
    """One fault among these parties and the coordinators."""
    party = draw.choice(parties)
    kind = draw.choice(_FAULTS)
    if kind in ("kill", "power"):
        return _death(draw, kind, party)
    if kind == "full":
        at_place = draw.random() < 0.5
        when = {"write": draw.randint(1, 200)} if at_place else {"at": _moment(draw, 2.0)}
        return {"fault": kind, "party": party, **when, "for": _length(draw)}
    if kind in ("part", "slow"):
        pair = sorted(draw.sample([*parties, *COORDINATORS], 2))
        step = {"fault": kind, "pair": pair, "at": _moment(draw, 2.0), "for": _length(draw)}
        return step | ({"by": draw.choice((0.1, 1.0, 4.0))} if kind == "slow" else {})
    calls: Sequence[str] = (*_CALLS, *_PEER_CALLS)
    nth = draw.choice((1, 1, 1, 2, 2, 3))
    if kind == "older":
        return {"fault": kind, "party": party, "call": "Collect", "nth": nth}
    if kind == "cut":
        call = draw.choice(("Watch", "Fetch", "Collect"))
        return {"fault": kind, "party": party, "call": call, "nth": draw.randint(1, 12)}
    return {"fault": kind, "party": party, "call": draw.choice(calls), "nth": nth}


def _death(draw: random.Random, kind: str, party: str) -> dict[str, Any]:
    how = draw.random()
    if how < 0.25:
        who = draw.choice((party, party, *COORDINATORS)) if kind == "kill" else party
        return {"fault": kind, "party": who, "at": _moment(draw, 1.8)}
    if how < 0.6:
        return {"fault": kind, "party": party, "write": draw.randint(1, 200)}
    return {
        "fault": kind,
        "party": party,
        "call": draw.choice((*_CALLS, *_PEER_CALLS)),
        "when": draw.choice(("before", "after")),
        "nth": draw.choice((1, 1, 2, 3)),
    }


def _moment(draw: random.Random, latest: float) -> float:
    return round(draw.random() * latest, 3)


def _length(draw: random.Random) -> float:
    return draw.choice((0.3, 1.0, 3.0, 8.0))
