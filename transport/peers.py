"""The gRPC service for peers, which hands their streams to the sessions.

A caller is known by its certificate. A call is refused when its session is unknown here, and when
the caller is no party of the session.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any, NoReturn, Protocol, TypeVar

import grpc
from google.protobuf.message import DecodeError

from coterie.base.errors import CoterieError, RefusedError
from coterie.protos.peers_pb2 import (
    Farewell,
    Parted,
    Parting,
    Received,
    Reservation,
    Reserved,
    SessionRef,
)
from coterie.transport.outgoing import Send
from coterie.transport.session import COLLECT, FAREWELL, PART, Session

COMPARE = "/coterie.v1.Peers/Compare"
_REMEMBERED = 600.0  # seconds that an ended session still answers its peers
_PARTED = bytes(Parted().SerializeToString())
T = TypeVar("T", SessionRef, Parting, Reservation)
RESERVE = "/coterie.v1.Peers/Reserve"


class Places(Protocol):
    """Where a server reserves places for jobs that are to begin."""

    def reserve(self, peer: str, session: Session, request: Reservation) -> Reserved:
        """This peer asks for a place, or gives one back; `RefusedError` if it may not."""

    def begun(self, session: Session) -> None:
        """A peer has begun this job."""

    def ended(self, session: str) -> Farewell | None:
        """What to tell a peer of a job that ended so long ago that its session is forgotten."""


M = TypeVar("M", SessionRef, Parting, Reservation, Received)
Compare = Callable[[str, str, str], str]  # from peer, session and digest to this party's digest


def _refuse(peer: str, session: str, digest: str) -> str:
    raise RefusedError("no results are compared here")


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
        self._ended: list[tuple[float, Session]] = []
        self.places: Places | None = None
        self.compare: Compare = _refuse  # or raises `RefusedError`

    def service(self, details: grpc.HandlerCallDetails) -> Any:
        if details.method == COLLECT:

            def collect(request: bytes, context: grpc.ServicerContext, send: Send) -> None:
                self._collect(request, context, send)

            # With this attribute gRPC passes a function that sends, which any thread may use.
            collect.experimental_non_blocking = True  # type: ignore[attr-defined]
            return grpc.unary_stream_rpc_method_handler(collect)
        if details.method == PART:
            return grpc.unary_unary_rpc_method_handler(self._part)
        if details.method == RESERVE and self.places is not None:
            return grpc.unary_unary_rpc_method_handler(self._reserve)
        if details.method == COMPARE:
            return grpc.unary_unary_rpc_method_handler(self._compared)
        return None

    def add(self, session: Session) -> None:
        """Lets peers open their streams in this session from now on."""
        with self._lock:
            self._sessions[session.session] = session

    def retire(self, session: Session) -> None:
        """Notes the end of the session, which answers late peers for a while longer."""
        now = self._clock()
        with self._lock:
            self._ended.append((now, session))
            while self._ended[0][0] < now - _REMEMBERED:
                old = self._ended.pop(0)[1]
                if self._sessions.get(old.session) is old:  # and not that of a later attempt
                    del self._sessions[old.session]

    def _collect(self, request: bytes, context: grpc.ServicerContext, send: Send) -> None:
        peer, session, _ = self._called(SessionRef, request, context)
        _answer_if_failed(session, context)
        if not session.accept(peer):
            reason = f"{peer} opened a second stream in this session"
            _abort(context, grpc.StatusCode.PERMISSION_DENIED, reason)
        if self.places is not None:
            self.places.begun(session)
        session.serve(peer, send, context)

    def _part(self, request: bytes, context: grpc.ServicerContext) -> bytes:
        peer, session, parting = self._called(Parting, request, context)
        session.part(peer, parting.farewell)
        return _PARTED

    def _reserve(self, request: bytes, context: grpc.ServicerContext) -> bytes:
        peer, session, asked = self._called(Reservation, request, context)
        _answer_if_failed(session, context)
        assert self.places is not None  # noqa: S101
        try:
            return bytes(self.places.reserve(peer, session, asked).SerializeToString())
        except RefusedError as error:
            _abort(context, grpc.StatusCode.PERMISSION_DENIED, str(error))

    def _compared(self, request: bytes, context: grpc.ServicerContext) -> bytes:
        peer, read = self._read(Received, request, context)
        try:
            digest = self.compare(peer, read.session, read.digest)
        except CoterieError as error:
            _abort(context, grpc.StatusCode.PERMISSION_DENIED, str(error))
        answer = Received(session=read.session, digest=digest)
        return bytes(answer.SerializeToString())

    def _read(self, kind: type[M], request: bytes, context: grpc.ServicerContext) -> tuple[str, M]:
        """Who calls, and the request."""
        try:
            peer = self._identify(context)
        except RefusedError as error:
            _abort(context, grpc.StatusCode.PERMISSION_DENIED, str(error))
        try:
            return peer, kind.FromString(request)
        except DecodeError:
            reason = f"{peer} sent bytes that are no request"
            _abort(context, grpc.StatusCode.INVALID_ARGUMENT, reason)

    def _called(
        self, kind: type[T], request: bytes, context: grpc.ServicerContext
    ) -> tuple[str, Session, T]:
        """Who calls, the session that is meant, and the request."""
        peer, read = self._read(kind, request, context)
        with self._lock:
            session = self._sessions.get(read.session)
        if session is None:
            words = self.places.ended(read.session) if self.places is not None else None
            if words is not None:
                _answer(words, context)
            _abort(context, grpc.StatusCode.NOT_FOUND, f"{self._me} knows no such session")
        if peer not in session.peers:
            reason = f"{peer} is no party of this session"
            _abort(context, grpc.StatusCode.PERMISSION_DENIED, reason)
        return peer, session, read


def _answer_if_failed(session: Session, context: grpc.ServicerContext) -> None:
    """Answers the caller of a failed session with the session's farewell."""
    words = session.last_words
    if words is not None:
        _answer(words, context)


def _answer(words: Farewell, context: grpc.ServicerContext) -> NoReturn:
    context.set_trailing_metadata(((FAREWELL, words.SerializeToString()),))
    _abort(context, grpc.StatusCode.FAILED_PRECONDITION, words.error)


def _abort(context: grpc.ServicerContext, code: grpc.StatusCode, reason: str) -> NoReturn:
    context.abort(code, reason)
    raise AssertionError("abort raises")
