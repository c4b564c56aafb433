"""The stream from one peer: the protocol's thread reads it while it waits, a spool stores the rest.

A party must receive also while it computes or sends: parties that all send before they receive
would wait for each other. So every stream has a thread, the keeper, that reads it into a spool. But
passing a message from one thread to another adds a third to its time, which a protocol of many
short rounds pays in every round. So the keeper lends the stream to the reader, the protocol's
thread, when the reader is waiting, and takes the stream back when the reader sends much, or has not
read for a while. Exactly one of the two reads at any time.

The reader leaves everything except data to the keeper, so that the end of a stream is handled in
one place.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from typing import Any

import grpc

from coterie.base.threads import start
from coterie.protos.peers_pb2 import Farewell
from coterie.transport.frames import FrameCheck, FrameError, Piece
from coterie.transport.spool import Spool

AWAY = 0.05  # seconds without a call of `read`, after which the keeper takes the stream back


def read_to_the_end(call: Any, patience: float) -> None:
    """Reads a single-threaded call until gRPC reports nothing more about it."""
    timer = threading.Timer(patience, call.cancel)
    timer.daemon = True
    start(timer)
    try:
        for _ in call:
            pass
    except grpc.RpcError:
        pass
    finally:
        timer.cancel()
    # A call that was cancelled here refuses to be read, although gRPC has not reported its end yet,
    # and no public function waits for that. `due` lists the operations that gRPC has yet to report.
    with contextlib.suppress(AttributeError):  # another version of gRPC
        while call._state.due:
            call._consume_next_event()


class Incoming:
    """The stream from one peer, from before it is opened until it has ended.

    `read` and `give_back` are for the reader; `begin`, `follow` and `drain` for the keeper; the
    other methods for all.
    """

    def __init__(
        self,
        check: FrameCheck,
        spool: Spool[Piece],
        clock: Callable[[], float],
        away: float = AWAY,
    ) -> None:
        self._check = check
        self._spool = spool
        self._clock = clock
        self._away = away
        self._call: Any = None
        self._lock = threading.Lock()  # guards the next five fields
        self._lent = False  # the reader may read the stream itself
        self._inside = False  # the reader is reading the stream
        self._wanted = False  # the reader is waiting at the spool
        self._visits = 0  # calls of `read`
        self._over = False  # further frames are dropped
        self._returned = threading.Event()  # the keeper has the stream again
        self._left: Farewell | Exception | None = None  # left by the reader for the keeper
        self.heard = clock()
        self.opened = False
        self.trouble = ""  # why the stream is not open yet
        self.finished = False  # the peer has sent its farewell

    # The reader.

    def read(self) -> Piece | None:
        """Waits for the next frame with data; None when there will be none."""
        while True:
            with self._lock:
                self._visits += 1
                empty = self._spool.empty
                self._inside = self._lent and empty and not self._over
                self._wanted = empty and not self._inside
            if not self._inside:
                piece = self._spool.get()
                self._wanted = False
                return piece
            found: Piece | Farewell | Exception | None
            try:
                found = self._admit(next(self._call))
            except (grpc.RpcError, StopIteration, FrameError) as error:
                found = error
            self._inside = False
            if isinstance(found, tuple):
                return found
            if found is not None:
                self._left = found
                self.give_back()

    def give_back(self) -> None:
        if self._lent:
            with self._lock:
                self._lent = False
            self._returned.set()

    # The keeper.

    def begin(self, call: Any) -> None:
        """Waits for the first frame of this call. Raises what `follow` raises."""
        self._call = call
        if self._over:
            call.cancel()
        self._left = self._take(next(call))
        self.opened = True

    def follow(self) -> Farewell:
        """Reads until the farewell, and returns the farewell.

        Raises grpc.RpcError when the connection breaks, StopIteration when the stream ends without
        a farewell, FrameError when a frame does not fit, and OSError when the spool is full, after
        which `follow` may be called again.
        """
        while True:
            self._wait_for_turn()
            left = self._left
            if isinstance(left, Exception):
                raise left
            farewell = left or self._take(next(self._call))
            if farewell is not None:
                return farewell

    def _take(self, frame: bytes) -> Farewell | None:
        found = self._admit(frame)
        if isinstance(found, Farewell):
            return found
        if found is not None and not self._over:
            with self._lock:
                if self._wanted:  # this frame wakes the reader, which then reads the stream itself
                    self._lent = True
                    self._returned.clear()
            self._spool.put(frame, found)
        return None

    def _wait_for_turn(self) -> None:
        while self._lent:
            visits = self._visits
            if not self._returned.wait(self._away):
                with self._lock:
                    if not self._inside and self._visits == visits:
                        self._lent = False

    def drain(self, patience: float) -> None:
        """Reads and drops the rest of the stream, until gRPC says that the call is over.

        gRPC keeps the connection of such a call open, even after `cancel` and after its channel was
        closed, until the call has been read to its end. A peer that does not end its stream within
        the patience is cut off.
        """
        if self._call is not None:
            read_to_the_end(self._call, patience)

    # The methods for all.

    def _admit(self, frame: bytes) -> Piece | Farewell | None:
        self.heard = self._clock()
        return self._check.admit(frame)

    def finish(self) -> None:
        """Notes the peer's farewell: what the peer has sent can be read, and nothing follows."""
        self.finished = True
        self._spool.wake()

    def stop(self) -> None:
        """Drops further frames, and makes `read` return None."""
        with self._lock:
            self._over = True
            waiting = self._inside or not self.opened
        if waiting:
            self.cancel()
        self._spool.wake()

    def cancel(self) -> None:
        """Ends the call."""
        if self._call is not None:
            self._call.cancel()

    def clear(self) -> None:
        """Frees the frames that nobody has read."""
        self._spool.clear()
