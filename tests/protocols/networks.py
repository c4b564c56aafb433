"""The two ways of connecting parties, with one face, for the contract suite."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Protocol

from coterie.protocols.messaging.channel import Channel, Transport
from coterie.protocols.messaging.memory import MemoryNetwork
from coterie.transport.session import Heartbeat
from tests.protocols.wrappers import KilledError
from tests.transport.links import GrpcNetwork

NAMES = ("a", "b", "c")
SESSIONS = (f"session-{number}" for number in itertools.count())


class Network(Protocol):
    """Transports of one session after the other."""

    def open(self, session: str) -> dict[str, Any]: ...
    def finish(self, name: str, transport: Any) -> None: ...
    def fail(self, name: str, transport: Any, error: BaseException) -> None: ...
    def close(self) -> None: ...


class Memory:
    def __init__(self) -> None:
        self.network = MemoryNetwork(NAMES)

    def open(self, session: str) -> dict[str, Any]:
        self.network = MemoryNetwork(NAMES)
        return {name: self.network.transport(name) for name in NAMES}

    def finish(self, name: str, transport: Any) -> None:
        self.network.leave(name, "has finished and sends nothing more")

    def fail(self, name: str, transport: Any, error: BaseException) -> None:
        self.network.leave(name, f"stopped: {error}")

    def close(self) -> None:
        pass


class Grpc:
    def __init__(self, folder: Path) -> None:
        self.network = GrpcNetwork(folder, NAMES, Heartbeat(0.1, 6.0))  # some tests wait that long

    def open(self, session: str) -> dict[str, Any]:
        return dict(self.network.sessions(session))

    def finish(self, name: str, transport: Any) -> None:
        transport.finish()

    def fail(self, name: str, transport: Any, error: BaseException) -> None:
        if isinstance(error, KilledError):  # a killed process has no last words
            transport.close(0)
        else:
            transport.fail(error)

    def close(self) -> None:
        self.network.close()


def run(
    network: Network,
    functions: dict[str, Callable[[Channel], Any]],
    wrap: Callable[[str, Transport], Transport] = lambda name, transport: transport,
) -> dict[str, Any]:
    """Runs every party's function and returns its result, or the error it ended with."""
    session = next(SESSIONS)
    transports = network.open(session)

    def one(name: str) -> Any:
        transport = transports[name]
        try:
            result = functions[name](Channel(wrap(name, transport), session))
            network.finish(name, transport)
            return result
        except BaseException as error:
            network.fail(name, transport, error)
            return error

    with ThreadPoolExecutor(len(functions)) as pool:
        futures = {name: pool.submit(one, name) for name in functions}
    for transport in transports.values():
        if hasattr(transport, "close"):
            transport.close(0.5)
    return {name: future.result() for name, future in futures.items()}
