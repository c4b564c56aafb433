"""Transports around a transport, to count messages. They compose in any order."""

from __future__ import annotations

from dataclasses import dataclass

from coterie.protocols.messaging.channel import Message, Transport
from coterie.protocols.messaging.wire import size_of


class Wrapper:
    """Passes every message on; the base class of the other wrappers."""

    def __init__(self, inner: Transport) -> None:
        self.inner = inner

    @property
    def me(self) -> str:
        return self.inner.me

    @property
    def peers(self) -> tuple[str, ...]:
        return self.inner.peers

    def transmit(self, peer: str, message: Message) -> None:
        self.inner.transmit(peer, message)

    def receive(self, peer: str) -> Message:
        return self.inner.receive(peer)


@dataclass
class Traffic:
    """The traffic of one party. A round is the first message received after one was sent."""

    sent_bytes: int = 0
    received_bytes: int = 0
    sent_messages: int = 0
    received_messages: int = 0
    rounds: int = 0


class Metered(Wrapper):
    """Counts bytes of message bodies, messages and rounds: in all, by step in `by_step`, and to each peer."""

    def __init__(self, inner: Transport) -> None:
        super().__init__(inner)
        self.total = Traffic()
        self.by_step: dict[str, Traffic] = {}
        self.sent_to = dict.fromkeys(inner.peers, 0)  # bytes
        self._sending = True

    def transmit(self, peer: str, message: Message) -> None:
        size = size_of(message.body)
        for traffic in (self.total, self.by_step.setdefault(message.step, Traffic())):
            traffic.sent_bytes += size
            traffic.sent_messages += 1
        self.sent_to[peer] = self.sent_to.get(peer, 0) + size
        self._sending = True
        self.inner.transmit(peer, message)

    def receive(self, peer: str) -> Message:
        message = self.inner.receive(peer)
        for traffic in (self.total, self.by_step.setdefault(message.step, Traffic())):
            traffic.received_bytes += size_of(message.body)
            traffic.received_messages += 1
            traffic.rounds += self._sending
        self._sending = False
        return message
