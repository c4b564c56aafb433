"""Multiplication of XOR-shared bits by any group of parties: the AND gates of GMW.

Goldreich, Micali and Wigderson (STOC 1987), with Beaver's products prepared ahead. Paper 3, §20.5
names oblivious transfer as the block to build on; `oblivious_transfer` extends it. The products of
strings with bits, one transfer each whatever the string's width, follow Asharov, Lindell, Schneider
and Zohner (CCS 2013).

A value is shared among a group: each member has a share, uniform on its own, and their XOR is the
value. Groups may differ: a party's own input is a value shared by that party alone, and nobody
outside the two operands' groups takes part in a product. XOR is local. A product z = x * y takes a
string x of up to 64 bits shared among `left`, and a bit y shared among `right`, to shares of z
(x where y is 1, else 0) among both.

Adversary: semi-honest, up to all members but one of a group colluding. What a coalition sees of the
honest parties is uniform: openings masked by prepared a and b that at least one honest party drew,
and transfers. What it learns is what `reveal` opens.

Messages:
    1. base transfers, once a session and ordered pair.
    2. `prepare`: member i of left draws a_i, member j of right b_j. For every i != j a transfer with
       j's choice b_j gives the two of them shares of a_i * b_j: the transfers from j to
       i, then i's correction of `width` bits. The shares of all pairs, and a_i * b_i, make
       c = a * b.
    3. `multiply`, one round: x + a and y + b are opened to the group (both uniform), and
       z = c + (x + a) b + (y + b) a + (x + a)(y + b), the last at the group's first member only.
    4. `reveal`, one round: everybody's share to everybody.

Cost of a product of m members on both sides, width w: m(m-1) transfers of 32 + w bits ahead; w + 1
bits from each to each in the one round. With disjoint sides of p and q members: p*q transfers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from coterie.base.arrays import Array, Bits
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.multiparty.secure_sum import checked_names
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.transfer.oblivious_transfer import Receiver, Sender


@dataclass(frozen=True)
class Product:
    """A kind of product: the group of the string of `width` bits, and the group of the bit."""

    left: tuple[str, ...]
    right: tuple[str, ...]
    width: int = 1

    @property
    def group(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self.left + self.right))

    @property
    def dtype(self) -> Any:
        return np.uint8 if self.width <= 8 else np.uint64


@dataclass
class Prepared:
    """One party's shares of random products c = a * b; zero if the party is not on that side."""

    a: Array
    b: Bits
    c: Array

    def split(self, count: int) -> tuple[Prepared, Prepared]:
        return (
            Prepared(self.a[:count], self.b[:count], self.c[:count]),
            Prepared(self.a[count:], self.b[count:], self.c[count:]),
        )

    def followed_by(self, other: Prepared) -> Prepared:
        return Prepared(
            np.concatenate([self.a, other.a]),
            np.concatenate([self.b, other.b]),
            np.concatenate([self.c, other.c]),
        )


