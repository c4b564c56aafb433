"""Small trees of keys: one party knows every leaf, the other all but one of each, checked.

Goldreich, Goldwasser and Micali's tree, punctured at a secret place, with the consistency check of
Roy, "SoftSpokenOT" (CRYPTO 2022, eprint 2022/192), section 5: 32 trees of 16 leaves, from 128 base
transfers. In: 128 secret bits at the holder, four for each tree, which are the places that it does
not get. Out: 16-byte keys of shape (32, 16, 16), at the owner in the order of their places, at the
holder in the order of place ^ secret, so that the missing leaf stands first (as zeros) whatever the
secret is: neither the loops nor the memory that the holder touches depend on it.

Bit l of a place is the side that its path takes on level l. On the first level a node is the key of a
base transfer; below it the owner sends, of each level, the XOR of all nodes of either side under one
key of a base transfer each, and the holder opens the one for the side that its own path leaves.

The check: each leaf of the last level is hashed (SHA-512) to the key that is used and to 32 bytes of
material. The owner sends the XOR of each tree's material and one SHA-256 of all of it, from which the
holder completes what it lacks and compares. An owner that sends false sums passes if it guesses on
which side of its lie the secret lies: with d bits guessed, with probability 2^-d, and then it knows
these d bits. Hashes count as random oracles.

Messages: base transfers (the owner as their sender); then owner -> holder 3,072 bytes of sums, 1,024
of material and 32 of digest. Cost: 960 hashes a side, about 1 ms.
"""

from __future__ import annotations

import hashlib

import numpy as np

from coterie.base.arrays import Array, Bits, Bytes
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.primitives.leaf_sums import BITS, LEAVES
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.transfer.base_transfer import KEY_BYTES, receive_keys, send_keys

SECRET_BITS = 128
TREES = SECRET_BITS // BITS
_MATERIAL, _DIGEST = 32, 32
_LABEL = b"coterie small trees\0"
_SUMS = (TREES, BITS - 1, 2, KEY_BYTES)


def own_leaves(channel: Channel, peer: str, rng: Random) -> tuple[Bytes, bytes]:
    """The owner's role: all leaves, and a digest of what was sent."""
    keys = send_keys(channel, peer, SECRET_BITS, rng).reshape(2, TREES, BITS, KEY_BYTES)
    # Choice 1 opens the node that a path with the bit 0 needs.
    nodes = np.stack([keys[1, :, 0], keys[0, :, 0]], axis=1)
    sums = np.empty(_SUMS, np.uint8)
    for level in range(1, BITS):
        children = _children(nodes, level)
        for side in (0, 1):
            total = np.bitwise_xor.reduce(children[:, side], axis=1)
            sums[:, level - 1, side] = _under(total, keys[1 - side, :, level])
        nodes = children.reshape(TREES, 2 << level, KEY_BYTES)
    leaves, material = _last(nodes)
    digest = hashlib.sha256(material.tobytes()).digest()
    missing = np.bitwise_xor.reduce(material, axis=1)
    channel.send(peer, sums, missing, digest)
    return leaves, _transcript(sums, missing, digest)


def hold_leaves(channel: Channel, peer: str, secret: Bits, rng: Random) -> tuple[Bytes, bytes]:
    """The holder's role: all leaves but those at the places `secret`, and the same digest."""
    chosen = receive_keys(channel, peer, secret, rng).reshape(TREES, BITS, KEY_BYTES)
    what = "sums of the trees of the transfers"
    sums, missing, digest = channel.recv_values(peer, 3, what)
    channel.check_array(peer, sums, np.uint8, _SUMS, what)
    channel.check_array(peer, missing, np.uint8, (TREES, _MATERIAL), what)
    channel.check_bytes(peer, digest, _DIGEST, what)
    masks = (-secret.reshape(TREES, BITS)).astype(np.uint8)
    nodes = np.zeros((TREES, 2, KEY_BYTES), np.uint8)
    nodes[:, 1] = chosen[:, 0]
    for level in range(1, BITS):
        mask = masks[:, level, None]
        children = _swapped(_children(nodes, level), mask[:, None, None])
        children[:, :, 0] = 0  # of the node that is missing
        # Where the secret has a 1, the side that its path leaves is the left one.
        opened = sums[:, level - 1, 1] ^ ((sums[:, level - 1, 0] ^ sums[:, level - 1, 1]) & mask)
        known = np.bitwise_xor.reduce(children[:, 1], axis=1)
        children[:, 1, 0] = _under(opened, chosen[:, level]) ^ known
        nodes = children.reshape(TREES, 2 << level, KEY_BYTES)
    leaves, material = _last(nodes)
    leaves[:, 0] = 0
    material[:, 0] = missing ^ np.bitwise_xor.reduce(material[:, 1:], axis=1)
    for bit in range(BITS):  # from the order of place ^ secret to that of places
        halves = material.reshape(TREES, LEAVES >> bit + 1, 2, 1 << bit, _MATERIAL)
        mask = masks[:, bit, None, None, None]
        material = _swapped(halves.swapaxes(1, 2), mask[..., None]).swapaxes(1, 2)
        material = material.reshape(TREES, LEAVES, _MATERIAL)
    if hashlib.sha256(material.tobytes()).digest() != digest:
        raise channel.fault(peer, "sent inconsistent trees for the transfers, as to learn a secret")
    return leaves, _transcript(sums, missing, digest)


def _under(sums: Bytes, keys: Bytes) -> Bytes:
    """Sums of nodes, put under the keys of base transfers or taken from under them."""
    return sums ^ keys


def _children(nodes: Bytes, level: int) -> Bytes:
    """The children of every node, of shape (trees, 2, nodes, 16): left ones, then right ones."""
    both = _hashed(nodes, level, 2 * KEY_BYTES).reshape(TREES, -1, 2, KEY_BYTES)
    return np.ascontiguousarray(both.swapaxes(1, 2))


def _last(nodes: Bytes) -> tuple[Bytes, Bytes]:
    """The keys that are used, and the material of the check."""
    both = _hashed(nodes, BITS, KEY_BYTES + _MATERIAL)
    return both[..., :KEY_BYTES].copy(), both[..., KEY_BYTES:].copy()


def _hashed(nodes: Bytes, level: int, size: int) -> Bytes:
    out = bytearray()
    for tree in range(TREES):
        label = _LABEL + bytes([tree, level])
        for node in nodes[tree]:
            out += hashlib.sha512(label + node.tobytes()).digest()[:size]
    return np.frombuffer(out, np.uint8).reshape(TREES, -1, size).copy()


def _swapped(pairs: Array, mask: Array) -> Array:
    """Pairs along the second axis, exchanged where the mask is 255."""
    difference = (pairs[:, :1] ^ pairs[:, 1:]) & mask
    return np.ascontiguousarray(pairs ^ difference)


def _transcript(sums: Bytes, missing: Bytes, digest: bytes) -> bytes:
    return hashlib.sha256(sums.tobytes() + missing.tobytes() + digest).digest()
