"""What the product takes from `threading`, `queue`, `time` and `concurrent.futures`, simulated."""

from __future__ import annotations

import queue as real_queue
import threading as real_threading
import time as real_time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from types import ModuleType
from typing import Any

from tests.world.tasks import EPOCH, Signal, scheduler, worlds


class Lock:
    """A lock; a task may lose its turn before it takes one.

    The locks of modules are shared by all processes of the world, in the place of one such lock in
    each process: that of a dead process is free.
    """

    def __init__(self) -> None:
        self._owner: Any = None
        self._free = Signal()

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        world = worlds[-1]
        me = world.task()
        if world.ready_tasks:
            world.pause()
        while (owner := self._owner) is not None and owner.process.alive:
            if not blocking:
                return False
            patience = 0.01 if owner.process is not me.process else None
            if not world.wait(self._free, timeout if timeout >= 0 else patience) and timeout >= 0:
                return False
        self._owner = me
        return True

    def release(self) -> None:
        task = worlds[-1].current
        if task is not None and task.process.alive:
            self._owner = None
            if self._free.waiting:
                self._free.wake(1)

    def locked(self) -> bool:
        return self._owner is not None

    __enter__ = acquire

    def __exit__(self, *_: object) -> None:
        self.release()


class RLock:
    """A lock that its owner may take again."""

    def __init__(self) -> None:
        self._owner: Any = None
        self._depth = 0
        self._free = Signal()

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        world = worlds[-1]
        me = world.task()
        if self._owner is me:
            self._depth += 1
            return True
        if world.ready_tasks:
            world.pause()
        while (owner := self._owner) is not None and owner.process.alive:
            patience = 0.01 if owner.process is not me.process else None
            if not blocking:
                return False
            if not world.wait(self._free, timeout if timeout >= 0 else patience) and timeout >= 0:
                return False
        self._owner, self._depth = me, 1
        return True

    def release(self) -> None:
        task = worlds[-1].current
        if task is None or not task.process.alive:
            return
        assert self._owner is task, "a lock is released by somebody else"
        self._depth -= 1
        if not self._depth:
            self._owner = None
            if self._free.waiting:
                self._free.wake(1)

    __enter__ = acquire

    def __exit__(self, *_: object) -> None:
        self.release()

    def let_go(self) -> int:
        depth, self._depth, self._owner = self._depth, 0, None
        self._free.wake(1)
        return depth

    def take_back(self, depth: int) -> None:
        self.acquire()
        self._depth = depth


class Condition:
    def __init__(self, lock: RLock | None = None) -> None:
        self._lock = lock or RLock()
        self._signal = Signal()
        self.acquire = self._lock.acquire
        self.release = self._lock.release

    def __enter__(self) -> bool:
        return self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def wait(self, timeout: float | None = None) -> bool:
        depth = self._lock.let_go()
        woken = scheduler().wait(self._signal, timeout)
        self._lock.take_back(depth)
        return woken

    def wait_for(self, predicate: Callable[[], Any], timeout: float | None = None) -> Any:
        world = scheduler()
        end = None if timeout is None else world.now + timeout
        while not (found := predicate()):
            if end is not None and world.now >= end:
                break
            self.wait(None if end is None else end - world.now)
        return found

    def notify(self, n: int = 1) -> None:
        self._signal.wake(n)

    def notify_all(self) -> None:
        self._signal.wake()


class Event:
    def __init__(self) -> None:
        self._set = False
        self._signal = Signal()

    def is_set(self) -> bool:
        return self._set

    def set(self) -> None:
        task = scheduler().current
        if task is not None and not task.process.alive:
            return
        self._set = True
        self._signal.wake()

    def clear(self) -> None:
        self._set = False

    def wait(self, timeout: float | None = None) -> bool:
        world = scheduler()
        end = None if timeout is None else world.now + timeout
        while not self._set:
            if end is not None and world.now >= end:
                break
            world.wait(self._signal, None if end is None else end - world.now)
        return self._set


class Thread:
    def __init__(
        self,
        group: None = None,
        target: Callable[..., Any] | None = None,
        name: str | None = None,
        args: Iterable[Any] = (),
        kwargs: dict[str, Any] | None = None,
        *,
        daemon: bool | None = None,
    ) -> None:
        self._target, self._args, self._kwargs = target, tuple(args), kwargs or {}
        self.name = name or getattr(target, "__qualname__", "thread")
        self.daemon = daemon
        self._task: Any = None
        self._over = False

    def start(self) -> None:
        world = scheduler()
        self._task = world.spawn(world.task().process, self.name, self._run)
        world.pause()

    def _run(self) -> None:
        try:
            self.run()
        finally:
            self._over = True

    def run(self) -> None:
        if self._target:
            self._target(*self._args, **self._kwargs)

    def is_alive(self) -> bool:
        return self._task is not None and not self._over

    def join(self, timeout: float | None = None) -> None:
        world = scheduler()
        end = None if timeout is None else world.now + timeout
        while self.is_alive() and (end is None or world.now < end):
            world.wait(self._task.ended, None if end is None else end - world.now)


