"""Many worlds in several processes, piece by piece.

Each piece is played by a process of its own, so that whatever a world leaves behind is gone after some
time. Pieces are begun in the order of their numbers, and a piece that was begun is played to its end,
so that the worlds played are always the first ones.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator

from tests.world.shrink import sign_of

_WORLDS = 250  # in a piece, at most
_TOLD = 25  # worlds that went wrong in different ways and are told of a piece, at most
_LONGEST = 400  # characters of what is told of a world, so that a piece fits into its pipe
Wrong = list[tuple[int, list[str]]]  # the numbers of worlds, and what went wrong in them


def played(
    play: Callable[[int], list[str]], first: int, count: int, end: float, jobs: int
) -> Iterator[tuple[int, Wrong]]:
    """Of each piece, how many worlds were played, and what went wrong; none begins after `end`."""
    running: dict[int, tuple[int, int, int]] = {}  # of each process: its pipe, first world, worlds
    next_world, last = first, first + count
    size = max(1, min(_WORLDS, count // (4 * jobs)))
    while True:
        while len(running) < jobs and next_world < last and time.monotonic() < end:
            worlds = min(size, last - next_world)
            pid, pipe = _begin(play, next_world, worlds)
            running[pid] = pipe, next_world, worlds
            next_world += worlds
        if not running:
            return
        pid, status = os.wait()
        pipe, begin, worlds = running.pop(pid)
        yield worlds, _read(pipe, status, begin, worlds)


def _begin(play: Callable[[int], list[str]], first: int, worlds: int) -> tuple[int, int]:
    reading, writing = os.pipe()
    pid = os.fork()
    if pid:
        os.close(writing)
        return pid, reading
    try:
        found: dict[str, tuple[int, list[str]]] = {}
        for number in range(first, first + worlds):
            if wrong := play(number):
                found.setdefault(sign_of(wrong), (number, [wrong[0][:_LONGEST]]))
        with open(writing, "w") as pipe:
            json.dump([*found.values()][:_TOLD], pipe)
    except BaseException as error:
        with open(writing, "w") as pipe:
            json.dump([(first, [f"the piece ended with {error!r}"])], pipe)
    finally:
        os._exit(0)


def _read(pipe: int, status: int, first: int, worlds: int) -> Wrong:
    with open(pipe) as file:
        text = file.read()
    if status or not text:
        return [(first, [f"a process ended with {status} in one of {worlds} worlds"])]
    return [(number, wrong) for number, wrong in json.loads(text)]
