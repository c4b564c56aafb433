"""The transport between party servers: one session of one job, over gRPC.

A session has two streams for each peer: one that this party opened and sends on (`party.outgoing`), one
that the peer opened (`_Incoming`, fed by `party.peers`). A sender puts frames into a short queue,
and a heartbeat on the stream when it has nothing else to send. A receiver takes frames into a spool
at once. A monitor ends the session when a peer has not been heard of for the deadline.

A session ends once, for one reason. When that is an error, the party says farewell to all peers
with the name of the culprit, so that all of them end with that name, and whoever waits in
`transmit` or `receive` gets the error. Frames that a peer sends afterwards are answered with it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
import numpy as np
from google.protobuf.message import DecodeError

from coterie.errors import CoterieError, EnvironmentFaultError, PeerFaultError, PeerLostError
from party.explain import HOPELESS, explain
from party.farewell import error_from, farewell_for
from party.frames import ALIGNMENT, FrameCheck, FrameError, Piece, closing, opening, split
from party.outgoing import Attempt, Outgoing
from party.spool import MEMORY, Spool
from protocols.channel import Message
from protos.party_pb2 import Farewell

METHOD = "/coterie.v1.Peers/Deliver"
ACCEPTED = "coterie-accepted"
FAREWELL = "coterie-farewell-bin"
_RETRIED = {  # while the peer starts, or has not yet been told of the job
    grpc.StatusCode.UNAVAILABLE,
    grpc.StatusCode.NOT_FOUND,
    grpc.StatusCode.RESOURCE_EXHAUSTED,
}
_IN_VAIN = _RETRIED | {grpc.StatusCode.CANCELLED}  # the latter by the timer, at the deadline


@dataclass(frozen=True)
class Heartbeat:
    """Seconds between signs of life, and how long silence lasts before a peer counts as lost."""

    interval: float = 1.0
    deadline: float = 10.0


class _Incoming:
    """What one peer sends."""

    def __init__(self, check: FrameCheck, spool: Spool[Piece], now: float) -> None:
        self.check = check
        self.spool = spool
        self.heard = now
        self.opened = False
        self.finished = False  # the peer has said a farewell without an error


class Session:
    """This party's end of one session: a `Transport`, from the moment the job is accepted.

    `start` opens the streams to the peers; until then only their frames are taken in. `finish`
    ends it well, `fail` with an error; `close` gives back what it holds.
    """

    def __init__(
        self,
        session: str,
        me: str,
        peers: Iterable[str],
        *,
        spool_folder: Path,
        heartbeat: Heartbeat,
        memory: int,
        on_failure: Callable[[BaseException], None] = lambda error: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.session = session
        self.me = me
        self.peers = tuple(peers)
        self.error: BaseException | None = None
        self.step = ""  # where the protocol stands, for farewells
        self._heartbeat = heartbeat
        self._on_failure = on_failure
        self._clock = clock
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._channels: list[grpc.Channel] = []
        self._done = False
        spool_memory = min(MEMORY, memory // (4 * max(1, len(self.peers))))
        self._incoming = {
            peer: _Incoming(
                FrameCheck(session, memory), Spool(spool_folder, split, spool_memory), clock()
            )
            for peer in self.peers
        }
        self._outgoing = {peer: Outgoing(heartbeat.interval) for peer in self.peers}

    # What a protocol uses.

    def transmit(self, peer: str, message: Message) -> None:
        link = self._outgoing[peer]
        self.step = message.step
        link.put(message)
        if self.error:
            raise self._raised()

    def receive(self, peer: str) -> Message:
        link = self._incoming[peer]
        chunk, header = self._next_frame(peer, link)
        body = chunk if len(chunk) == header.size and _aligned(chunk) else None
        if body is None:
            # NumPy copies without the interpreter's lock, which the thread that takes in needs.
            whole = np.empty(header.size, np.uint8)
            filled = 0
            while True:
                whole[filled : filled + len(chunk)] = np.frombuffer(chunk, np.uint8)
                filled += len(chunk)
                if filled == header.size:
                    break
                chunk, _ = self._next_frame(peer, link)
            body = whole.data
        return Message(header.session, header.step, header.sequence, [body])

    def _next_frame(self, peer: str, link: _Incoming) -> Piece:
        frame = None
        if not self.error:
            try:
                frame = link.spool.get()
            except OSError as error:
                self.fail(EnvironmentFaultError(f"spool of {peer}: {error.strerror}"))
        if self.error:
            raise self._raised()
        if frame is None:
            raise PeerLostError(peer, "", "has finished and sends nothing more")
        return frame

    def _raised(self) -> BaseException:
        """The session's error, as a new object: several threads may raise it."""
        error = self.error
        if isinstance(error, PeerLostError | PeerFaultError):
            return type(error)(error.peer, error.step, error.reason)
        if isinstance(error, CoterieError):
            return type(error)(*error.args)
        return CoterieError(f"the session has ended: {type(error).__name__}")

    # What the server that received a stream uses.

    def accept(self, peer: str) -> None:
        """A stream of this peer is opened; raises `FrameError` if there may be none."""
        link = self._incoming.get(peer)
        if link is None:
            raise FrameError("is no party of this session")
        with self._lock:
            if link.opened:
                raise FrameError("opened a second stream in this session")
            link.opened = True
            link.heard = self._clock()

    def take(self, peer: str, frame: bytes) -> bool:
        """Takes in one frame; False after the farewell. Raises `FrameError`."""
        link = self._incoming[peer]
        link.heard = self._clock()
        taken = link.check.admit(frame)
        if taken is None:
            return True
        if isinstance(taken, Farewell):
            if taken.failed:
                self.fail(error_from(taken, peer, (self.me, *self.peers)))
            link.finished = True
            link.spool.wake()
            return False
        if not self._done and not self.error:
            try:
                link.spool.put(frame, taken)
            except OSError as error:
                self.fail(EnvironmentFaultError(f"spool of {peer}: {error.strerror}"))
        return True

    def broken(self, peer: str, reason: str) -> None:
        """The stream of this peer ended without a farewell."""
        if not self._incoming[peer].finished:
            self.fail(PeerLostError(peer, "", reason))

    @property
    def last_words(self) -> Farewell | None:
        """What whoever still sends is answered, once the session has failed."""
        error = self.error
        return farewell_for(error, self.me, self.step) if error else None

    # What the job's owner uses.

    def start(self, connect: Callable[[str], grpc.Channel]) -> None:
        """Opens the streams to the peers. `connect` gives a channel to a named peer."""
        now = self._clock()
        for peer, link in self._incoming.items():
            link.heard = max(link.heard, now)
            threading.Thread(target=self._open, args=(peer, connect), daemon=True).start()
        threading.Thread(target=self._monitor, daemon=True).start()

    def finish(self) -> None:
        """Says farewell after the last message and waits until the peers have taken everything."""
        for link in self._outgoing.values():
            link.end(closing(Farewell()))
        for peer, out in self._outgoing.items():
            # The monitor ends this wait when the peer is lost before it has finished itself.
            deadline = self._clock() + self._heartbeat.deadline
            before = out.sent
            while not out.ended.wait(0.05) and not self.error:
                if out.sent != before:
                    before, deadline = out.sent, self._clock() + self._heartbeat.deadline
                if self._clock() > deadline:
                    if not self._incoming[peer].finished:
                        self.fail(PeerLostError(peer, "finish", "does not take the last messages"))
                    break
        with self._lock:
            self._done = self.error is None
        if self.error:
            raise self._raised()

    def fail(self, error: BaseException) -> bool:
        """Ends the session with this error, unless it has ended; tells the peers."""
        with self._lock:
            if self.error or self._done:
                return False
            self.error = error
        last = closing(farewell_for(error, self.me, self.step))
        for out in self._outgoing.values():
            out.end_now(last)
        for incoming in self._incoming.values():
            incoming.spool.wake()
        self._on_failure(error)
        return True

    def close(self, patience: float = 2.0) -> None:
        """Waits a moment for farewells to arrive, then gives back connections and spools."""
        deadline = self._clock() + patience
        for out in self._outgoing.values():
            out.ended.wait(max(0.0, deadline - self._clock()))
        self._stop.set()
        with self._lock:
            self._done = True
        for out in self._outgoing.values():
            out.give_up()
        with self._lock:
            channels = list(self._channels)
        for channel in channels:
            channel.close()
        for incoming in self._incoming.values():
            incoming.spool.clear()

    def _monitor(self) -> None:
        while not self._stop.wait(self._heartbeat.interval / 2):
            now = self._clock()
            for peer, link in self._incoming.items():
                silent = now - link.heard
                if silent > self._heartbeat.deadline and not link.finished:
                    self.fail(self._silent(peer))

    def _silent(self, peer: str) -> PeerLostError:
        """The error of a peer that let the deadline pass."""
        heard = "sent no sign of life" if self._incoming[peer].opened else "was not heard of"
        trouble = self._outgoing[peer].trouble
        cause = f" (it cannot be reached: {trouble})" if trouble else ""
        return PeerLostError(peer, "", f"{heard} for {self._heartbeat.deadline:g} s{cause}")

    def _open(self, peer: str, connect: Callable[[str], grpc.Channel]) -> None:
        """Opens the stream to a peer, trying again until the deadline."""
        out = self._outgoing[peer]
        deadline = self._clock() + self._heartbeat.deadline
        channel = connect(peer)
        with self._lock:
            self._channels.append(channel)
        deliver = channel.stream_unary(METHOD)
        while not self._stop.is_set():
            attempt = Attempt()
            call = deliver.future(out.frames(attempt, opening(self.session)))
            timer = threading.Timer(max(0.1, deadline - self._clock()), call.cancel)
            timer.daemon = True
            timer.start()
            accepted = any(key == ACCEPTED for key, _ in call.initial_metadata())
            timer.cancel()
            if accepted:
                out.accepted, out.trouble = True, ""
                attempt.accepted.set()
                call.add_done_callback(lambda call: self._ended(peer, call))
                return
            attempt.over = True
            code = call.code()  # waits for the end of the call
            out.trouble = explain(call)
            hopeless = code not in _RETRIED or out.trouble in HOPELESS
            late = self._clock() >= deadline or code == grpc.StatusCode.CANCELLED
            if late and code in _IN_VAIN and not self._incoming[peer].opened:
                # Heard of in neither direction: said alike whether this or the monitor sees it first.
                self.fail(self._silent(peer))
            if hopeless or late:
                self._ended(peer, call)
                return
            self._stop.wait(0.1)
        out.ended.set()

    def _ended(self, peer: str, call: Any) -> None:
        """The stream to a peer is over: well, or not."""
        out = self._outgoing[peer]
        if call.code() != grpc.StatusCode.OK and not self._incoming[peer].finished:
            words = dict(call.trailing_metadata() or ()).get(FAREWELL)
            if words is not None:
                self.fail(error_from(_farewell(words), peer, (self.me, *self.peers)))
            elif out.accepted:
                self.fail(PeerLostError(peer, "", f"broke the connection: {explain(call)}"))
            elif call.code() == grpc.StatusCode.PERMISSION_DENIED:
                self.fail(PeerLostError(peer, "", f"refuses this party: {explain(call)}"))
            else:
                self.fail(PeerLostError(peer, "", f"cannot be reached: {explain(call)}"))
        out.ended.set()
        out.give_up()


def _aligned(chunk: memoryview) -> bool:
    address: int = np.frombuffer(chunk, np.uint8).__array_interface__["data"][0]
    return not address % ALIGNMENT


def _farewell(data: bytes) -> Farewell:
    try:
        return Farewell.FromString(data)
    except DecodeError:
        return Farewell(failed=True, error="sent an unreadable farewell")
