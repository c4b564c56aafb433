"""Parties in one process: the transport of tests and of `coterie simulate`.

Messages are encoded and copied as on a real network, so that no two parties share an array.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from coterie.base.errors import PeerLostError
from coterie.protocols.messaging.channel import Channel, Message, ProgressListener, Transport

T = TypeVar("T")


class MemoryNetwork:
    """Mailboxes for every ordered pair of the named parties."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self._changed = threading.Condition()
        self._boxes: dict[tuple[str, str], deque[Message]] = {
            (a, b): deque() for a in names for b in names if a != b
        }
        self._gone: dict[str, str] = {}

    def transport(self, name: str) -> MemoryTransport:
        return MemoryTransport(self, name)

    def put(self, sender: str, receiver: str, message: Message) -> None:
        body = bytearray().join(message.body)
        copy = Message(message.session, message.step, message.sequence, [body])
        with self._changed:
            self._boxes[sender, receiver].append(copy)
            self._changed.notify_all()

    def get(self, sender: str, receiver: str) -> Message:
        box = self._boxes[sender, receiver]
        with self._changed:
            while not box:
                if sender in self._gone:
                    raise PeerLostError(sender, "", self._gone[sender])
                self._changed.wait()
            return box.popleft()

    def leave(self, name: str, reason: str) -> None:
        """Notes that this party sends nothing more, and why, for those who wait for it."""
        with self._changed:
            self._gone.setdefault(name, reason)
            self._changed.notify_all()


class MemoryTransport:
    """One party's end of a `MemoryNetwork`."""

    def __init__(self, network: MemoryNetwork, name: str) -> None:
        self._network = network
        self.me = name
        at = network.names.index(name)
        self.peers = network.names[at + 1 :] + network.names[:at]

    def transmit(self, peer: str, message: Message) -> None:
        self._network.put(self.me, peer, message)

    def receive(self, peer: str) -> Message:
        return self._network.get(peer, self.me)


def run_parties(
    functions: Mapping[str, Callable[[Channel], T]],
    *,
    session: str = "memory",
    wrap: Callable[[Transport], Transport] = lambda transport: transport,
    on_progress: Callable[[str], ProgressListener | None] = lambda name: None,
) -> dict[str, T]:
    """Runs every party's function in a thread of its own and returns what each returned.

    `wrap` is applied to each party's transport. When parties fail, the error raised is the first
    one that is not merely the loss of another party.
    """
    network = MemoryNetwork(list(functions))

    def run(name: str) -> T:
        try:
            channel = Channel(wrap(network.transport(name)), session, on_progress(name))
            result = functions[name](channel)
        except BaseException as error:
            network.leave(name, f"stopped: {error}")
            raise
        network.leave(name, "has finished and sends nothing more")
        return result

    with ThreadPoolExecutor(len(functions)) as pool:
        futures = {name: pool.submit(run, name) for name in functions}
    errors: list[BaseException] = [e for f in futures.values() if (e := f.exception())]
    if errors:
        raise next((e for e in errors if not isinstance(e, PeerLostError)), errors[0])
    return {name: future.result() for name, future in futures.items()}


def run_same(
    names: Sequence[str], function: Callable[[Channel], Any], **options: Any
) -> dict[str, Any]:
    """`run_parties` where every party runs the same function."""
    return run_parties(dict.fromkeys(names, function), **options)