class Gmw:
    """A session of shared computation. All parties must call it in the same order."""

    def __init__(self, channel: Channel, names: Sequence[str], rng: Random) -> None:
        self.channel = channel
        self.names = checked_names(channel, names)
        self._rng = rng
        self._pool: dict[Product, Prepared] = {}
        self._senders: dict[str, Sender] = {}
        self._receivers: dict[str, Receiver] = {}
        # All parties go through the pairs in the same order, so that they do not deadlock.
        for index, one in enumerate(self.names):
            for other in self.names[index + 1 :]:
                if channel.me == one:
                    self._senders[other] = Sender(channel, other, rng)
                    self._receivers[other] = Receiver(channel, other, rng)
                elif channel.me == other:
                    self._receivers[one] = Receiver(channel, one, rng)
                    self._senders[one] = Sender(channel, one, rng)

    def available(self, product: Product) -> int:
        return len(self._pool[product].b) if product in self._pool else 0

    def prepare(self, demands: Iterable[tuple[Product, int]]) -> None:
        """Prepares more products of each kind, in one round and a half for all of them."""
        me = self.channel.me
        mine = [(p, count) for p, count in demands if count and me in p.group]
        fresh = [self._draw(product, count) for product, count in mine]
        parts = list(zip(mine, fresh, strict=True))
        self._reserve(mine)
        chosen = {}
        for peer, receiver in self._receivers.items():
            choices = [f.b for (p, _), f in parts if peer in p.left and me in p.right]
            if choices:
                chosen[peer] = receiver.random(np.concatenate(choices), words=1)[:, 0]
        for peer, sender in self._senders.items():
            wanted = [((p, n), f) for (p, n), f in parts if me in p.left and peer in p.right]
            if not wanted:
                continue
            zero, one = sender.random(sum(n for (_, n), _ in wanted), words=1)
            corrections: list[Any] = []
            at = 0
            for (product, count), share in wanted:
                kept = narrow(zero[at : at + count, 0], product)
                both = kept ^ narrow(one[at : at + count, 0], product)
                share.c ^= kept
                corrections.append(pack_words(both ^ share.a, product.width))
                at += count
            with self.channel.step("corrections"):
                self.channel.send(peer, corrections)
        for peer, words in chosen.items():
            with self.channel.step("corrections"):
                wanted = [((p, n), f) for (p, n), f in parts if peer in p.left and me in p.right]
                received = self.channel.recv_list(peer, len(wanted), f"{len(wanted)} corrections")
                at = 0
                for correction, ((product, count), share) in zip(received, wanted, strict=True):
                    fix = self._unpacked(peer, correction, product.width, count)
                    share.c ^= narrow(words[at : at + count], product) ^ fix * share.b
                    at += count
        for (product, _), share in parts:
            old = self._pool.get(product)
            self._pool[product] = old.followed_by(share) if old else share

    def _reserve(self, demands: Sequence[tuple[Product, int]]) -> None:
        """Makes the transfers of all pairs ahead, pair by pair, since all choose before they offer."""
        me = self.channel.me
        for peer in self._senders:
            offered = sum(n for p, n in demands if me in p.left and peer in p.right)
            chosen = sum(n for p, n in demands if peer in p.left and me in p.right)
            sides = [(self._senders[peer], offered), (self._receivers[peer], chosen)]
            if self.names.index(peer) < self.names.index(me):
                sides.reverse()
            for side, count in sides:
                side.reserve(count)

    def _draw(self, product: Product, count: int) -> Prepared:
        a = np.zeros(count, product.dtype)
        b = np.zeros(count, np.uint8)
        if self.channel.me in product.left:
            a = narrow(self._rng.array(count, product.dtype), product)
        if self.channel.me in product.right:
            b = self._rng.bits(count)
        return Prepared(a, b, a * b)

    def multiply(self, product: Product, strings: Array, bits: Bits) -> Array:
        """Shares of the products of two vectors of equal length.

        An operand is ignored at a party outside its group.
        """
        me = self.channel.me
        count = len(bits)
        if self.available(product) < count:
            raise ValueError(f"{count} products wanted, {self.available(product)} prepared")
        own, self._pool[product] = self._pool[product].split(count)
        d, e = np.zeros(count, product.dtype), np.zeros(count, np.uint8)
        message: list[Any] = []
        if me in product.left:
            d = strings ^ own.a
            message.append(pack_words(d, product.width))
        if me in product.right:
            e = bits ^ own.b
            message.append(pack_words(e, 1))
        others = [name for name in product.group if name != me]
        for peer in others:
            self.channel.send(peer, *message)
        for peer in others:
            expected = (peer in product.left) + (peer in product.right)
            values = self.channel.recv_values(peer, expected, f"{expected} openings")
            if peer in product.left:
                d = d ^ self._unpacked(peer, values[0], product.width, count)
            if peer in product.right:
                e = e ^ self._unpacked(peer, values[-1], 1, count)
        z: Array = own.c ^ d * own.b ^ own.a * e
        if me == product.group[0]:
            z ^= d * e
        return z

    def reveal(self, shares: Array, width: int, group: Sequence[str]) -> Array:
        """The values whose shares the members of `group` hold, to all parties of the session."""
        result = shares.copy()
        packed = pack_words(shares, width)
        if self.channel.me in group:
            self.channel.broadcast(packed)
        for peer in group:
            if peer != self.channel.me:
                received = self.channel.recv(peer)
                result ^= self._unpacked(peer, received, width, len(shares))
        return result

    def _unpacked(self, peer: str, packed: Any, width: int, count: int) -> Array:
        words = unpack_words(packed, width, count)
        if words is None:
            raise self.channel.fault(
                peer, f"sent shares of another length than {count} values of {width} bits"
            )
        return words


def narrow(words: Array, product: Product) -> Array:
    """The lowest `width` bits of every word."""
    dtype = product.dtype
    if product.width == 64:
        return words.astype(dtype)
    kept: Array = words & words.dtype.type((1 << product.width) - 1)
    return kept.astype(dtype)


def pack_words(words: Array, width: int) -> Bits:
    """Words of `width` bits for the wire: bit by bit up to eight, in whole bytes beyond."""
    if width == 1:
        return np.packbits(words, bitorder="little")
    if width <= 8:
        planes = np.stack([(words >> i) & 1 for i in range(width)])
        return np.packbits(planes, bitorder="little")
    whole = np.ascontiguousarray(words, "<u8").view(np.uint8).reshape(-1, 8)
    return np.ascontiguousarray(whole[:, : (width + 7) // 8])


def unpack_words(packed: Any, width: int, count: int) -> Array | None:
    """The inverse of `pack_words`, or None for bytes that `pack_words` does not make."""
    if not isinstance(packed, np.ndarray) or packed.dtype != np.uint8:
        return None
    if width <= 8:
        if packed.shape != ((width * count + 7) // 8,):
            return None
        bits = np.unpackbits(packed, count=width * count, bitorder="little")
        if width == 1:
            return bits
        planes = bits.reshape(width, count)
        words: Array = planes[0].copy()
        for i in range(1, width):
            words |= planes[i] << i
        return words
    size = (width + 7) // 8
    if packed.shape != (count, size):
        return None
    whole = np.zeros((count, 8), np.uint8)
    whole[:, :size] = packed
    result: Array = whole.view("<u8")[:, 0]
    if width < 64 and count and int(result.max()) >> width:
        return None
    return result
