"""Private set intersection by commutative encryption in a ring: plain version."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import rbcl

from protocols.channel import Channel, ring
from protocols.randomness import Random


def intersect(
    channel: Channel, names: Sequence[str], identifiers: Sequence[bytes], rng: Random
) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The rows of this party that all parties hold, in the order all parties share."""
    before, after = ring(channel, names)
    key = rbcl.crypto_core_ristretto255_scalar_reduce(rng.bytes(64))

    def encrypt(points: list[bytes]) -> list[bytes]:
        return [rbcl.crypto_scalarmult_ristretto255(key, point) for point in points]

    points = [
        rbcl.crypto_core_ristretto255_from_hash(hashlib.sha512(value).digest())
        for value in identifiers
    ]
    with channel.step("ring"):
        points = encrypt(points)
        for _ in range(len(names) - 1):
            channel.send(after, np.frombuffer(b"".join(points), np.uint8).reshape(-1, 32))
            received = channel.recv(before)
            points = encrypt([row.tobytes() for row in received])
        channel.send(after, np.frombuffer(b"".join(points), np.uint8).reshape(-1, 32))
        own = [row.tobytes() for row in channel.recv(before)]
    with channel.step("compare"):
        channel.broadcast(np.frombuffer(b"".join(sorted(own)), np.uint8).reshape(-1, 32))
        common = set(own)
        for other in channel.gather().values():
            common &= {row.tobytes() for row in other}
    row_of = {point: row for row, point in enumerate(own)}
    return np.array([row_of[point] for point in sorted(common)], np.int64)
