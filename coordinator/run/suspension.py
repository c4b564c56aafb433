"""Detects that this machine or this process was suspended: a closed lid, a stopped process.

A waiting run calls `look` several times a second. If the time between two calls is much longer,
this process was suspended, and the silence of the parties meanwhile says nothing about them.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable


class Wakefulness:
    """Distinguishes a pause of this process from the silence of others.

    While a machine sleeps, the monotonic clock may stop; the wall clock continues.
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
        self.slept = 0  # the number of pauses

    def look(self) -> bool:
        """Whether this process was suspended since the last call."""
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
        """Whether this process was suspended and resumed within the last `seconds`."""
        self.look()
        return self._clock() - self._woke <= seconds
