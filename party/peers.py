"""The service that peers call: takes in their streams and hands the frames to the sessions.

Whoever calls is known by certificate. A stream is refused when its session is unknown here, when
the caller is no party of the session, and at the first frame that does not fit.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import grpc

from coterie.errors import PeerFaultError, RefusedError
from party.frames import FrameError, parse
from party.transport import ACCEPTED, FAREWELL, Session
from protos.party_pb2 import Delivered

_REMEMBERED = 600.0  # seconds that an ended session still answers its peers
_DELIVERED = Delivered().SerializeToString()


class PeerService(grpc.GenericRpcHandler):  # type: ignore[misc]
    """`coterie.v1.Peers`. Frames are handed over as bytes, so that chunks are not copied.

    `identify` gives the name that a caller has proven, or raises `RefusedError`.
    """

    def __init__(
        self,
        me: str,
        identify: Callable[[grpc.ServicerContext], str],
        *,
        clock: Any = time.monotonic,
    ) -> None:
        self._me = me
        self._identify = identify
        self._clock = clock
        self._lock = threading.Lock()
        self._sessions: dict[str, Session] = {}
        self._ended: list[tuple[float, str]] = []

    def service(self, details: grpc.HandlerCallDetails) -> Any:
        if details.method == "/coterie.v1.Peers/Deliver":
            return grpc.stream_unary_rpc_method_handler(self._deliver)
        return None

    def add(self, session: Session) -> None:
        """Peers may deliver to this session from now on."""
        with self._lock:
            self._sessions[session.session] = session

    def retire(self, session: Session) -> None:
        """The session has ended; it answers late peers for a while, then it is forgotten."""
        now = self._clock()
        with self._lock:
            self._ended.append((now, session.session))
            while self._ended[0][0] < now - _REMEMBERED:
                self._sessions.pop(self._ended.pop(0)[1], None)

    def _deliver(self, frames: Iterator[bytes], context: grpc.ServicerContext) -> bytes:
        try:
            peer = self._identify(context)
        except RefusedError as error:
            _abort(context, grpc.StatusCode.PERMISSION_DENIED, str(error))
        try:
            first = parse(next(frames))
        except (StopIteration, grpc.RpcError):
            _abort(context, grpc.StatusCode.INVALID_ARGUMENT, "the stream is empty")
        except FrameError as error:
            _abort(context, grpc.StatusCode.INVALID_ARGUMENT, f"{peer} {error}")
        if not first.heartbeat or not first.session:
            reason = f"{peer} did not open the stream with a heartbeat that names the session"
            _abort(context, grpc.StatusCode.INVALID_ARGUMENT, reason)
        with self._lock:
            session = self._sessions.get(first.session)
        if session is None:
            _abort(context, grpc.StatusCode.NOT_FOUND, f"{self._me} knows no such session")
        try:
            session.accept(peer)
        except FrameError as error:
            _abort(context, grpc.StatusCode.PERMISSION_DENIED, f"{peer} {error}")
        context.send_initial_metadata(((ACCEPTED, "1"),))
        self._take_all(session, peer, frames, context)
        return bytes(_DELIVERED)

    def _take_all(
        self, session: Session, peer: str, frames: Iterator[bytes], context: grpc.ServicerContext
    ) -> None:
        try:
            _answer_if_failed(session, context)
            for frame in frames:
                if not session.take(peer, frame):
                    return
                del frame  # its memory may serve the next one
                _answer_if_failed(session, context)
        except FrameError as error:
            session.fail(PeerFaultError(peer, "", str(error)))
            _answer_if_failed(session, context)
            return  # the session had ended well before
        except grpc.RpcError:
            session.broken(peer, "the connection broke")
            return
        session.broken(peer, "closed the connection without a farewell")


def _answer_if_failed(session: Session, context: grpc.ServicerContext) -> None:
    """Whoever still sends to a session that has failed hears why."""
    words = session.last_words
    if words is not None:
        context.set_trailing_metadata(((FAREWELL, words.SerializeToString()),))
        _abort(context, grpc.StatusCode.FAILED_PRECONDITION, words.error)


def _abort(context: grpc.ServicerContext, code: grpc.StatusCode, reason: str) -> NoReturn:
    context.abort(code, reason)
    raise AssertionError("abort raises")
