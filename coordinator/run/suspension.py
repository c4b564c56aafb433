"""Notices that this machine has slept: a lid that was closed, a process that was stopped.

Whoever waits looks here several times a second. When the time between two looks is much longer, it
was this process that stood still, and the silence of the parties meanwhile says nothing about them.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable


class Wakefulness:
    """Tells a pause of this process from the silence of others.

    While a machine sleeps, one clock may stand still; the one on the wall goes on.
    """

    def __init__(
        self,
        pause: float,
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._pause = pause
        self._clock = clock
        self._wall = wall
        self._lock = threading.Lock()
        self._looked = clock(), wall()
        self._woke = -float("inf")
        self.slept = 0  # how often

    def look(self) -> bool:
        """Whether this process has stood still since the last look."""
        with self._lock:
            now = self._clock(), self._wall()
            gap = max(now[0] - self._looked[0], now[1] - self._looked[1])
            self._looked = now
            if gap <= self._pause:
                return False
            self._woke = now[0]
            self.slept += 1
            return True

    def woke_within(self, seconds: float) -> bool:
        """Whether it has stood still, and woken up no longer ago than this."""
        self.look()
        return self._clock() - self._woke <= seconds
