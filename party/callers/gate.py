"""The interceptor of a server: `Admission` decides about every call of every service.

It decides before a message of the call is read, and gRPC takes in no more than a window of a message
that nobody reads. So every handler becomes one of a stream of undecoded messages, which is the same
on the wire. A message is counted before it is decoded; one that cannot be decoded is a refusal. The
messages of strangers are not read: an empty one stands for each.

A caller with a revoked certificate is refused, whatever it calls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import grpc
from google.protobuf.message import DecodeError

from coterie.base.errors import RefusedError
from coterie.party.callers.admission import STRANGERS, Admission, TooMuchError
from coterie.party.config import PartyConfig
from coterie.protos import jobs_pb2 as pb
from coterie.transport.call_errors import REVOKED
from coterie.trust.identity import Caller, caller_of

HEALTH = "/grpc.health.v1.Health/Check"
_PEERS = "/coterie.v1.Peers/"
_REFUSED = {
    grpc.StatusCode.PERMISSION_DENIED,
    grpc.StatusCode.NOT_FOUND,
    grpc.StatusCode.INVALID_ARGUMENT,
    grpc.StatusCode.UNIMPLEMENTED,
}


@dataclass(frozen=True)
class _Seen:
    """A caller, as far as it matters to the gate."""

    account: str | None
    hasty: bool = False  # its rate is not limited
    read: bool = True  # its messages are read
    revoked: Caller | None = None


class Gate(grpc.ServerInterceptor):  # type: ignore[misc]
    """Admits a call, counts a refusal, and frees the call's place when it ends."""

    def __init__(
        self,
        admission: Admission,
        config: Callable[[], PartyConfig],
        revoked: Callable[[Caller], None],
        acquainted: Callable[[str], bool],
    ) -> None:
        self._admission = admission
        self._config = config
        self._revoked = revoked
        self._acquainted = acquainted  # from jobs here, though no file in force has the name

    def intercept_service(self, continuation: Any, details: Any) -> Any:
        handler = continuation(details)
        if handler is None:
            return None
        answers = "stream" if handler.response_streaming else "unary"
        behaviour = getattr(
            handler, f"{'stream' if handler.request_streaming else 'unary'}_{answers}"
        )
        make = getattr(grpc, f"stream_{answers}_rpc_method_handler")
        guarded = self._guarded(behaviour, handler, details.method)
        return make(guarded, response_serializer=handler.response_serializer)

    def _guarded(self, behaviour: Any, handler: Any, method: str) -> Any:
        decode = handler.request_deserializer or bytes

        def guarded(messages: Iterator[bytes], context: grpc.ServicerContext, *more: Any) -> Any:
            seen = self._seen(context, method)
            name, revoked = seen.account, seen.revoked
            if name is not None:
                self._enter(name, seen.hasty, context)
            if revoked is not None:
                self._revoked(revoked)
                reason = f"{REVOKED} that '{revoked.name}' shows"
                context.abort(grpc.StatusCode.PERMISSION_DENIED, reason)
            requests = self._requests(name, messages, decode, context)
            if handler.request_streaming:
                request: Any = requests if seen.read else iter(())
            elif not seen.read:
                request = decode(b"")
            else:
                request = next(requests, None)
                if request is None:
                    context.abort(grpc.StatusCode.INVALID_ARGUMENT, "a call without a message")
            answer = behaviour(request, context, *more)
            if name is not None and isinstance(answer, pb.Decision) and answer.state == pb.REFUSED:
                self._admission.refused(name)
            return answer

        for mark in ("experimental_non_blocking", "experimental_thread_pool"):
            if hasattr(behaviour, mark):
                setattr(guarded, mark, getattr(behaviour, mark))
        return guarded

    def _enter(self, name: str, hasty: bool, context: grpc.ServicerContext) -> None:
        """Admits a call until it ends, or ends it."""
        try:
            self._admission.enter(name, hasty=hasty)
        except TooMuchError as error:
            context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, str(error))

        def left() -> None:
            self._admission.leave(name)
            if context.code() in _REFUSED and not hasty:
                self._admission.refused(name)

        if not context.add_callback(left):
            left()

    def _requests(
        self,
        name: str | None,
        messages: Iterator[bytes],
        decode: Callable[[bytes], Any],
        context: grpc.ServicerContext,
    ) -> Iterator[Any]:
        """The messages of a call, each counted and then decoded."""
        for message in messages:
            try:
                if name is not None:
                    self._admission.took(name, len(message))
                request = decode(message)
            except TooMuchError as error:
                context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, str(error))
            except (DecodeError, UnicodeError):
                reason = "the message cannot be decoded; is it of another version of Coterie?"
                context.abort(grpc.StatusCode.INVALID_ARGUMENT, reason)
            del message  # of up to 64 MB
            yield request

    def _seen(self, context: grpc.ServicerContext, method: str) -> _Seen:
        """Who calls. The operator's calls, and known callers' health checks, have no account."""
        config = self._config()
        try:
            caller = caller_of(context)
        except RefusedError:
            return _Seen(STRANGERS, read=False)
        if caller.serial in config.identity.revoked:
            return _Seen(STRANGERS, read=False, revoked=caller)
        if config.is_operator(caller):
            return _Seen(None)
        known = caller.name in config.peers or caller.name in config.any_policy.coordinators
        if not known:
            return _Seen(STRANGERS, read=self._acquainted(caller.name))
        if method == HEALTH:
            return _Seen(None)
        at_will = method.startswith(_PEERS) and caller.name in config.peers
        return _Seen(caller.name, hasty=at_will)
