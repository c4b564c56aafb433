"""Sets to intersect, and runs whose messages are watched."""

import random

from coterie.protocols.messaging.wrappers import Traced
from tests.protocols.intersection.intersections import run

WAYS = [("ring", "intersection"), ("oprf", "intersection"), ("ring", "pairwise")]


def numbered(*groups) -> list[list[bytes]]:
    return [[str(value).encode() for value in group] for group in groups]


def drawn(parties: int, size: int, seed: int) -> list[list[bytes]]:
    rng = random.Random(seed)
    return numbered(*(rng.sample(range(int(size * 1.3)), size) for _ in range(parties)))


def watched(sets, **options) -> dict[str, Traced]:
    traced: dict[str, Traced] = {}
    run(sets, wrap=lambda t: traced.setdefault(t.me, Traced(t, capture=True)), **options)
    return traced


def shapes(traced: dict[str, Traced], *without: str) -> list:
    return [
        (name, item.direction, item.peer, item.step, len(item.body))
        for name, trace in sorted(traced.items())
        for item in trace.captured
        if item.direction == "sent" and item.step.split("/")[-1] not in without
    ]
