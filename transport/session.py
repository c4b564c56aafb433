"""The transport between party servers: one session of one job, over gRPC.

A session has two streams for each peer: one that this party opened and reads
(`transport.incoming`), one that the peer opened and this party sends on (`transport.outgoing`,
handed over by `transport.peers`). The receiver opens the stream, because gRPC then lets the
protocol's own threads send and receive. A monitor ends the session when a peer has sent nothing, or
has received nothing, for the length of the deadline.

A session ends once, for one reason. When the reason is an error, the party sends a farewell with
the name of the culprit to all peers, so that all of them end with that name, and a thread that
waits in `transmit` or `receive` gets the error. A peer without a stream is then called with the
farewell; a peer that calls later gets the farewell as its answer. A session that ends without an
error waits until every peer has confirmed that it has received everything, and meanwhile reads from
slower peers until their farewells.
"""

from __future__ import annotations

import contextlib
import copy
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
import numpy as np
from google.protobuf.message import DecodeError

from coterie.base.errors import (
    CoterieError,
    EnvironmentFaultError,
    PeerFaultError,
    PeerLostError,
    PeerRevokedError,
)
from coterie.base.threads import start
from coterie.protocols.messaging.channel import Message
from coterie.protocols.messaging.wire import size_of
from coterie.protos.peers_pb2 import Farewell, Parting, SessionRef
from coterie.transport.call_errors import HOPELESS, REVOKED, failure_reason
from coterie.transport.error_messages import error_from, farewell_for
from coterie.transport.frames import ALIGNMENT, FrameCheck, FrameError, Piece, closing, split
from coterie.transport.incoming import Incoming
from coterie.transport.outgoing import Outgoing, Send
from coterie.transport.spool import MEMORY, Spool

COLLECT = "/coterie.v1.Peers/Collect"
PART = "/coterie.v1.Peers/Part"
FAREWELL = "coterie-farewell-bin"
_RETRIED = {  # status codes of a peer that is starting, or does not know the job yet
    grpc.StatusCode.UNAVAILABLE,
    grpc.StatusCode.NOT_FOUND,
    grpc.StatusCode.RESOURCE_EXHAUSTED,
}
_IN_VAIN = _RETRIED | {grpc.StatusCode.CANCELLED}  # the timer cancels a call at the deadline
# After sending this many bytes without reading, this thread hands the incoming streams to the
# keeper threads: gRPC buffers little more, and two parties that only send would block each other.
_AHEAD = 1 << 15
_LAST_WORDS = 1.0  # seconds that a peer has to receive a frame once the session has failed
_DRAINING = 1.0  # seconds for a peer to end its stream when nothing of it is needed any more


@dataclass(frozen=True)
class Heartbeat:
    """Seconds between signs of life, and how long silence lasts before a peer counts as lost."""

    interval: float = 1.0
    deadline: float = 10.0


