"""Runs of an intersection in memory: honest, watched, and with a party that tampers with messages."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from coterie.protocols.intersection.intersect import intersect
from coterie.protocols.messaging.channel import Message, Transport
from coterie.protocols.messaging.memory import run_parties
from coterie.protocols.messaging.wire import decode, encode
from coterie.protocols.messaging.wrappers import Wrapper
from coterie.protocols.primitives.randomness import Random

NAMES = [f"party{i}" for i in range(10)]


def run(sets: list[list[bytes]], seed: str = "s", wrap=lambda transport: transport, **options):
    """The rows each party gets, in a list."""
    own = options.pop("own", {})
    on_progress = options.pop("on_progress", lambda name: None)
    names = NAMES[: len(sets)]

    def party(name: str, values: list[bytes]) -> Callable:
        settings = {**options, **own.get(name, {})}
        return lambda channel: intersect(channel, names, values, Random(seed + name), **settings)

    functions = {name: party(name, values) for name, values in zip(names, sets, strict=True)}
    return list(run_parties(functions, wrap=wrap, on_progress=on_progress).values())


def check(sets: list[list[bytes]], **options) -> list[bytes]:
    """What comes out is what set arithmetic says, in one order at all parties."""
    found = [
        [values[row] for row in rows]
        for values, rows in zip(sets, run(sets, **options), strict=True)
    ]
    assert all(one == found[0] for one in found)
    assert len(set(found[0])) == len(found[0])
    assert set(found[0]) == set.intersection(*map(set, sets))
    return found[0]


Change = Callable[[list[Any]], list[Any] | None]


@dataclass
class Tampering(Wrapper):
    """Changes the `number`-th message of a step (its last part) that one party sends."""

    inner: Transport
    cheater: str
    step: str
    number: int
    change: Change
    to: str | None = None
    seen: int = field(default=0, init=False)
    done: bool = field(default=False, init=False)

    def transmit(self, peer: str, message: Message) -> None:
        if (
            self.me == self.cheater
            and message.step.split("/")[-1] == self.step
            and self.to in (None, peer)
        ):
            if self.seen == self.number:
                self.done = True
                values = decode(b"".join(message.body))
                values = self.change(
                    [np.array(v) if isinstance(v, np.ndarray) else v for v in values]
                )
                message = Message(message.session, message.step, message.sequence, encode(values))
            self.seen += 1
        self.inner.transmit(peer, message)
