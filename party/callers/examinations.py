"""Limits how often an analyst may have the party's data checked: `policy.examinations`.

Coordinators that `policy.analysts` puts together are one analyst; any other is one by itself. Counting
all of them together would let each coordinator close the party to the others.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from coterie.base.errors import RefusedError
from coterie.party.policy import Policy, judge_examinations, same_analyst

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
            policy = self._policy()
            for name, times in self._times.items():
                self._times[name] = [t for t in times if now - t < _HOUR]
            lately = sum(
                len(self._times.get(name, [])) for name in same_analyst(policy, coordinator)
            )
            refusals = judge_examinations(policy, coordinator, lately)
            if refusals:
                raise RefusedError(refusals[0])
            self._times.setdefault(coordinator, []).append(now)
