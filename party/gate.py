"""The gate of a server: every call of every service passes here, and asks `Admission` first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import grpc

from coterie.base.errors import RefusedError
from coterie.party.admission import STRANGERS, Admission, TooMuchError
from coterie.party.config import PartyConfig
from coterie.protos import jobs_pb2 as pb
from coterie.trust.identity import caller_of

HEALTH = "/grpc.health.v1.Health/Check"
_PEERS = "/coterie.v1.Peers/"
_REFUSED = {
    grpc.StatusCode.PERMISSION_DENIED,
    grpc.StatusCode.NOT_FOUND,
    grpc.StatusCode.INVALID_ARGUMENT,
    grpc.StatusCode.UNIMPLEMENTED,
}


class Gate(grpc.ServerInterceptor):  # type: ignore[misc]
    """Admits a call, counts how it ended, and gives back its place."""

    def __init__(self, admission: Admission, config: Callable[[], PartyConfig]) -> None:
        self._admission = admission
        self._config = config

    def intercept_service(self, continuation: Any, details: Any) -> Any:
        handler = continuation(details)
        if handler is None:
            return None
        for kind in ("unary_unary", "unary_stream", "stream_unary", "stream_stream"):
            behaviour = getattr(handler, kind)
            if behaviour is not None:
                guarded = self._guarded(behaviour, details.method)
                return handler._replace(**{kind: guarded})
        return handler

    def _guarded(self, behaviour: Any, method: str) -> Any:
        def guarded(request: Any, context: grpc.ServicerContext, *more: Any) -> Any:
            name, hasty = self._account_of(context, method)
            if name is None:
                return behaviour(request, context, *more)
            try:
                self._admission.enter(name, _size(request), hasty=hasty)
            except TooMuchError as error:
                context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, str(error))

            def left() -> None:
                self._admission.leave(name)
                if context.code() in _REFUSED and not hasty:
                    self._admission.refused(name)

            if not context.add_callback(left):
                left()
            answer = behaviour(request, context, *more)
            if isinstance(answer, pb.Decision) and answer.state == pb.REFUSED:
                self._admission.refused(name)
            return answer

        for mark in ("experimental_non_blocking", "experimental_thread_pool"):
            if hasattr(behaviour, mark):
                setattr(guarded, mark, getattr(behaviour, mark))
        return guarded

    def _account_of(self, context: grpc.ServicerContext, method: str) -> tuple[str | None, bool]:
        """Whose account a call is on, None for nobody's; and whether its caller may call at will."""
        config = self._config()
        try:
            caller = caller_of(context)
        except RefusedError:
            return STRANGERS, False
        if caller.name == config.name and caller.fingerprint == config.identity.fingerprint:
            return None, False
        if caller.name in config.peers:
            return (None, False) if method == HEALTH else (caller.name, method.startswith(_PEERS))
        if caller.name in config.policy.coordinators:
            return (None, False) if method == HEALTH else (caller.name, False)
        return STRANGERS, False


def _size(request: Any) -> int:
    if isinstance(request, bytes):
        return len(request)
    return int(request.ByteSize()) if hasattr(request, "ByteSize") else 0
