"""The places of a server for running jobs, and the queue of jobs that wait for a place.

At most `limits.running` jobs hold a place. A place is granted to a job for which somebody *asks*:
the party that leads the job (`party.queue.reservations`), or the server itself. The order is fair:
of the jobs that are asked for, the next place goes to the coordinator that holds the fewest places,
among several such coordinators to the one whose last turn is longest ago, and of its jobs to the
first in the queue.

A granted place whose job has not begun is kept for `limits.reserved` seconds after it was last
asked for; then it lapses, because the asking party may have died. The job keeps its position in the
queue.

No job waits for ever. Every job takes its places in the order of its parties' names, and holds a
place only while it runs or waits for a place at a party with a later name. At the party with the
last name, a job that holds a place waits for nobody, so it runs and ends, or its place lapses; each
place becomes free again, and fairness gives every waiting job its turn. The same then holds for the
party before it, whose places are held by jobs that run or wait for a place that they will get; and
so on to the first name. So the queues of several parties cannot deadlock.
"""

from __future__ import annotations

import math
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

_NEVER = -math.inf


@dataclass
class _Entry:
    job_id: str
    coordinator: str
    ticket: int  # lower for a job that came earlier
    asked_until: float = _NEVER
    not_before: float = _NEVER  # until then other jobs go first
    holds: bool = False
    began: bool = False


class JobQueue:
    """Grants places. `on_grant` is called, without a lock, for a job that gets one."""

    def __init__(
        self,
        places: Callable[[], int],
        keep: Callable[[], float],
        on_grant: Callable[[str], None],
        clock: Callable[[], float],
    ) -> None:
        self._places = places
        self._keep = keep
        self._on_grant = on_grant
        self._clock = clock
        self._changed = threading.Condition()
        self._entries: dict[str, _Entry] = {}
        self._tickets = 0
        self._turns: dict[str, int] = {}  # when each coordinator was last granted a place

    def add(self, job_id: str, coordinator: str, *, asked: bool) -> None:
        """Adds a job behind all others of its coordinator; `asked` asks for it until it is removed."""
        with self._changed:
            if job_id in self._entries:
                if asked:
                    self._entries[job_id].asked_until = math.inf
            else:
                self._tickets += 1
                until = math.inf if asked else _NEVER
                self._entries[job_id] = _Entry(job_id, coordinator, self._tickets, until)
        self.look()

    def ask(self, job_id: str, seconds: float = 0.0) -> bool:
        """Asks for a place and waits up to `seconds`; whether the job holds a place."""
        with self._changed:
            entry = self._entries.get(job_id)
            if entry is None:
                return False
            if entry.asked_until != math.inf:
                entry.asked_until = self._clock() + self._keep()
        self.look()
        with self._changed:
            self._changed.wait_for(lambda: entry.holds, seconds)
            return entry.holds and self._entries.get(job_id) is entry

    def ask_for_good(self, job_id: str) -> None:
        """Asks for a place that does not lapse: the other parties have begun."""
        with self._changed:
            entry = self._entries.get(job_id)
            if entry is None or entry.began:
                return
            entry.asked_until = math.inf
        self.look()

    def release(self, job_id: str, pause: float = 0.0) -> None:
        """Returns an unused place; other jobs go first for the `pause`."""
        with self._changed:
            entry = self._entries.get(job_id)
            if entry is None or entry.began:
                return
            entry.holds = False
            if entry.asked_until != math.inf:
                entry.asked_until = _NEVER
            entry.not_before = self._clock() + pause if pause else _NEVER
        self.look()

    def begin(self, job_id: str) -> bool:
        """Marks a job that holds a place as running; True for the first caller only."""
        with self._changed:
            entry = self._entries.get(job_id)
            if entry is None or not entry.holds or entry.began:
                return False
            entry.began = True
            return True

    def remove(self, job_id: str) -> None:
        """Removes a job that has ended, and frees its place."""
        with self._changed:
            self._entries.pop(job_id, None)
        self.look()

    def holds(self, job_id: str) -> bool:
        with self._changed:
            entry = self._entries.get(job_id)
            return entry is not None and entry.holds

    def place(self, job_id: str) -> int:
        """The job's position in the queue, counted from 1; 0 if it holds a place or is not queued."""
        with self._changed:
            entry = self._entries.get(job_id)
            if entry is None or entry.holds:
                return 0
            waiting = (other for other in self._entries.values() if not other.holds)
            order = [other.job_id for other in self._in_order(waiting)]
            return order.index(job_id) + 1

    def look(self) -> None:
        """Frees places that have lapsed, and grants free places."""
        granted = []
        with self._changed:
            if not self._entries:
                return
            now = self._clock()
            for entry in self._entries.values():
                if entry.holds and not entry.began and entry.asked_until < now:
                    entry.holds = False
            free = self._places() - sum(entry.holds for entry in self._entries.values())
            if free > 0:
                ready = (
                    entry
                    for entry in self._entries.values()
                    if not entry.holds and entry.not_before <= now <= entry.asked_until
                )
                for entry, _ in zip(self._in_order(ready), range(free), strict=False):
                    entry.holds = True
                    self._turns[entry.coordinator] = self._next_turn()
                    granted.append(entry.job_id)
            self._changed.notify_all()
        for job_id in granted:
            self._on_grant(job_id)

    def _in_order(self, entries: Iterable[_Entry]) -> Iterator[_Entry]:
        """The order in which these jobs would get places, if no place became free in between."""
        held = Counter(entry.coordinator for entry in self._entries.values() if entry.holds)
        turns, turn = dict(self._turns), self._next_turn()
        waiting: dict[str, list[_Entry]] = {}
        for entry in sorted(entries, key=lambda entry: -entry.ticket):
            waiting.setdefault(entry.coordinator, []).append(entry)
        while waiting:
            name = min(
                waiting,
                key=lambda name: (held[name], turns.get(name, 0), waiting[name][-1].ticket),
            )
            entry = waiting[name].pop()
            if not waiting[name]:
                del waiting[name]
            held[name] += 1
            turns[name], turn = turn, turn + 1
            yield entry

    def _next_turn(self) -> int:
        return max(self._turns.values(), default=0) + 1
