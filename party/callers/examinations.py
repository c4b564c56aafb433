"""Limits how often a coordinator may have the party's data checked: `policy.examinations`."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from coterie.base.errors import RefusedError
from coterie.party.policy import Policy, judge_examinations

_HOUR = 3600.0


class Examinations:
    """The times of data checks by coordinator, within the last hour. A restart forgets them."""

    def __init__(
        self, policy: Callable[[], Policy], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._policy = policy
        self._clock = clock
        self._lock = threading.Lock()
        self._times: dict[str, list[float]] = {}

    def add(self, coordinator: str) -> None:
        """Counts one more check, or raises `RefusedError` if the policy does not permit it."""
        with self._lock:
            now = self._clock()
            times = [t for t in self._times.get(coordinator, []) if now - t < _HOUR]
            refusals = judge_examinations(self._policy(), coordinator, len(times))
            if refusals:
                raise RefusedError(refusals[0])
            self._times[coordinator] = [*times, now]
