"""Makes a script smaller while its world still goes wrong in the same way.

Steps are left out one after the other, then faults are made simpler: no unrest, no manual consent,
times rounded. What is left is a reproducer for the corpus.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

Script = dict[str, Any]
_MOST = 300  # worlds that are played at most


def sign_of(found: list[str]) -> str:
    """What the first finding is about, without names, numbers and ids."""
    text = re.sub(
        r"/\S*/world-\w+|\b(alba|birk|cedar|carol|dora|[a-d])\b|[0-9a-f]{32}|\d+(\.\d+)?",
        "#",
        found[0],
    )
    return " ".join(text.split()[:7])


def shrunk(script: Script, play: Callable[[Script], list[str]]) -> Script:
    """The smallest script found that goes wrong as this one does."""
    wanted = sign_of(play(script))
    tried = 0
    again = True
    while again:
        again = False
        for smaller in _smaller(script):
            tried += 1
            if tried > _MOST:
                return script
            found = play(smaller)
            if found and sign_of(found) == wanted:
                script, again = smaller, True
                break
    return script


def _smaller(script: Script) -> Iterator[Script]:
    steps = script["steps"]
    if len(steps) > 3:
        half = len(steps) // 2
        yield script | {"steps": steps[half:]}
        yield script | {"steps": steps[:half]}
    for at in range(len(steps)):
        yield script | {"steps": [*steps[:at], *steps[at + 1 :]]}
    if script.get("unrest"):
        yield script | {"unrest": 0.0}
    if script.get("latency"):
        yield script | {"latency": 0.0}
    if script.get("clocks"):
        yield script | {"clocks": {}}
    if script.get("manual"):
        yield script | {"manual": []}
    if script.get("running") != 4:
        yield script | {"running": 4}
    if script["seed"] > 9:
        yield from (script | {"seed": seed} for seed in range(3))
    for at, step in enumerate(steps):
        if "at" in step and step["at"] != round(step["at"], 1):
            rounded = step | {"at": round(step["at"], 1)}
            yield script | {"steps": [*steps[:at], rounded, *steps[at + 1 :]]}
