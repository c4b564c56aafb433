"""What a party sends to one peer: a short queue, emptied by gRPC in a thread of its own."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from queue import Empty, SimpleQueue

from party.frames import HEARTBEAT, cut, frame_count
from protocols.channel import Message
from protocols.wire import size_of

_QUEUE = 1 << 20  # bytes of short messages that wait to be sent
_COPIED = 1 << 16  # bytes of the longest of these


class Attempt:
    """One try to open a stream. Only the one that was accepted may take frames from the queue."""

    def __init__(self) -> None:
        self.accepted = threading.Event()
        self.over = False


class _Long:
    """A message that is not short. It is cut by the thread that sends it, so that each frame is
    still in the processor's cache; whoever put it waits until the last one is cut."""

    def __init__(self, message: Message, size: int) -> None:
        self.frames = cut(message)
        self.count = frame_count(size)


class Outgoing:
    """The frames for one peer, and how far the stream to it is.

    One thread puts messages; gRPC's thread takes them. Each keeps its own count of bytes, so that
    they need no lock; the one that puts waits only when the queue is full, until half of it is gone.
    """

    def __init__(self, interval: float) -> None:
        self._interval = interval
        self._queue: SimpleQueue[bytes | _Long | None] = SimpleQueue()
        self._put_bytes = 0
        self._taken_bytes = 0
        self._space = threading.Event()
        self._cut_up = threading.Lock()  # let go when a long message, of which one waits, is cut
        self._cut_up.acquire()
        self._last_words: bytes | None = None
        self._given_up = False
        self.sent = 0  # frames
        self.accepted = False
        self.trouble = ""  # why the stream is not open yet
        self.ended = threading.Event()

    @property
    def _over(self) -> bool:
        return self._given_up or self._last_words is not None

    def put(self, message: Message) -> None:
        """Returns when the message's buffers are no longer needed, or the stream is over."""
        if self._over:
            return
        size = size_of(message.body)
        if size > _COPIED:
            self._queue.put(_Long(message, size))
            if not self._over:
                self._cut_up.acquire()
            return
        if self._put_bytes - self._taken_bytes > _QUEUE:
            self._space.clear()
            while self._put_bytes - self._taken_bytes > _QUEUE // 2 and not self._over:
                self._space.wait()
                self._space.clear()
        [frame] = cut(message)
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
        self._wake()

    def give_up(self) -> None:
        """Nothing goes out any more."""
        self._given_up = True
        self._wake()

    def _wake(self) -> None:
        self._queue.put(None)
        self._space.set()
        self._let_go()

    def _let_go(self) -> None:
        with contextlib.suppress(RuntimeError):  # nobody waits
            self._cut_up.release()

    def frames(self, attempt: Attempt, first: bytes) -> Iterator[bytes]:
        """What gRPC sends: heartbeats when there is nothing else."""
        yield first
        while not attempt.accepted.wait(self._interval):
            if attempt.over or self._given_up:
                return
        while not self._over:
            try:
                item = self._queue.get(timeout=self._interval)
            except Empty:
                yield HEARTBEAT
                continue
            if self._over or item is None:
                break
            if isinstance(item, bytes):
                yield item
                self.sent += 1
                self._taken_bytes += len(item)
                if self._put_bytes - self._taken_bytes <= _QUEUE // 2:
                    self._space.set()
                continue
            left = item.count
            for frame in item.frames:
                left -= 1
                if not left:
                    self._let_go()
                yield frame
                del frame  # its memory may serve the next one
                self.sent += 1
                if self._over:
                    break
        if self._last_words is not None and not self._given_up:
            yield self._last_words
