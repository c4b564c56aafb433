"""The stream to one peer, which the peer has opened.

The protocol's thread hands its frames to gRPC itself, so that a message goes out without waking
another thread. The server's thread that answers the peer's call keeps the stream: it sends a
heartbeat at every interval, and the farewell when the session fails. Some short messages may wait
until the stream is open.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from coterie.protocols.messaging.channel import Message
from coterie.transport.frames import HEARTBEAT, cut

_EARLY = 1 << 20  # bytes that may wait until the stream is open

Send = Callable[[bytes | None], None]  # None ends the stream; returns when gRPC has taken it


class Outgoing:
    """The stream to one peer, from before it is opened until it has ended."""

    def __init__(self, interval: float, clock: Callable[[], float]) -> None:
        self._interval = interval
        self._clock = clock
        self._lock = threading.Lock()  # held while one frame is sent
        self._send: Send | None = None
        self._cancel: Callable[[], object] = lambda: None
        self._early: list[bytes] = []
        self._early_bytes = 0
        self._begun = threading.Event()  # the session has started, or the stream is over
        self._opened = threading.Event()  # the peer has opened the stream, or it is over
        self._over = threading.Event()
        self._last_words: bytes | None = None
        self.sending_since: float | None = None  # when sending the present frame began
        self.said_farewell = False
        self.hung_up = False  # the call has ended, for whatever reason
        self.taken = threading.Event()  # the peer has received everything, or needs nothing more
        self.ended = threading.Event()  # nothing is sent any more

    def begin(self) -> None:
        """Notes that the session has started, so that frames may be sent."""
        self._begun.set()

    def put(self, message: Message) -> None:
        """Returns when the message's buffers are no longer needed, or the stream is over."""
        for frame in cut(message):
            if not self._put(frame):
                return
            del frame  # the next frame may use its memory

    def end(self, farewell: bytes) -> None:
        """Sends the farewell of a session that ends without an error, after all messages."""
        self.said_farewell = True  # the peer may confirm before this returns
        self._put(farewell)

    def _put(self, frame: bytes) -> bool:
        while True:
            with self._lock:
                if self._over.is_set():
                    return False
                if self._send is not None:
                    self._timed(self._send, frame)
                    return True
                if self._early_bytes + len(frame) <= _EARLY:
                    self._early.append(frame)
                    self._early_bytes += len(frame)
                    return True
            self._opened.wait()

    def _timed(self, send: Send, frame: bytes | None) -> None:
        """Sends a frame, with the lock held. This blocks while the peer receives nothing."""
        self.sending_since = self._clock()
        send(frame)
        self.sending_since = None

    def end_now(self, farewell: bytes) -> None:
        """Sends the farewell at once, instead of the messages that wait."""
        self._last_words = farewell
        self._finish()

    def confirm(self) -> None:
        """Notes that the peer has received everything."""
        self.taken.set()
        self._finish()

    def hang_up(self) -> None:
        """Notes that the peer's call has ended."""
        self.hung_up = True
        self._finish()

    def give_up(self) -> None:
        """Sends nothing more, and wakes the threads that wait for gRPC."""
        self._finish()
        if not self.ended.is_set():  # the farewell may still be on its way
            self._cancel()

    def _finish(self) -> None:
        self._over.set()
        self._begun.set()
        self._opened.set()

    def keep(self, send: Send, cancel: Callable[[], object]) -> None:
        """Keeps the stream that the peer has opened until it ends; runs in the server's thread."""
        self._cancel = cancel
        self._begun.wait()
        if not self._over.is_set():
            with self._lock:
                for frame in (HEARTBEAT, *self._early):
                    self._timed(send, frame)
                self._early.clear()
                self._send = send
            self._opened.set()
        while not self._over.wait(self._interval):
            if self._lock.acquire(blocking=False):  # else a frame is being sent, which will do
                try:
                    self._timed(send, HEARTBEAT)
                finally:
                    self._lock.release()
        with self._lock:
            if self._last_words is not None:
                self._timed(send, self._last_words)
            self._timed(send, None)
        self.ended.set()