class Session:
    """This party's end of one session: a `Transport`, from the moment the job is accepted.

    Peers may open their streams from the beginning; they receive something from `start` on.
    `finish` ends the session without an error, `fail` with one; `close` frees its resources.
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
        self.step = ""  # the protocol's current step, for farewells
        self._heartbeat = heartbeat
        self._on_failure = on_failure
        self._clock = clock
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._started = False
        self._done = False
        self._ahead = 0  # bytes sent since the last `receive`
        self._accepted: set[str] = set()  # peers that have opened their stream
        spool_memory = min(MEMORY, memory // (4 * max(1, len(self.peers))))
        self._incoming = {
            peer: Incoming(
                FrameCheck(session, memory), Spool(spool_folder, split, spool_memory), clock
            )
            for peer in self.peers
        }
        self._outgoing = {peer: Outgoing(heartbeat.interval, clock) for peer in self.peers}

    # What a protocol uses.

    def transmit(self, peer: str, message: Message) -> None:
        self.step = message.step
        self._ahead += size_of(message.body)
        if self._ahead > _AHEAD:
            self._look_away()
        self._outgoing[peer].put(message)
        if self.error:
            raise self._raised()

    def _look_away(self) -> None:
        """Gives the incoming streams back to the keeper threads."""
        self._ahead = 0
        for link in self._incoming.values():
            link.give_back()

    def receive(self, peer: str) -> Message:
        link = self._incoming[peer]
        self._ahead = 0
        chunk, header = self._next_frame(peer, link)
        body = chunk if len(chunk) == header.size and _aligned(chunk) else None
        if body is None:
            # NumPy copies without the interpreter's lock, which the receiving thread needs.
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

    def _next_frame(self, peer: str, link: Incoming) -> Piece:
        frame = None
        if not self.error:
            try:
                frame = link.read()
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
            return error.placed(error.step)
        if isinstance(error, CoterieError):
            return copy.copy(error)
        return CoterieError(f"the session has ended: {type(error).__name__}")

    # What the server uses when a peer calls.

    def accept(self, peer: str) -> bool:
        """Accepts the one stream that this peer may open."""
        with self._lock:
            first = peer not in self._accepted
            self._accepted.add(peer)
        return first

    def serve(self, peer: str, send: Send, context: grpc.ServicerContext) -> None:
        """Keeps an accepted stream until it ends."""
        out = self._outgoing[peer]
        if not context.add_callback(out.hang_up):
            out.hang_up()
        out.keep(send, context.cancel)
        if out.hung_up and not out.taken.is_set():
            # The peer may have ended the session, and report that on the other connection a little
            # later.
            until = self._clock() + self._heartbeat.deadline / 2
            link = self._incoming[peer]
            while not (self.error or self._done or link.finished) and self._clock() < until:
                time.sleep(0.02)
            if link.finished:
                out.taken.set()
            else:
                self.fail(PeerLostError(peer, "", "broke the connection"))

    def part(self, peer: str, farewell: Farewell) -> None:
        """Notes that this peer needs nothing more: it has failed, or has received everything."""
        out = self._outgoing[peer]
        if farewell.failed:
            self.fail(error_from(farewell, peer, (self.me, *self.peers)))
        elif out.said_farewell:
            out.confirm()
        else:
            self.fail(PeerFaultError(peer, "", "has taken a farewell that was not said"))

    @property
    def last_words(self) -> Farewell | None:
        """The answer to callers once the session has failed."""
        error = self.error
        return farewell_for(error, self.me, self.step) if error else None

    # What the job's owner uses.

    def start(self, connect: Callable[[str], grpc.Channel]) -> None:
        """Opens the streams of the peers. `connect` gives a channel to a named peer."""
        self._started = True
        now = self._clock()
        for peer, link in self._incoming.items():
            link.heard = max(link.heard, now)
            self._outgoing[peer].begin()
            start(threading.Thread(target=self._collect, args=(peer, connect), daemon=True))
        start(threading.Thread(target=self._monitor, daemon=True))

    def finish(self) -> None:
        """Sends the farewells, and waits until the peers have received everything."""
        self._look_away()
        for out in self._outgoing.values():
            out.end(closing(Farewell()))
        for peer, out in self._outgoing.items():
            # The monitor ends this wait when the peer is lost before it has finished.
            deadline = self._clock() + self._heartbeat.deadline
            while not out.taken.wait(0.05) and not self.error:
                if self._clock() > deadline:
                    if not self._incoming[peer].finished:
                        self.fail(PeerLostError(peer, "finish", "does not take the last messages"))
                    break
        with self._lock:
            self._done = self.error is None
        if self.error:
            raise self._raised()

    def fail(self, error: BaseException) -> bool:
        """Ends the session with this error, unless it has ended already; tells the peers."""
        with self._lock:
            if self.error or self._done:
                return False
            self.error = error
        last = closing(farewell_for(error, self.me, self.step))
        for out in self._outgoing.values():
            out.end_now(last)
        for peer, incoming in self._incoming.items():
            incoming.stop()
            if peer not in self._accepted:
                incoming.cancel()  # so that the keeper calls the peer
        self._on_failure(error)
        return True

    def close(self, patience: float = 2.0) -> None:
        """Waits a moment for farewells to be sent, then closes connections and spools.

        After a session without an error, messages of slower peers are read and dropped until their
        farewells.
        """
        deadline = self._clock() + patience
        for peer, out in self._outgoing.items():
            if self._started or peer in self._accepted:
                out.ended.wait(max(0.0, deadline - self._clock()))
        self._stop.set()
        with self._lock:
            well, self._done = self._done, True
        for out in self._outgoing.values():
            out.give_up()
        for incoming in self._incoming.values():
            incoming.stop()
            if not well:
                incoming.cancel()
            incoming.clear()

    def _monitor(self) -> None:
        while not self._stop.wait(self._heartbeat.interval / 2):
            now = self._clock()
            for peer, link in self._incoming.items():
                if now - link.heard > self._heartbeat.deadline and not link.finished:
                    self.fail(self._silent(peer))
                out = self._outgoing[peer]
                since, patience = out.sending_since, self._heartbeat.deadline
                if since is not None and now - since > (_LAST_WORDS if self.error else patience):
                    # A peer that runs receives what is sent to it, whatever else it does.
                    self.fail(PeerLostError(peer, "", f"took nothing for {patience:g} s"))
                    out.give_up()

    def _silent(self, peer: str) -> PeerLostError:
        """The error for a peer that let the deadline pass."""
        heard = "sent no sign of life" if self._incoming[peer].opened else "was not heard of"
        trouble = self._incoming[peer].trouble
        cause = f" (it cannot be reached: {trouble})" if trouble else ""
        return PeerLostError(peer, "", f"{heard} for {self._heartbeat.deadline:g} s{cause}")

    def _collect(self, peer: str, connect: Callable[[str], grpc.Channel]) -> None:
        """Keeps the stream of one peer, from opening it to its farewell."""
        try:
            self._keep(peer, connect)
        except EnvironmentFaultError as error:
            self.fail(error)

    def _keep(self, peer: str, connect: Callable[[str], grpc.Channel]) -> None:
        out = self._outgoing[peer]
        with contextlib.closing(connect(peer)) as channel:
            well = self._open(peer, channel) and self._follow(peer)
            words = self.last_words
            if well or (words and peer not in self._accepted):
                request = Parting(session=self.session, farewell=None if well else words)
                seconds = self._heartbeat.deadline
                with contextlib.suppress(grpc.RpcError):  # the peer has ended, too
                    channel.unary_unary(PART)(request.SerializeToString(), timeout=seconds)
            if not well:
                self._incoming[peer].cancel()
            self._incoming[peer].drain(_DRAINING)
        if peer not in self._accepted:
            out.ended.set()

    def _open(self, peer: str, channel: grpc.Channel) -> bool:
        """Opens the stream of a peer, trying again until the deadline."""
        link = self._incoming[peer]
        deadline = self._clock() + self._heartbeat.deadline
        collect = channel.unary_stream(COLLECT)
        while not self._stop.is_set():
            call = collect(SessionRef(session=self.session).SerializeToString())
            timer = threading.Timer(max(0.1, deadline - self._clock()), call.cancel)
            timer.daemon = True
            start(timer)
            try:
                link.begin(call)
                link.trouble = ""
                return True
            except (FrameError, StopIteration) as error:
                self._blame(peer, error)
                return False
            except grpc.RpcError:
                link.trouble = failure_reason(call)
            finally:
                timer.cancel()
            late = self._clock() >= deadline or call.code() == grpc.StatusCode.CANCELLED
            if late and call.code() in _IN_VAIN:
                # The error is the same whether this thread or the monitor is first to see it.
                self.fail(self._silent(peer))
            if late or call.code() not in _RETRIED or link.trouble in HOPELESS:
                self._blame(peer, call)
                return False
            link.drain(_DRAINING)
            self._stop.wait(0.1)
        return False

    def _follow(self, peer: str) -> bool:
        """Reads the stream of a peer to its end; whether it ended without an error."""
        link = self._incoming[peer]
        while True:
            try:
                farewell = link.follow()
                break
            except OSError as error:
                self.fail(EnvironmentFaultError(f"spool of {peer}: {error.strerror}"))
            except (FrameError, StopIteration, grpc.RpcError) as error:
                self._blame(peer, error)
                return False
        if farewell.failed:
            self.fail(error_from(farewell, peer, (self.me, *self.peers)))
        link.finish()
        return not farewell.failed

    def _blame(self, peer: str, found: Any) -> None:
        """Ends the session with the error that the end of a peer's stream means."""
        if isinstance(found, FrameError):
            self.fail(PeerFaultError(peer, "", str(found)))
        elif isinstance(found, StopIteration):
            self.fail(PeerLostError(peer, "", "closed the connection without a farewell"))
        else:
            self.fail(self._error_of(peer, found))

    def _error_of(self, peer: str, call: Any) -> CoterieError:
        words = dict(call.trailing_metadata() or ()).get(FAREWELL)
        if words is not None:
            return error_from(read_farewell(words), peer, (self.me, *self.peers))
        code, reason = call.code(), failure_reason(call)
        if reason.startswith(REVOKED):
            return PeerRevokedError.told(self.me, "", peer)
        if not self._incoming[peer].opened:
            refused = code == grpc.StatusCode.PERMISSION_DENIED
            how = "refuses this party" if refused else "cannot be reached"
            return PeerLostError(peer, "", f"{how}: {reason}")
        if code == grpc.StatusCode.RESOURCE_EXHAUSTED:
            return PeerFaultError(peer, "", "sent a frame larger than any that is cut")
        cause = "" if code == grpc.StatusCode.CANCELLED else f": {reason}"
        return PeerLostError(peer, "", f"broke the connection{cause}")


def _aligned(chunk: memoryview) -> bool:
    address: int = np.frombuffer(chunk, np.uint8).__array_interface__["data"][0]
    return not address % ALIGNMENT


def read_farewell(data: bytes) -> Farewell:
    """The farewell in the trailing metadata of a call."""
    try:
        return Farewell.FromString(data)
    except DecodeError:
        return Farewell(failed=True, error="sent an unreadable farewell")
