"""The places of a server for running jobs, and the queue of jobs that wait for one.

At most `limits.running` jobs hold a place. A place is granted to a job that is *asked* for: by the
party that leads the job (`party.reservations`), or by the server itself. Fair order: of the jobs
that are asked for, the next place goes to the coordinator that holds the fewest places, among
several such to the one whose last turn is longest ago, and of its jobs to the one that came into
the queue first.

A place that was granted and not begun is kept for `limits.reserved` seconds after it was last asked
for, then it lapses: the asking party may have died. The job stays in the queue where it was.

No job waits for ever. Every job takes its places in one order, that of the names of its parties,
and holds a place only while it runs or waits for a place at a party of a later name. Look at the
party with the last name: whatever holds a place there waits for nobody, so that it runs, and ends,
or lapses; each of its places becomes free again, and fairness gives every waiting job its turn.
Then the same holds for the party before it, whose places are held by jobs that run or wait for a
place that they will get; and so on to the first name. So no queues of several parties wait for each
other.
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
    ticket: int  # lower numbers came earlier
    asked_until: float = _NEVER
    not_before: float = _NEVER  # it lets others pass until then
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
        """One more job, behind all others of its coordinator; `asked` for until it is removed."""
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
        """Asks for a place, and waits so long for one; whether the job holds a place."""
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
        """Gives a place back that was not used; the job lets others pass for the `pause`."""
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
        """The job runs from now on, if it holds a place: True once, for whoever begins it."""
        with self._changed:
            entry = self._entries.get(job_id)
            if entry is None or not entry.holds or entry.began:
                return False
            entry.began = True
            return True

    def remove(self, job_id: str) -> None:
        """The job has ended."""
        with self._changed:
            self._entries.pop(job_id, None)
        self.look()

    def holds(self, job_id: str) -> bool:
        with self._changed:
            entry = self._entries.get(job_id)
            return entry is not None and entry.holds

    def place(self, job_id: str) -> int:
        """Its place in the queue, counted from 1; 0 if it holds one, or is not in the queue."""
        with self._changed:
            entry = self._entries.get(job_id)
            if entry is None or entry.holds:
                return 0
            waiting = (other for other in self._entries.values() if not other.holds)
            order = [other.job_id for other in self._in_order(waiting)]
            return order.index(job_id) + 1

    def look(self) -> None:
        """Takes back places that have lapsed, and grants those that are free."""
        granted = []
        with self._changed:
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
        """The order in which these would get places, one after the other, if none became free."""
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
