"""Transports around a transport, to trace or disturb messages. They compose in any order."""

from __future__ import annotations

import hashlib
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from coterie.base.errors import PeerLostError
from coterie.protocols.messaging.channel import Message, Transport
from coterie.protocols.messaging.wire import size_of
from coterie.protocols.messaging.wrappers import Wrapper


@dataclass(frozen=True)
class Entry:
    """One line of a transcript: digests and sizes, never bodies."""

    direction: Literal["sent", "received"]
    peer: str
    step: str
    sequence: int
    size: int
    digest: str
    chain: str


@dataclass(frozen=True)
class Capture:
    """A whole message, kept for tests on what the wire reveals."""

    direction: Literal["sent", "received"]
    peer: str
    step: str
    body: bytes


class Traced(Wrapper):
    """Chains a digest over everything sent and received.

    chain(i) = SHA-256(chain(i-1), direction, peer, session, step, sequence, SHA-256(body)), each
    text preceded by its length. `capture` also keeps the bodies, for tests.
    """

    def __init__(self, inner: Transport, capture: bool = False) -> None:
        super().__init__(inner)
        self.entries: list[Entry] = []
        self.captured: list[Capture] = []
        self._capture = capture
        self._chain = bytes(32)

    @property
    def chain(self) -> str:
        return self._chain.hex()

    def transmit(self, peer: str, message: Message) -> None:
        self._note("sent", peer, message)
        self.inner.transmit(peer, message)

    def receive(self, peer: str) -> Message:
        message = self.inner.receive(peer)
        self._note("received", peer, message)
        return message

    def _note(self, direction: Literal["sent", "received"], peer: str, message: Message) -> None:
        body = hashlib.sha256()
        for buffer in message.body:
            body.update(buffer)
        digest = body.digest()
        self._chain = chain_digest(
            self._chain, direction, peer, message.session, message.step, message.sequence, digest
        )
        size = size_of(message.body)
        self.entries.append(
            Entry(direction, peer, message.step, message.sequence, size, digest.hex(), self.chain)
        )
        if self._capture:
            self.captured.append(Capture(direction, peer, message.step, b"".join(message.body)))


def chain_digest(
    previous: bytes,
    direction: str,
    peer: str,
    session: str,
    step: str,
    sequence: int,
    digest: bytes,
) -> bytes:
    """The next link of a transcript's hash chain; also what a verifier recomputes."""
    link = hashlib.sha256(previous)
    for text in (direction, peer, session, step):
        data = text.encode()
        link.update(struct.pack("<Q", len(data)) + data)
    link.update(struct.pack("<Q", sequence) + digest)
    return link.digest()


FaultKind = Literal["delay", "drop", "repeat", "cut", "kill-before", "kill-after", "garble"]


@dataclass
class Fault:
    """What to do to the message number `at` of those that this party sends and receives."""

    kind: FaultKind
    at: int
    seconds: float = 0.05


class KilledError(BaseException):
    """The party is gone: as if its process had been killed. Not caught by protocol code."""


@dataclass
class Faulty(Wrapper):
    """Does one thing wrong at the n-th message sent or received, counted together.

    delay: late. drop: not sent. repeat: sent twice. garble: one byte of the body changed.
    cut: no message passes from then on. kill-before, kill-after: the party dies before or after
    handling the message.
    """

    inner: Transport
    fault: Fault
    sleep: Callable[[float], None] = time.sleep
    handled: int = field(default=0, init=False)

    def transmit(self, peer: str, message: Message) -> None:
        hit = self._hit()
        if hit == "garble":
            body = bytearray().join(message.body)
            if body:
                body[len(body) // 2] ^= 0x55
            message = Message(message.session, message.step, message.sequence, [body])
        if hit != "drop":
            self.inner.transmit(peer, message)
        if hit == "repeat":
            self.inner.transmit(peer, message)
        self._after(hit)

    def receive(self, peer: str) -> Message:
        hit = self._hit()
        message = self.inner.receive(peer)
        if hit == "drop":
            message = self.inner.receive(peer)
        self._after(hit)
        return message

    def _hit(self) -> FaultKind | None:
        number = self.handled
        self.handled += 1
        if self.fault.kind == "cut" and number >= self.fault.at:
            raise PeerLostError(self.me, "", "was cut off")
        if number != self.fault.at:
            return None
        if self.fault.kind == "delay":
            self.sleep(self.fault.seconds)
        if self.fault.kind == "kill-before":
            raise KilledError
        return self.fault.kind

    def _after(self, hit: FaultKind | None) -> None:
        if hit == "kill-after":
            raise KilledError
