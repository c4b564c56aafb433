"""Simulated time, and the tasks that stand for threads.

A task is a greenlet: the scheduler runs one at a time, and gives the turn to another only where a
task waits, or where a thread could lose its turn at a bad moment (a lock, a write, a call). Which
one is next is drawn from a seed, so that the same seed gives the same run. When no task can go on,
the clock jumps to the next moment for which somebody waits; when nobody waits for a moment, nothing
will ever happen again.

Tasks belong to processes. A killed process never runs again: none of its `finally` clauses takes
effect, as after `kill -9`.
"""

from __future__ import annotations

import heapq
import itertools
import math
import random
from collections.abc import Callable, Collection
from typing import Any

from greenlet import GreenletExit, getcurrent, greenlet

_MOST_STEPS = 500_000
EPOCH = 1_790_000_000.0  # the wall clock when a world begins


worlds: list[Scheduler] = []  # the last one runs now


class HangError(Exception):
    """Nothing can happen any more, or something happens for ever."""


class Process:
    """Everything that a kill ends at once."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.alive = True
        self.tasks: set[Task] = set()
        self.on_death: list[Callable[[], None]] = []

    def __repr__(self) -> str:
        return f"<process {self.name}>"


class Task:
    """One thread of a process."""

    __slots__ = ("do", "ended", "greenlet", "name", "process", "queued", "serial", "woken")

    def __init__(self, process: Process, name: str, do: Callable[[], Any]) -> None:
        self.process = process
        self.name = name
        self.do = do
        self.greenlet: Any = None
        self.ended = Signal()
        self.serial = 0  # of the present wait: a timer of an earlier one does not count
        self.queued = False
        self.woken = False


class Signal:
    """What tasks wait at."""

    __slots__ = ("waiting",)

    def __init__(self) -> None:
        self.waiting: list[Task] = []

    def wake(self, count: int | None = None) -> None:
        if self.waiting:
            world = worlds[-1]
            woken = self.waiting[:count]
            del self.waiting[: len(woken)]
            for task in woken:
                world.ready(task)


class Scheduler:
    """Runs tasks in simulated time."""

    def __init__(self, seed: int, unrest: float = 0.02) -> None:
        """`unrest`: how often a task loses its turn where it need not."""
        self.random = random.Random(seed)
        self.now = 0.0
        self.steps = 0
        self.clocks: dict[str, float] = {}  # seconds by which the machines' clocks are ahead
        self.current: Task | None = None
        self.errors: list[tuple[str, BaseException]] = []  # of tasks that ended with an exception
        self.unrest = unrest
        self._hub = getcurrent()
        self.ready_tasks: list[Task] = []
        self._timers: list[tuple[float, int, Any, int]] = []
        self._serial = itertools.count()
        self._dead: list[Task] = []
        self.tasks: dict[Task, None] = {}  # that have not ended

    # For those who build the world.

    def spawn(self, process: Process, name: str, do: Callable[[], Any]) -> Task:
        """A new task of a process, which begins as soon as it gets its turn."""
        task = Task(process, name, do)
        task.greenlet = _idle.pop() if _idle else greenlet(_serve, self._hub)
        self.tasks[task] = None
        if process.alive:
            process.tasks.add(task)
            self.ready(task)
        return task

    def kill(self, process: Process) -> None:
        """Ends a process at once; the caller may be one of its tasks, and then does not return."""
        if not process.alive:
            return
        process.alive = False
        self._dead += process.tasks
        for act in process.on_death:
            act()
        task = self.current
        if task is not None and task.process is process:
            self._hub.switch()
            raise GreenletExit

    def perform(self, task: Task) -> bool:
        """Does what a task is for, in its greenlet; whether this can serve another task."""
        process, survived = task.process, True
        try:
            task.do()
        except GreenletExit:
            survived = False
        except BaseException as error:
            if process.alive:
                self.errors.append((f"{process.name}: {task.name}", error))
        finally:
            process.tasks.discard(task)
            self.tasks.pop(task, None)
            if process.alive:
                task.ended.wake()
        return survived and process.alive

    def run(self, over: Collection[Any], latest: float = math.inf) -> None:
        """Runs until there is something in `over`, or an error, or it is later than `latest`.

        Raises `HangError` if none of these will ever be.
        """
        ready, draw, errors = self.ready_tasks, self.random.random, self.errors
        while not over and self.now <= latest and not errors:
            self.steps += 1
            if self.steps > _MOST_STEPS:
                busy = {task.name for task in ready if task.process.alive}
                raise HangError(f"after {self.now:.0f} s these go on and on: {sorted(busy)}")
            if not ready:
                self._advance()
                continue
            at = int(draw() * len(ready))
            task = ready[at]
            ready[at] = ready[-1]
            ready.pop()
            task.queued = False
            if not task.process.alive:
                continue
            self.current = task
            task.greenlet.switch()
            self.current = None

    def _advance(self) -> None:
        while self._timers:
            when, _, what, serial = heapq.heappop(self._timers)
            if isinstance(what, Task):
                if what.serial != serial or not what.process.alive:
                    continue
                self.now = max(self.now, when)
                self.ready(what, by_signal=False)
                return
            self.now = max(self.now, when)
            what()
            return
        raise HangError(f"after {self.now:.0f} s nothing can happen any more")

    def dispose(self) -> None:
        """Frees the tasks of dead processes, whose `finally` clauses come to nothing."""
        for task in self._dead:
            made = task.greenlet
            for _ in range(50):
                if not made or made.dead:
                    break
                self.current = task
                made.throw(GreenletExit)
            self.current = None
        self._dead.clear()
        self.tasks.clear()

    # For tasks.

    def ready(self, task: Task, by_signal: bool = True) -> None:
        if task.queued:
            task.woken |= by_signal  # its time had passed, too
        else:
            task.queued = True
            task.woken = by_signal
            self.ready_tasks.append(task)

    def at(self, when: float, do: Callable[[], Any]) -> None:
        """Has something done at a moment, by nobody's task."""
        heapq.heappush(self._timers, (when, next(self._serial), do, 0))

    def wait(self, signal: Signal | None, seconds: float | None = None) -> bool:
        """Waits for the signal; False if the time has passed before."""
        task = self.current
        assert task is not None, "only tasks wait in a simulated world"
        if not task.process.alive:
            raise GreenletExit
        task.serial += 1
        if seconds is not None:
            entry = (self.now + max(0.0, seconds), next(self._serial), task, task.serial)
            heapq.heappush(self._timers, entry)
        if signal is not None:
            signal.waiting.append(task)
        self._hub.switch()
        if not task.process.alive:
            raise GreenletExit
        task.serial += 1
        if not task.woken and signal is not None and task in signal.waiting:
            signal.waiting.remove(task)
        return task.woken

    def sleep(self, seconds: float) -> None:
        self.wait(None, seconds)

    def pause(self) -> None:
        """Perhaps another task goes first."""
        if self.ready_tasks and self.random.random() < self.unrest:
            task = self.task()
            task.serial += 1
            self.ready(task)
            self._hub.switch()
            if not task.process.alive:
                raise GreenletExit

    def task(self) -> Task:
        """The task that calls; a dead one is ended."""
        task = self.current
        assert task is not None, "only tasks wait in a simulated world"
        if not task.process.alive:
            raise GreenletExit
        return task

    def task_here(self) -> Task | None:
        """The task that calls, whatever its state; None outside the world."""
        return self.current


_idle: list[Any] = []  # greenlets that have ended a task and wait for the next one


def _serve() -> None:
    """Performs one task after the other: making a greenlet takes as long as a short task."""
    me = getcurrent()
    while _performed():
        _idle.append(me)
        me.parent.switch()


def _performed() -> bool:
    world = worlds[-1]
    assert world.current is not None
    return world.perform(world.current)


def scheduler() -> Scheduler:
    """The scheduler of the world that runs now."""
    return worlds[-1]


def enter(made: Scheduler) -> None:
    worlds.append(made)


def leave() -> None:
    worlds.pop()
