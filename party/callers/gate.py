"""The interceptor of a server: `Admission` decides about every call of every service.

A caller with a revoked certificate is refused, whatever it calls.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import grpc

from coterie.base.errors import RefusedError
from coterie.party.callers.admission import STRANGERS, Admission, TooMuchError
from coterie.party.config import PartyConfig
from coterie.protos import jobs_pb2 as pb
from coterie.trust.identity import Caller, caller_of

HEALTH = "/grpc.health.v1.Health/Check"
REVOKED = "the certificate was revoked"
_PEERS = "/coterie.v1.Peers/"
_REFUSED = {
    grpc.StatusCode.PERMISSION_DENIED,
    grpc.StatusCode.NOT_FOUND,
    grpc.StatusCode.INVALID_ARGUMENT,
    grpc.StatusCode.UNIMPLEMENTED,
}


class Gate(grpc.ServerInterceptor):  # type: ignore[misc]
    """Admits a call, counts a refusal, and frees the call's place when it ends."""

    def __init__(
        self,
        admission: Admission,
        config: Callable[[], PartyConfig],
        revoked: Callable[[Caller], None],
    ) -> None:
        self._admission = admission
        self._config = config
        self._revoked = revoked

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
            name, hasty, revoked = self._account_of(context, method)
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
            if revoked is not None:
                self._revoked(revoked)
                reason = f"{REVOKED} that '{revoked.name}' shows"
                context.abort(grpc.StatusCode.PERMISSION_DENIED, reason)
            answer = behaviour(request, context, *more)
            if isinstance(answer, pb.Decision) and answer.state == pb.REFUSED:
                self._admission.refused(name)
            return answer

        for mark in ("experimental_non_blocking", "experimental_thread_pool"):
            if hasattr(behaviour, mark):
                setattr(guarded, mark, getattr(behaviour, mark))
        return guarded

    def _account_of(
        self, context: grpc.ServicerContext, method: str
    ) -> tuple[str | None, bool, Caller | None]:
        """The account of a call, whether its rate is unlimited, and a revoked caller.

        The account is None for calls that are not limited: the operator's, and known callers' health
        checks. The third result is the caller, if its certificate was revoked.
        """
        config = self._config()
        try:
            caller = caller_of(context)
        except RefusedError:
            return STRANGERS, False, None
        if caller.serial in config.identity.revoked:
            return STRANGERS, False, caller
        if config.is_operator(caller):
            return None, False, None
        if caller.name in config.peers:
            at_will = method.startswith(_PEERS)
            return (None, False, None) if method == HEALTH else (caller.name, at_will, None)
        if caller.name in config.any_policy.coordinators:
            return (None, False, None) if method == HEALTH else (caller.name, False, None)
        return STRANGERS, False, None


def _size(request: Any) -> int:
    if isinstance(request, bytes):
        return len(request)
    return int(request.ByteSize()) if hasattr(request, "ByteSize") else 0
