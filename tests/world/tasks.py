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

import itertools
import math
import random
from collections.abc import Callable
from heapq import heappop, heappush
from typing import Any

from greenlet import GreenletExit, getcurrent, greenlet

_MOST_STEPS = 500_000
EPOCH = 1_790_000_000.0  # the wall clock when a world begins


worlds: list[Scheduler] = []  # the last one runs now
_idle: list[Any] = []  # greenlets whose task has ended: a new one costs more than the next task


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


class Signal(list["Task"]):
    """What tasks wait at: those that do."""

    __slots__ = ()

    def wake(self, count: int | None = None) -> None:
        if self:
            woken = self[:count]
            del self[: len(woken)]
            ready = worlds[-1].ready
            for task in woken:
                ready(task)


class Task:
    """One thread of a process."""

    __slots__ = ("do", "ended", "greenlet", "name", "process", "queued", "serial", "woken")

    def __init__(self, process: Process, name: str, do: Callable[[], Any]) -> None:
        self.process = process
        self.name = name
        self.do = do
        self.greenlet: Any = None  # before its first turn, and after its end
        self.ended: Signal | None = None  # of those who wait for its end
        self.serial = 0  # of the present wait: a timer of an earlier one does not count
        self.queued = False
        self.woken = False


def _carry(world: Scheduler, task: Task) -> None:
    """What a greenlet does: one task after the other."""
    while True:
        try:
            task.do()
        except GreenletExit:
            pass
        except BaseException as error:
            world.failed(task, error)
        task.greenlet = None
        process = task.process
        process.tasks.discard(task)
        if task.ended and process.alive:
            task.ended.wake()
        here = getcurrent()
        following = world.pick()
        if following is not None and following.greenlet is None:
            following.greenlet = here
            task = following
        else:
            _idle.append(here)
            del task, process, here
            turn = world.hub if following is None else following.greenlet
            world, task = turn.switch()


class Scheduler:
    """Runs tasks in simulated time."""

    def __init__(self, seed: int, unrest: float = 0.02) -> None:
        """`unrest`: how often a task loses its turn where it need not."""
        self.random = random.Random(seed)
        self.now = 0.0
        self.steps = 0
        self.over = False
        self.hang = ""  # why nothing more happens
        self.clocks: dict[str, float] = {}  # seconds by which the machines' clocks are ahead
        self.current: Task | None = None
        self.errors: list[tuple[str, BaseException]] = []  # of tasks that ended with an exception
        self.unrest = unrest
        self.hub = getcurrent()
        self.ready_tasks: list[Task] = []
        self._timers: list[tuple[float, int, Any, int]] = []
        self._draw = self.random.random
        self._serial = itertools.count()
        self._longest = math.inf
        self._processes: dict[Process, None] = {}
        self._dead: list[Task] = []

    # For those who build the world.

    def spawn(self, process: Process, name: str, do: Callable[[], Any]) -> Task:
        """A new task of a process, which begins as soon as it gets its turn."""
        task = Task(process, name, do)
        if process.alive:
            self._processes[process] = None
            process.tasks.add(task)
            self.ready(task)
        return task

    def failed(self, task: Task, error: BaseException) -> None:
        """A task ended with an exception, and with it the run."""
        if task.process.alive:
            self.errors.append((f"{task.process.name}: {task.name}", error))
            self.over = True

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
            self._turn_to(self.pick())
            raise GreenletExit

    def run(self, longest: float = math.inf) -> None:
        """Runs until `over`, or for so many seconds; raises `HangError` if nothing can happen."""
        self.over = False
        self._longest = longest
        self._turn_to(self.pick())
        if self.hang:
            raise HangError(self.hang)

    def _turn_to(self, task: Task | None) -> None:
        """Gives the turn to a task, or to whoever runs the world; returns when it is given back."""
        if task is None:
            if getcurrent() is not self.hub:
                self.hub.switch()
        elif task.greenlet is None:
            task.greenlet = _idle.pop() if _idle else greenlet(_carry, self.hub)
            task.greenlet.switch(self, task)
        else:
            task.greenlet.switch()

    def pick(self) -> Task | None:
        """The next task, which is the current one from now on; None when the run is over.

        When no task can go on, the clock jumps to the next moment for which somebody waits.
        """
        ready, timers = self.ready_tasks, self._timers
        self.current = None
        while not self.over:
            self.steps += 1
            if self.steps > _MOST_STEPS:
                self._hang(f"these go on and on: {sorted({task.name for task in ready})}")
            elif ready:
                at = int(self._draw() * len(ready))
                task = ready[at]
                ready[at] = ready[-1]
                ready.pop()
                task.queued = False
                if task.process.alive:
                    self.current = task
                    return task
            else:
                while timers:
                    when, _, what, serial = heappop(timers)
                    if serial and (what.serial != serial or not what.process.alive):
                        continue
                    if when > self.now:
                        self.now = when
                        self.over = when > self._longest
                    if serial:
                        what.queued = True
                        what.woken = False
                        ready.append(what)
                    else:
                        what()
                    break
                else:
                    self._hang("nothing can happen any more")
        return None

    def _hang(self, what: str) -> None:
        """Ends the run with an error, which is not the task's that happens to notice it."""
        self.over = True
        self.hang = f"after {self.now:.0f} s {what}"

    def dispose(self) -> None:
        """Ends all processes and frees their tasks, whose `finally` clauses come to nothing."""
        self.over = True
        for process in self._processes:
            self.kill(process)
        for task in self._dead:
            for _ in range(50):
                if task.greenlet is None:
                    break
                self.current = task
                task.greenlet.throw(GreenletExit)
            self.current = None
        self._dead.clear()

    # For tasks.

    def ready(self, task: Task) -> None:
        """Somebody has woken a task, whose time may have passed, too."""
        task.woken = True
        if not task.queued:
            task.queued = True
            self.ready_tasks.append(task)

    def at(self, when: float, do: Callable[[], Any]) -> None:
        """Has something done at a moment, by nobody's task."""
        heappush(self._timers, (when, next(self._serial), do, 0))

    def wait(self, signal: Signal | None, seconds: float | None = None) -> bool:
        """Waits for the signal; False if the time has passed before."""
        task = self.current
        if task is None or not task.process.alive:
            task = self.task()
        serial = task.serial = task.serial + 1
        if seconds is not None:
            when = self.now + seconds if seconds > 0.0 else self.now
            heappush(self._timers, (when, next(self._serial), task, serial))
        if signal is not None:
            signal.append(task)
        following = self.pick()
        if following is not task:
            if following is not None and following.greenlet is not None:
                following.greenlet.switch()
            else:
                self._turn_to(following)
            if not task.process.alive:
                raise GreenletExit
        task.serial = serial + 1
        if task.woken:
            return True
        if signal is not None and task in signal:
            signal.remove(task)
        return False

    def sleep(self, seconds: float) -> None:
        self.wait(None, seconds)

    def pause(self) -> None:
        """Perhaps another task goes first."""
        if self.ready_tasks and self.random.random() < self.unrest:
            task = self.task()
            task.serial += 1
            self.ready(task)
            following = self.pick()
            if following is not task:
                self._turn_to(following)
            if not task.process.alive:
                raise GreenletExit

    def task(self) -> Task:
        """The task that calls; a dead one is ended."""
        task = self.current
        assert task is not None, "only tasks wait in a simulated world"
        if not task.process.alive:
            raise GreenletExit
        return task


def scheduler() -> Scheduler:
    """The scheduler of the world that runs now."""
    return worlds[-1]


def enter(made: Scheduler) -> None:
    worlds.append(made)


def leave() -> None:
    worlds.pop()
