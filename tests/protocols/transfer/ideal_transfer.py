"""Base transfers by an ideal functionality, for tests of what is built on them.

The real ones (`protocols/transfer/base_transfer.py`) cost 40 ms of a processor for each pair and
direction, and a test of a protocol above them starts dozens. Here each side sends 16 random bytes,
from which both make all keys: nothing is hidden, and the keys are as random as the real ones, so
that everything above sees what it would see after an honest run of the real ones. These have tests,
scenes and mutants of their own; wire traces and servers always use them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from unittest import mock

import numpy as np

from coterie.protocols.messaging.channel import Channel
from coterie.protocols.transfer import punctured_leaves
from coterie.protocols.transfer.base_transfer import KEY_BYTES

_SEED = 16


def _pairs(channel: Channel, peer: str, sender: str, count: int, rng) -> np.ndarray:
    own = rng.bytes(_SEED)
    channel.send(peer, own)
    other = channel.recv_bytes(peer, _SEED, "seed of ideal transfers")
    first, second = (own, other) if sender == channel.me else (other, own)
    made = hashlib.shake_256(first + second).digest(2 * count * KEY_BYTES)
    return np.frombuffer(made, np.uint8).reshape(2, count, KEY_BYTES)


def send_keys(channel: Channel, peer: str, count: int, rng) -> np.ndarray:
    return _pairs(channel, peer, channel.me, count, rng)


def receive_keys(channel: Channel, peer: str, choices: np.ndarray, rng) -> np.ndarray:
    pairs = _pairs(channel, peer, peer, len(choices), rng)
    return pairs[np.asarray(choices, np.intp), np.arange(len(choices))]


@contextmanager
def ideal_transfers() -> Iterator[None]:
    """Within it, whatever is built on base transfers in this process starts from ideal ones."""
    with (
        mock.patch.object(punctured_leaves, "send_keys", send_keys),
        mock.patch.object(punctured_leaves, "receive_keys", receive_keys),
    ):
        yield
