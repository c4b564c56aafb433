"""Random oblivious transfers on ristretto255: the few that an extension starts from.

Masny and Rindal, "Endemic Oblivious Transfer" (CCS 2019, eprint 2019/706): their one-round protocol
from key agreement, with Diffie-Hellman and the group's hash-to-element as the random oracle.

In: one choice bit for each transfer at the receiver. Out: `count` pairs of 16-byte keys at the
sender, and at the receiver the key of each pair that its choice bit selects. The sender does not
learn the choice bits, the receiver nothing about the other keys.

Adversary: malicious, by the paper, in the random oracle model if the Diffie-Hellman problem is hard in
the group. Neither attack on "simplest" transfers (Chou and Orlandi, LATINCRYPT 2015) applies: a
receiver that knows the logarithm of one shifted point cannot know that of the other, which an oracle
ties to the first, and its choices follow from its points and its questions to the oracle; the oracle
takes the session, the roles and the number of the run, so that nobody's points serve twice. Keys are
uniform only for the honest side: a cheating one may choose its own ("endemic"). The trees of
`punctured_leaves` bear that: their owner knows all keys anyway, and their holder opens with a chosen
key what it may open, while the other key of each pair stays random to it. Received points are checked
to be elements of the group, and the choice bits are hidden perfectly.

Messages, both independent of each other (one round):
    receiver -> sender   for each transfer two points R0, R1: with choice c the receiver draws a,
                         and R(1-c) at random, and sets R(c) = a G - h(c, i, R(1-c))
    sender -> receiver   one point B = b G
    key j of transfer i  = SHA-256(..., i, j, R0, R1, B, b (Rj + h(j, i, R(1-j))));  the receiver
                         computes its own as a B
    Every hash begins with the session, the names of both parties and the number of the run between
    them in the session, so that no two runs share an oracle.
Cost for n transfers: 64 n + 32 bytes; the sender 2 n multiplications and 2 n hashes to the group,
the receiver 2 n multiplications and n hashes (about 20 ms a side for n = 128).
"""

from __future__ import annotations

import hashlib
from typing import TypeAlias

import numpy as np

from coterie.base.arrays import Bytes
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.primitives.group import random_scalar
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.primitives.sodium import sodium

KEY_BYTES = 16
_POINT = 32
_LABEL = b"coterie endemic transfer\0"

Keys: TypeAlias = Bytes


def _oracle(context: bytes, side: int, index: int, point: bytes) -> bytes:
    """The random oracle into the group, one for each side of each transfer of each session."""
    digest = hashlib.sha512(_LABEL + context + bytes([side]) + index.to_bytes(4, "big") + point)
    return bytes(sodium().crypto_core_ristretto255_from_hash(digest.digest()))


def _key(context: bytes, side: int, index: int, transcript: bytes, shared: bytes) -> bytes:
    head = _LABEL + context + bytes([2 + side]) + index.to_bytes(4, "big")
    return hashlib.sha256(head + transcript + shared).digest()[:KEY_BYTES]


def _context(channel: Channel, sender: str, receiver: str) -> bytes:
    """The start of every hash of one run: the session, the roles and the number of the run."""
    instance = channel.next_instance(f"base transfers from {sender} to {receiver}")
    names = (channel.session.encode(), sender.encode(), receiver.encode())
    head = b"".join(len(name).to_bytes(4, "big") + name for name in names)
    return head + instance.to_bytes(8, "big")


def send_keys(channel: Channel, peer: str, count: int, rng: Random) -> Keys:
    """The sender's role: keys of shape (2, count, 16)."""
    context = _context(channel, channel.me, peer)
    secret = random_scalar(rng)
    public = bytes(sodium().crypto_scalarmult_ristretto255_base(secret))
    channel.send(peer, public)
    what = f"{count} pairs of points for the base transfers"
    points = channel.recv_array(peer, np.uint8, (count, 2, _POINT), what)
    keys = bytearray()
    for side in (0, 1):
        for index in range(count):
            pair = points[index].tobytes()
            own, other = pair[_POINT * side :][:_POINT], pair[_POINT * (1 - side) :][:_POINT]
            if not sodium().crypto_core_ristretto255_is_valid_point(own):
                raise channel.fault(peer, f"sent an invalid point for base transfer {index}")
            try:
                shifted = sodium().crypto_core_ristretto255_add(
                    own, _oracle(context, side, index, other)
                )
                shared = bytes(sodium().crypto_scalarmult_ristretto255(secret, bytes(shifted)))
            except (RuntimeError, ValueError):  # the identity: no honest receiver's point
                raise channel.fault(
                    peer, f"sent an invalid point for base transfer {index}"
                ) from None
            keys += _key(context, side, index, public + pair, shared)
    return np.frombuffer(keys, np.uint8).reshape(2, count, KEY_BYTES)


def receive_keys(channel: Channel, peer: str, choices: Bytes, rng: Random) -> Keys:
    """The receiver's role: the key that each choice bit selects, of shape (count, 16)."""
    context = _context(channel, peer, channel.me)
    pairs, secrets = [], []
    for index, choice in enumerate(choices.tolist()):
        secret = random_scalar(rng)
        other = bytes(sodium().crypto_core_ristretto255_from_hash(rng.bytes(64)))
        own = sodium().crypto_core_ristretto255_sub(
            bytes(sodium().crypto_scalarmult_ristretto255_base(secret)),
            _oracle(context, choice, index, other),
        )
        secrets.append(secret)
        pairs.append(other + bytes(own) if choice else bytes(own) + other)
    points = np.frombuffer(b"".join(pairs), np.uint8).reshape(len(choices), 2, _POINT)
    channel.send(peer, points)
    public = channel.recv_bytes(peer, _POINT, "point as its key for the base transfers")
    if not sodium().crypto_core_ristretto255_is_valid_point(public) or not any(public):
        raise channel.fault(peer, "sent an invalid point as its key for the base transfers")
    keys = bytearray()
    for index, choice in enumerate(choices.tolist()):
        shared = bytes(sodium().crypto_scalarmult_ristretto255(secrets[index], public))
        keys += _key(context, choice, index, public + pairs[index], shared)
    return np.frombuffer(keys, np.uint8).reshape(len(choices), KEY_BYTES)
