"""Sets to intersect, and runs whose messages are watched."""

import random

from coterie.protocols.intersection.intersect import intersect
from coterie.protocols.messaging.wire import encode
from tests.protocols.intersection.intersections import NAMES
from tests.views import watch

WAYS = [("ring", "intersection"), ("oprf", "intersection"), ("ring", "pairwise")]


def numbered(*groups) -> list[list[bytes]]:
    return [[str(value).encode() for value in group] for group in groups]


def drawn(parties: int, size: int, seed: int) -> list[list[bytes]]:
    rng = random.Random(seed)
    return numbered(*(rng.sample(range(int(size * 1.3)), size) for _ in range(parties)))


def watched(sets, seed=0, **options) -> dict[str, list[tuple[str, str, list]]]:
    """For each party what it sent: to whom, in which step, and the values."""
    names = NAMES[: len(sets)]

    def party(own):
        return lambda channel, rng: intersect(channel, names, own, rng, **options)

    views = watch({n: party(own) for n, own in zip(names, sets, strict=True)}, str(seed))
    return {
        name: [
            (receiver, step, values)
            for receiver, view in views.items()
            for peer, step, values in view.received
            if peer == name and step != "decoded"
        ]
        for name in names
    }


def shapes(sent, *without: str) -> list:
    """Who sent how many bytes to whom, message by message, less some steps."""
    return [
        (name, peer, step, sum(map(len, encode(values))))
        for name, messages in sorted(sent.items())
        for peer, step, values in messages
        if step.split("/")[-1] not in without
    ]
