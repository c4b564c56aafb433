"""The union of all parties' sets, which does not reveal who holds which item.

Paper 3, §20.5 (secure set union, with fake items to disguise a site's own), as in Clifton et al.,
"Tools for Privacy Preserving Distributed Data Mining" (SIGKDD Explorations 2002), by a commutative
cipher: here multiplication on Curve25519 (`cipher`), with points from which items can be read
again.

In: at every party a set of byte strings, none longer than the agreed `longest`. Out: the sorted
union, at every party.

Adversary: semi-honest, up to all parties but one colluding. Nobody can tell for an element of the
union which honest parties hold it, beyond what the union and a coalition's own sets say (with two
parties that is everything: an element that one does not hold, the other does). Besides the union,
- all see the sizes of the sets, or the common size if `pad_to` makes all sets equal with fake items;
  then all see the number of fakes, and so the sum of all sizes;
- the party that merges (the first of `names`) sees how many elements any two sets share, not which;
  so does a coalition of all but one.

Messages, for n parties in a ring:
    1. encrypt: everybody's set, shuffled and encrypted, goes round; each party adds its key and
       shuffles. After n-1 hops a set is encrypted by all.
    2. merge: the first party collects the sets, drops repeats, sorts.
    3. decrypt: the merged set goes from party to party; each removes its key and shuffles.
    4. union: the last party sends the elements to all.
Cost: a set of s items of at most 29 m - 12 bytes is s m points. Each party does n s m + |union| m
multiplications (and 4 s m to place its items on the curve) and sends about 32 (n s m) bytes;
2 n rounds.

How an item becomes points: it is padded to the common length with its length and a kind, mixed by
an unkeyed Feistel network of 8 rounds of SHAKE-256 over all of it (indifferentiable from a random
permutation, Dai and Steinberger, CRYPTO 2016: points of different items have no usable relation,
and equal parts of items do not show), cut into pieces of 29 bytes, and each piece, with the
smallest counter that makes it so, is the coordinate of a point of the subgroup of prime order.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from coterie.base.arrays import Bytes
from coterie.base.errors import DataError
from coterie.protocols.messaging.channel import Channel, ring
from coterie.protocols.multiparty.secure_sum import checked_names
from coterie.protocols.primitives.cipher import (
    ORDER,
    POINT_BYTES,
    Points,
    check,
    encrypt,
    in_subgroup,
)
from coterie.protocols.primitives.group import InvalidElementError
from coterie.protocols.primitives.randomness import Random

PIECE = 29  # bytes of a point that carry an item; two more hold the counter, the last is zero
_REAL, _FAKE = 0, 1
_HEAD = 4  # kind, and a length of three bytes
_CHECK = 8  # zero bytes, which a random point does not have


def union(
    channel: Channel,
    names: Sequence[str],
    items: Collection[bytes],
    rng: Random,
    *,
    longest: int = 46,
    pad_to: int | None = None,
) -> list[bytes]:
    """The sorted union of the parties' sets of byte strings."""
    order = checked_names(channel, names)
    pieces = -(-(longest + _HEAD + _CHECK) // PIECE)
    blocks = _blocks(channel.me, items, rng, longest, pieces * PIECE, pad_to)
    key, inverse = key_pair(rng)
    own = place_on_curve(blocks.reshape(-1, PIECE)).reshape(-1, pieces, POINT_BYTES)
    before, after = ring(channel, order)
    with channel.step("encrypt"):
        part = _shuffled(_times(key, own), rng)
        for _ in range(len(order) - 1):
            channel.send(after, part)
            part = _shuffled(_received(channel, before, key, pieces), rng)
    with channel.step("merge"):
        if channel.me != order[0]:
            channel.send(order[0], part)
        else:
            others = [_checked(channel, p, channel.recv(p), pieces) for p in channel.peers]
            merged = np.unique(np.concatenate([part, *others]), axis=0)
    with channel.step("decrypt"):
        if channel.me != order[0]:
            merged = _received(channel, before, inverse, pieces)
        else:
            try:
                merged = _times(inverse, merged)
            except InvalidElementError:
                raise channel.fault(
                    ", ".join(channel.peers), "one of them sent a point of small order"
                ) from None
        if channel.me != order[-1]:
            channel.send(after, _shuffled(merged, rng))
    with channel.step("union"):
        if channel.me == order[-1]:
            channel.broadcast(merged)
        else:
            merged = _points(channel, order[-1], channel.recv(order[-1]), pieces)
        elements = []
        for row in merged:
            kind, item = _read(row, longest)
            if kind is None:
                raise channel.fault(
                    ", ".join(channel.peers), "one of them put in an element that is not an item"
                )
            if kind == _REAL:
                elements.append(item)
    return sorted(elements)


def _blocks(
    me: str, items: Collection[bytes], rng: Random, longest: int, size: int, pad_to: int | None
) -> Bytes:
    """The mixed block of every item, and of fakes up to `pad_to`."""
    distinct = sorted(set(items))
    blocks = []
    for item in distinct:
        if len(item) > longest:
            raise DataError(f"{me}: set union: an item has more than {longest} bytes")
        blocks.append(bytes([_REAL]) + len(item).to_bytes(3, "little") + item)
    if pad_to is not None:
        if len(distinct) > pad_to:
            raise DataError(f"{me}: set union: {len(distinct)} items, where {pad_to} is the most")
        fakes = pad_to - len(distinct)
        blocks += [bytes([_FAKE]) + rng.bytes(16) for _ in range(fakes)]
    mixed = b"".join(mix(block.ljust(size, b"\0")) for block in blocks)
    return np.frombuffer(mixed, np.uint8).reshape(len(blocks), size)


def _read(row: Points, longest: int) -> tuple[int | None, bytes]:
    """The kind and the item of one decrypted element; no kind if the element is malformed."""
    if row[:, PIECE + 2 :].any():
        return None, b""
    block = unmix(row[:, :PIECE].tobytes())
    kind, length = block[0], int.from_bytes(block[1:_HEAD], "little")
    if any(block[-_CHECK:]) or kind not in (_REAL, _FAKE):
        return None, b""
    if kind == _FAKE:
        return _FAKE, b""
    if length > longest or any(block[_HEAD + length :]):
        return None, b""
    return _REAL, block[_HEAD : _HEAD + length]


def _half(index: int, half: bytes, size: int) -> int:
    digest = hashlib.shake_256(b"coterie mix" + bytes([index]) + half).digest(size)
    return int.from_bytes(digest, "little")


def mix(block: bytes) -> bytes:
    """An unkeyed permutation in which every byte depends on all."""
    return _feistel(block, range(8))


def unmix(block: bytes) -> bytes:
    return _feistel(block, range(7, -1, -1))


def _feistel(block: bytes, rounds: range) -> bytes:
    """Even rounds change the left half, odd ones the right; each round is its own inverse."""
    left, right = block[: len(block) // 2], block[len(block) // 2 :]
    for index in rounds:
        if index % 2 == 0:
            size = len(left)
            left = (int.from_bytes(left, "little") ^ _half(index, right, size)).to_bytes(
                size, "little"
            )
        else:
            size = len(right)
            right = (int.from_bytes(right, "little") ^ _half(index, left, size)).to_bytes(
                size, "little"
            )
    return left + right


def key_pair(rng: Random) -> tuple[bytes, bytes]:
    """A key and its inverse, both in the form that X25519 does not change.

    That form is a multiple of 8 in [2^254, 2^255): about every second key has an inverse in it.
    """
    while True:
        key = (rng.below(2**251) << 3) + 2**254
        inverse = pow(key, -1, ORDER)
        inverse += ORDER * (-inverse * pow(ORDER, -1, 8) % 8)
        if inverse >> 254 == 1:
            return key.to_bytes(32, "little"), inverse.to_bytes(32, "little")


def place_on_curve(pieces: Bytes) -> Points:
    """The points of all pieces, each with its smallest counter that gives a point of the subgroup."""
    points = np.zeros((len(pieces), POINT_BYTES), np.uint8)
    points[:, :PIECE] = pieces
    todo = np.arange(len(pieces))
    for counter in range(1 << 16):
        if not len(todo):
            break
        points[todo, PIECE] = counter & 255
        points[todo, PIECE + 1] = counter >> 8
        todo = todo[~in_subgroup(points[todo])]
    return points


def _times(key: bytes, rows: Points) -> Points:
    points: Points = encrypt(key, rows.reshape(-1, POINT_BYTES)).reshape(rows.shape)
    return points


def _shuffled(rows: Points, rng: Random) -> Points:
    shuffled: Points = rows[rng.permutation(len(rows))]
    return shuffled


def _points(channel: Channel, peer: str, rows: Any, pieces: int) -> Points:
    what = f"elements of {pieces} points"
    return channel.check_array(peer, rows, np.uint8, (None, pieces, POINT_BYTES), what)


def _received(channel: Channel, peer: str, key: bytes, pieces: int) -> Points:
    rows = _checked(channel, peer, channel.recv(peer), pieces)
    try:
        return _times(key, rows)
    except InvalidElementError as error:  # of small order
        raise channel.fault(peer, f"sent an invalid point ({error})") from None


def _checked(channel: Channel, peer: str, rows: Any, pieces: int) -> Points:
    points = _points(channel, peer, rows, pieces)
    try:
        check(points.reshape(-1, POINT_BYTES))
    except InvalidElementError as error:
        raise channel.fault(peer, f"sent an invalid point ({error})") from None
    return points