class Timer(Thread):
    def __init__(
        self,
        interval: float,
        function: Callable[..., Any],
        args: Iterable[Any] | None = None,
        kwargs: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(target=function, name="timer", args=args or (), kwargs=kwargs)
        self._interval = interval
        self._cancelled = False

    def start(self) -> None:  # most timers are cancelled, so that none is a task before its time
        world = scheduler()
        process = world.task().process

        def due() -> None:
            if not self._cancelled and process.alive:
                self._task = world.spawn(process, "timer", self._run)

        world.at(world.now + self._interval, due)

    def cancel(self) -> None:
        self._cancelled = True


class SimpleQueue:
    def __init__(self, maxsize: int = 0) -> None:
        self._most = maxsize
        self._items: deque[Any] = deque()
        self._come = Signal()
        self._gone = Signal()

    def put(self, item: Any, block: bool = True, timeout: float | None = None) -> None:
        world = scheduler()
        end = None if timeout is None else world.now + timeout
        while self._most and len(self._items) >= self._most:
            if not block or (end is not None and world.now >= end):
                raise real_queue.Full
            world.wait(self._gone, None if end is None else end - world.now)
        self._items.append(item)
        self._come.wake(1)

    def put_nowait(self, item: Any) -> None:
        self.put(item, block=False)

    def get(self, block: bool = True, timeout: float | None = None) -> Any:
        world = scheduler()
        end = None if timeout is None else world.now + timeout
        while not self._items:
            if not block or (end is not None and world.now >= end):
                raise real_queue.Empty
            world.wait(self._come, None if end is None else end - world.now)
        found = self._items.popleft()
        self._gone.wake(1)
        return found

    def get_nowait(self) -> Any:
        return self.get(block=False)

    def empty(self) -> bool:
        return not self._items

    def qsize(self) -> int:
        return len(self._items)


class Future:
    def __init__(self) -> None:
        self._over = Event()
        self._result: Any = None
        self._error: BaseException | None = None

    def done(self) -> bool:
        return self._over.is_set()

    def cancel(self) -> bool:
        return False

    def result(self, timeout: float | None = None) -> Any:
        self._over.wait(timeout)
        if self._error is not None:
            raise self._error
        return self._result

    def settle(self, do: Callable[[], Any]) -> None:
        try:
            self._result = do()
        except Exception as error:
            self._error = error
        self._over.set()


class Executor:
    """A pool of threads, each of which is a task."""

    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    def submit(self, do: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future:
        world = scheduler()
        future = Future()
        world.spawn(
            world.task().process, "pool", lambda: future.settle(lambda: do(*args, **kwargs))
        )
        return future

    def map(self, do: Callable[..., Any], *lists: Iterable[Any], **_: Any) -> Iterator[Any]:
        futures = [self.submit(do, *args) for args in zip(*lists, strict=False)]
        return (future.result() for future in futures)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        pass

    def __enter__(self) -> Executor:
        return self

    def __exit__(self, *_: object) -> None:
        pass


def wait_for_futures(futures: Iterable[Future], timeout: float | None = None) -> None:
    """`concurrent.futures.wait` for one future, or without a timeout."""
    for future in futures:
        future._over.wait(timeout)


def module_like(real: ModuleType, **changed: Any) -> ModuleType:
    """A module with some names of another one replaced."""
    made = ModuleType(f"simulated {real.__name__}")
    made.__dict__.update({k: v for k, v in vars(real).items() if not k.startswith("__")})
    made.__dict__.update(changed)
    return made


def _sleep(seconds: float) -> None:
    scheduler().sleep(seconds)


def _monotonic() -> float:
    return 1000.0 + worlds[-1].now


def _wall() -> float:
    """The clock on the wall of the machine that asks: each has its own."""
    world = scheduler()
    off = world.clocks.get(world.current.process.name, 0.0) if world.current else 0.0
    return EPOCH + world.now + off


monotonic, wall, sleep = _monotonic, _wall, _sleep
threading = module_like(
    real_threading,
    Lock=Lock,
    RLock=RLock,
    Condition=Condition,
    Event=Event,
    Thread=Thread,
    Timer=Timer,
)
time = module_like(
    real_time, monotonic=_monotonic, time=_wall, sleep=_sleep, perf_counter=_monotonic
)
queue = module_like(real_queue, Queue=SimpleQueue, SimpleQueue=SimpleQueue)
