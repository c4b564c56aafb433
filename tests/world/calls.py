"""One call over the simulated network: the client's end, the server's end, and how it ends."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import grpc

from tests.world.tasks import Process, Signal, scheduler

_WINDOW = 64  # messages of a stream that wait to be read, before the sender waits
Code = grpc.StatusCode


class CallError(grpc.RpcError, grpc.Call):
    """How a call failed, as a client sees it."""

    def __init__(self, code: Any, details: str, trailing: Sequence[tuple[str, Any]] = ()) -> None:
        super().__init__(code, details)
        self._code, self._details, self._trailing = code, details, tuple(trailing)

    def __str__(self) -> str:
        return f"{self._code}: {self._details}"

    def code(self) -> Any:
        return self._code

    def details(self) -> str:
        return self._details

    def trailing_metadata(self) -> Any:
        return self._trailing


for _name in list(CallError.__abstractmethods__):
    setattr(CallError, _name, lambda self, *_: None)
CallError.__abstractmethods__ = frozenset()


class AbortError(Exception):
    """A handler has ended its call."""


class Call:
    """One call, seen from both ends. As an iterator, it is the client's stream."""

    def __init__(self, network: Any, client: Process, party: str, method: str) -> None:
        self.network = network
        self.client = client
        self.server: Process | None = None
        self.party = party  # the name of the called one
        self.method = method.rpartition("/")[2]
        self.answers: deque[tuple[float, Any]] = deque()  # with the times of their arrival
        self.news = Signal()  # for the client
        self.room = Signal()  # for the server
        self.status: CallError | None = None  # as the client has it
        self.context: Context | None = None
        self._ended: tuple[float, CallError] | None = None  # on its way to the client
        self._last = 0.0  # when the newest answer arrives
        self.decode: Callable[[bytes], Any] = lambda data: data
        self.sent = 0  # messages of the server

    # The server's end.

    def answer(self, message: bytes) -> None:
        world = scheduler()
        self.sent += 1
        message = self.network.in_passing(self, message)
        while len(self.answers) >= _WINDOW and self.open:
            world.wait(self.room, 1.0)
        if self.open:
            arrival = self.network.arrival(self.server, self.client, self._last)
            self._last = arrival
            self.answers.append((arrival, message))
            self.news.wake()

    @property
    def open(self) -> bool:
        return self._ended is None and self.status is None

    def end(self, error: CallError) -> None:
        """The server ends the call; what it has answered arrives before."""
        if self.open:
            arrival = self.network.arrival(self.server, self.client, self._last)
            self._ended = arrival, error
            self.news.wake()
        if self.context is not None:
            self.context.close(error.code())

    def cut(self, details: str = "Socket closed") -> None:
        """The connection is gone, for both ends."""
        if self.open:
            self.answers.clear()
            self._ended = scheduler().now, CallError(Code.UNAVAILABLE, details)
            self.news.wake()
        if self.context is not None:
            self.context.close(Code.CANCELLED)

    # The client's end.

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        return self.next_before(None)

    def next_before(self, end: float | None) -> Any:
        world = scheduler()
        while True:
            world.task()
            if self.status is not None:
                raise _raised(self.status)
            due = None
            if self.answers:
                due = self.answers[0][0]
                if due <= world.now:
                    message = self.answers.popleft()[1]
                    self.room.wake()
                    return self.decode(message)
            elif self._ended is not None:
                due = self._ended[0]
                if due <= world.now:
                    self._close(self._ended[1])
                    continue
            if end is not None and world.now >= end:
                self._close(CallError(Code.DEADLINE_EXCEEDED, "Deadline Exceeded"))
                self._tell_server()
                continue
            moments = [moment for moment in (due, end) if moment is not None]
            world.wait(self.news, min(moments) - world.now if moments else None)

    def _close(self, status: CallError) -> None:
        if self.status is None:
            self.status = status
            self.network.closed(self)

    def cancel(self) -> bool:
        if self.status is None:
            self._close(CallError(Code.CANCELLED, "Locally cancelled by application!"))
            self.news.wake()
            self._tell_server()
        return True

    def _tell_server(self) -> None:
        context, self._ended = self.context, self._ended or (0.0, self.status)
        if context is not None and self.server is not None and self.server.alive:
            arrival = self.network.arrival(self.client, self.server, 0.0)
            scheduler().at(arrival, lambda: context.close(Code.CANCELLED))

    def code(self) -> Any:
        return self.status.code() if self.status else None

    def details(self) -> str | None:
        return self.status.details() if self.status else None

    def trailing_metadata(self) -> Any:
        return self.status.trailing_metadata() if self.status else ()


def _raised(status: CallError) -> BaseException:
    if status.code() == Code.OK:
        return StopIteration()
    return CallError(status.code(), status.details(), status.trailing_metadata())


class Context:
    """The server's view of a call: what the product uses of `grpc.ServicerContext`."""

    def __init__(self, call: Call, certificate: bytes) -> None:
        self._call = call
        self._certificate = certificate
        self._callbacks: list[Callable[[], None]] = []
        self._code: Any = None
        self._over = False
        self.trailing: Sequence[tuple[str, Any]] = ()

    def auth_context(self) -> dict[str, list[bytes]]:
        return {"x509_pem_cert": [self._certificate]}

    def is_active(self) -> bool:
        return not self._over

    def add_callback(self, callback: Callable[[], None]) -> bool:
        if self._over:
            return False
        self._callbacks.append(callback)
        return True

    def set_trailing_metadata(self, metadata: Sequence[tuple[str, Any]]) -> None:
        self.trailing = metadata

    def abort(self, code: Any, details: str) -> None:
        self._code = code
        raise AbortError(code, details)

    def code(self) -> Any:
        return self._code

    def cancel(self) -> None:
        self._call.end(CallError(Code.CANCELLED, "cancelled by the server"))

    def close(self, code: Any) -> None:
        """The call is over; whoever wants to know is told by another thread."""
        if not self._over:
            self._over = True
            self._code = self._code or code
            self._call.room.wake()
            server = self._call.server
            if server is not None and server.alive and self._callbacks:
                scheduler().spawn(server, "rpc over", self._tell)

    def _tell(self) -> None:
        for callback in self._callbacks:
            callback()
