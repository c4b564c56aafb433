"""What a party sends to one peer: a short queue, emptied by gRPC in a thread of its own."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from queue import Empty, SimpleQueue

from party.frames import HEARTBEAT

_QUEUE = 1 << 20  # bytes of frames that wait to be sent; few, so that they stay in the cache


class Attempt:
    """One try to open a stream. Only the one that was accepted may take frames from the queue."""

    def __init__(self) -> None:
        self.accepted = threading.Event()
        self.over = False


class Outgoing:
    """The frames for one peer, and how far the stream to it is.

    One thread puts frames; gRPC's thread takes them. Each keeps its own count of bytes, so that
    they need no lock; the one that puts waits only when the queue is full, until half of it is gone.
    """

    def __init__(self, interval: float) -> None:
        self._interval = interval
        self._queue: SimpleQueue[bytes | None] = SimpleQueue()
        self._put_bytes = 0
        self._sent_bytes = 0
        self._space = threading.Event()
        self._last_words: bytes | None = None
        self._given_up = False
        self.accepted = False
        self.trouble = ""  # why the stream is not open yet
        self.ended = threading.Event()

    @property
    def waiting(self) -> int:
        """Bytes that have not been sent."""
        return self._put_bytes - self._sent_bytes

    def put(self, frame: bytes) -> None:
        """Waits for space, unless the stream ends."""
        if self.waiting > _QUEUE:
            self._space.clear()
            while self.waiting > _QUEUE // 2 and self._last_words is None and not self._given_up:
                self._space.wait()
                self._space.clear()
        self._put_bytes += len(frame)
        self._queue.put(frame)

    def end(self, farewell: bytes) -> None:
        """The farewell goes out after everything that was put."""
        self._put_bytes += len(farewell)
        self._queue.put(farewell)
        self._queue.put(None)

    def end_now(self, farewell: bytes) -> None:
        """The farewell goes out instead of what waits."""
        self._last_words = farewell
        self._queue.put(None)
        self._space.set()

    def give_up(self) -> None:
        """Nothing goes out any more."""
        self._given_up = True
        self._queue.put(None)
        self._space.set()

    def frames(self, attempt: Attempt, first: bytes) -> Iterator[bytes]:
        """What gRPC sends: heartbeats when there is nothing else."""
        yield first
        while not attempt.accepted.wait(self._interval):
            if attempt.over or self._given_up:
                return
        while True:
            try:
                frame = self._queue.get(timeout=self._interval)
                size = len(frame or b"")
            except Empty:
                frame, size = HEARTBEAT, 0
            if self._last_words is not None and not self._given_up:
                yield self._last_words
            if self._last_words is not None or self._given_up or frame is None:
                return
            yield frame
            self._sent_bytes += size
            if not self._space.is_set() and self.waiting <= _QUEUE // 2:
                self._space.set()
