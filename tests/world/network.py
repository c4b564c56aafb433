"""gRPC between the processes of the world: servers, channels, calls and streams.

The service's own handlers and the interceptors run as they do in gRPC; only the connection is
simulated. Messages take a little time, and keep their order within a stream. A call ends as gRPC
lets it end: by its answer, an abort, its deadline, a cancellation, or the loss of the connection.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from greenlet import GreenletExit

from tests.world.calls import AbortError, Call, CallError, Code, Context
from tests.world.tasks import Process, Scheduler, scheduler
from tests.world.threads import Event

KEEPALIVE = 90.0  # seconds after which a dead connection is noticed


class Server:
    """`grpc.server`."""

    def __init__(self, network: Network, interceptors: Sequence[Any]) -> None:
        self._network = network
        self._interceptors = interceptors
        self._handlers: list[Any] = []
        self._address = ""
        self.process = scheduler().task().process
        self.open: dict[Call, None] = {}

    def add_generic_rpc_handlers(self, handlers: Sequence[Any]) -> None:
        self._handlers += handlers

    def add_registered_method_handlers(self, service: str, handlers: Any) -> None:
        """The same handlers once more."""

    def add_secure_port(self, address: str, credentials: Any) -> int:
        self._address = address
        return 0 if address in self._network.servers else int(address.rpartition(":")[2])

    def start(self) -> None:
        self._network.servers[self._address] = self
        self.process.on_death.append(self.gone)

    def gone(self) -> None:
        """The connections break when the process is gone."""
        if self._network.servers.get(self._address) is self:
            del self._network.servers[self._address]
        for call in list(self.open):
            call.cut()
        self.open.clear()

    def stop(self, grace: float | None) -> Event:
        self._network.servers.pop(self._address, None)
        over = Event()

        def end() -> None:
            world = scheduler()
            until = world.now + (grace or 0.0)
            while self.open and world.now < until:
                world.sleep(0.05)
            for call in list(self.open):
                call.end(CallError(Code.CANCELLED, "the server stops"))
            over.set()

        scheduler().spawn(self.process, "rpc stop", end)
        return over

    def handle(self, call: Call, request: Any, certificate: bytes, path: str) -> None:
        """Answers a call, in a task of the server."""
        context = call.context = Context(call, certificate)
        self.open[call] = None
        ended = CallError(Code.OK, "")
        try:
            handler = self._find(path, 0)
            if handler is None:
                raise AbortError(Code.UNIMPLEMENTED, "Method not found!")
            self._network.faults.at_handler(self.process, call, "before")
            # The gate reads and decodes by itself what a call brings.
            told = iter([request] if isinstance(request, bytes) else request)
            self._network.on_request(call, request)
            write = handler.response_serializer or (lambda data: data)
            if handler.response_streaming:
                self._stream(handler, told, context, call, write)
            else:
                answer = write(handler.stream_unary(told, context))
                self._network.faults.at_handler(self.process, call, "after")
                call.answer(answer)
            self._network.faults.at_handler(self.process, call, "over")
        except AbortError as error:
            ended = CallError(*error.args, context.trailing)
        except GreenletExit:
            return
        except CallError:  # a client's stream of requests broke off
            ended = CallError(Code.CANCELLED, "the client is gone")
        except BaseException as error:
            if not context.is_active():  # the client is gone, and the handler noticed it its way
                return
            self._network.unnamed.append((f"{self.process.name}: {call.method}", error))
            ended = CallError(Code.UNKNOWN, f"Exception calling application: {error}")
        finally:
            self.open.pop(call, None)
        call.end(ended)

    def _stream(
        self, handler: Any, request: Any, context: Context, call: Call, write: Callable[..., Any]
    ) -> None:
        behaviour = handler.stream_stream
        if getattr(behaviour, "experimental_non_blocking", False):
            behaviour(request, context, _sender(call, context, write))
            return
        for answer in behaviour(request, context):
            call.answer(write(answer))
            if not context.is_active():
                return

    def _find(self, path: str, first: int) -> Any:
        details = _Details(path)
        if first < len(self._interceptors):
            return self._interceptors[first].intercept_service(
                lambda _: self._find(path, first + 1), details
            )
        for handlers in self._handlers:
            if (found := handlers.service(details)) is not None:
                return found
        return None


def _sender(call: Call, context: Context, write: Callable[..., Any]) -> Callable[[Any], None]:
    def send(message: Any) -> None:
        if message is None:
            call.end(CallError(Code.OK, ""))
        elif context.is_active():
            call.answer(write(message))

    return send


class _Details:
    def __init__(self, method: str) -> None:
        self.method = method
        self.invocation_metadata = ()


class Channel:
    """`grpc.Channel`."""

    def __init__(self, network: Network, address: str, certificate: bytes) -> None:
        self._network = network
        self._address = address
        self._certificate = certificate
        self._process = scheduler().task().process
        self._open: dict[Call, None] = {}

    def close(self) -> None:
        for call in list(self._open):
            call.cancel()

    def _begin(self, method: str, request: Any) -> Call:
        network, world = self._network, scheduler()
        party = network.names[self._address]
        call = Call(network, self._process, party, method)
        self._open[call] = None
        network.calls[call] = self._open
        world.pause()
        deliveries = network.faults.at_call(call)
        reached = network.reach(call, self._address)
        if not reached or not deliveries:
            return call
        arrival = network.arrival(call.client, network.servers[self._address].process, 0.0)
        for turn in range(deliveries):
            answered = call if turn == 0 else _copy(call)
            world.at(arrival + 0.01 * turn, self._arrive(answered, request, method))
        return call

    def _arrive(self, call: Call, request: Any, method: str) -> Callable[[], None]:
        network, address = self._network, self._address

        def arrive() -> None:
            server = network.servers.get(address)
            if server is None:
                call.cut("Connection reset by peer")
            elif call.open:
                call.server = server.process
                handle = lambda: server.handle(call, request, self._certificate, method)  # noqa: E731
                scheduler().spawn(server.process, f"rpc {call.method}", handle)

        return arrive

    def unary_unary(self, method: str, *codecs: Any, **named: Any) -> Callable[..., Any]:
        encode, decode = _codecs(codecs, named)

        def call_it(request: Any, timeout: float | None = None) -> Any:
            end = None if timeout is None else scheduler().now + timeout
            call = self._begin(method, encode(request))
            call.decode = decode
            answer = call.next_before(end)
            call._close(CallError(Code.OK, ""))
            self._network.answered(call, request, answer)
            return answer

        return call_it

    def unary_stream(self, method: str, *codecs: Any, **named: Any) -> Callable[..., Any]:
        encode, decode = _codecs(codecs, named)

        def call_it(request: Any, timeout: float | None = None) -> Call:
            call = self._begin(method, encode(request))

            def heard(data: bytes) -> Any:
                answer = decode(data)
                self._network.answered(call, request, answer)
                return answer

            call.decode = heard
            return call

        return call_it

    def stream_unary(self, method: str, *codecs: Any, **named: Any) -> Callable[..., Any]:
        unary = self.unary_unary(method, lambda data: data, named["response_deserializer"])
        encode = named["request_serializer"]

        def call_it(requests: Any, timeout: float | None = None) -> Any:
            return unary([encode(request) for request in requests], timeout)

        return call_it


def _copy(call: Call) -> Call:
    """The same call once more, whose answer nobody hears."""
    return Call(call.network, call.client, call.party, call.method)


def _codecs(codecs: Sequence[Any], named: dict[str, Any]) -> tuple[Any, Any]:
    encode, decode = [*codecs, None, None][:2]
    encode = named.get("request_serializer", encode)
    decode = named.get("response_deserializer", decode)
    return encode or (lambda data: data), decode or (lambda data: data)


class Network:
    """All servers by their addresses, and what lies between two processes."""

    def __init__(self, world: Scheduler, names: dict[str, str], faults: Any, lists: Path) -> None:
        """`lists`: where the coordinators of the world keep the lists of their runs."""
        self._world = world
        self.latency = 0.0  # seconds that every message takes at least
        self.lists = lists
        self.names = names  # by address
        self.faults = faults
        self.servers: dict[str, Server] = {}
        self.calls: dict[Call, dict[Call, None]] = {}  # that a client waits for
        self.unnamed: list[tuple[str, BaseException]] = []
        self.on_request: Callable[[Call, Any], None] = lambda call, request: None
        self.on_answer: Callable[[Call, Any, Any], None] = lambda call, request, answer: None
        self.apart: dict[frozenset[str], float] = {}  # until when two processes hear nothing
        self.slow: dict[frozenset[str], tuple[float, float]] = {}  # until when, and how slow
        self.counted: Counter[str] = Counter()

    def reach(self, call: Call, address: str) -> bool:
        """Whether the called party can be reached now; if not, the call ends as it must."""
        self.counted[call.method] += 1
        server = self.servers.get(address)
        pair = frozenset((call.client.name, call.party))
        if self.apart.get(pair, 0.0) > self._world.now:
            self._world.at(self._world.now + KEEPALIVE, lambda: call.cut("keepalive timeout"))
            return False
        if server is None:
            self._world.at(self._world.now + 0.01, lambda: call.cut("Connection refused"))
            return False
        return True

    def arrival(self, source: Process | None, target: Process | None, after: float) -> float:
        """When a message that is sent now arrives, not before the one that was sent before it."""
        now = self._world.now
        pair = frozenset((source.name if source else "", target.name if target else ""))
        late = self.latency + 0.001 + 0.004 * self._world.random.random()
        until = self.apart.get(pair, 0.0)
        if until > now:
            late += until - now
        if pair in self.slow and self.slow[pair][0] > now:
            late += self.slow[pair][1] * self._world.random.random()
        return max(now + late, after)

    def part(self, one: str, other: str, seconds: float) -> None:
        """Nothing passes between two processes for a while; TCP repeats it afterwards."""
        self.apart[frozenset((one, other))] = self._world.now + seconds

    def in_passing(self, call: Call, message: bytes) -> bytes:
        """A message of a server as it arrives."""
        changed: bytes = self.faults.in_passing(call, message)
        return changed

    def answered(self, call: Call, request: Any, answer: Any) -> None:
        if call.client.alive:
            self.on_answer(call, request, answer)

    def closed(self, call: Call) -> None:
        siblings = self.calls.pop(call, None)
        if siblings is not None:
            siblings.pop(call, None)

    def client_gone(self, process: Process) -> None:
        """The servers notice that the connections of a process broke."""
        for call in [call for call in self.calls if call.client is process]:
            context = call.context
            call.status = CallError(Code.CANCELLED, "gone")
            self.closed(call)
            if context is not None:
                self._world.at(self._world.now + 0.005, lambda c=context: c.close(Code.CANCELLED))

    # What the product takes from `grpc`.

    def server(self, pool: Any, interceptors: Sequence[Any] = (), **_: Any) -> Server:
        return Server(self, interceptors)

    def secure_channel(self, address: str, credentials: bytes, options: Any = None) -> Channel:
        return Channel(self, address, credentials)

    def ssl_channel_credentials(self, root: bytes, key: bytes, certificate: bytes) -> bytes:
        return certificate

    def dynamic_ssl_server_credentials(self, *_: Any) -> None:
        pass

    def ssl_server_certificate_configuration(self, *_: Any) -> None:
        pass
