"""Blocks that are correlated at one secret place of each piece: trees opened between two parties, checked.

Yang, Weng, Lan, Zhang and Wang, "Ferret: Fast Extension for Correlated OT with Small Communication" (CCS
2020, eprint 2020/924), the single-point correlations of figures 6 and 7 with the trees of
`primitives.half_trees` (Guo and others, EUROCRYPT 2023). The owner has delta, the other party, the
finder, gets a secret place in each tree. In: `depth` correlated transfers for each tree, blocks q at the
owner, bits r and blocks t = q ^ r delta at the finder, used for nothing else. Out, for each tree
2^depth leaves v and w, in one array after the other:

    bits      w = v, but v ^ delta at the finder's place, where alone the lowest bit of w is 1
    field     w = v, but v ^ a delta there, for a product c = b ^ a delta of each tree (`products`: b
              at the owner, c at the finder), which is used for nothing else

Messages: owner -> finder `depth` blocks for each tree, and one block more for `field`. The place follows
from the bits r, and the finder sends nothing. Then, once for any number of trees, the check:

    finder -> owner    16 bytes: its mask, and the sum of chi a over the places (a = 1 for bits)
    owner -> finder    32 bytes: SHA-256 of the sum of chi v, with its own mask and delta times the above

The chi are a random element of GF(2^128) for each leaf, drawn from a hash (a random oracle) of the session
and of all that the owner sent so far. The mask is one product of the whole field, q* at the owner, x* and
t* = q* ^ x* delta at the finder, used for nothing else; 128 transfers make one (`field128.packed`).

Adversary: malicious. An owner that sends a false block knows what went wrong only if it guesses on which
side the finder's path goes: with d bits of places guessed it passes with probability 2^-d and then
knows these bits; otherwise the finder names it. So the assumption behind any use is LPN in
which such bits of the noise are known at the risk of being caught. A finder has one message, and learns
SHA-256 of a value that it knows but for a multiple of delta which it may choose: a guess of delta at a time.
Nothing that was made from the leaves may leave either party before `check` and `prove` have returned.

    owner   PointOwner(channel, peer, delta)    open(q, depth, rng, b) -> v    prove(v, q*)
    finder  PointFinder(channel, peer)          open(t, r, c) -> w             check(w, x*, t*, noise)

`combined` and `answer` are the halves of `prove`, `ask` and `settle` those of `check`, for callers that open
further trees before they wait for the digest.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from coterie.base.arrays import Bits, Blocks
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.primitives.executor import on_all_cores
from coterie.protocols.primitives.field128 import inner_products, multiply
from coterie.protocols.primitives.half_trees import grow, regrow
from coterie.protocols.primitives.randomness import Random

_CHUNK = 1 << 14  # leaves that one core works on
_ZEROS = bytes(16 * _CHUNK)
_LABEL = b"coterie single points\0"
_LOWEST = np.array([1, 0], np.uint64)


class _Side:
    """What both sides keep: the number of trees so far, and a hash of all that the owner sent."""

    def __init__(self, channel: Channel, peer: str, owner: str) -> None:
        self._channel, self._peer = channel, peer
        other = peer if owner == channel.me else channel.me
        instance = channel.next_instance(f"single points of {owner} and {other}")
        names = [name.encode() for name in (channel.session, owner, other)]
        head = _LABEL + b"".join(len(name).to_bytes(4, "big") + name for name in names)
        self._transcript = hashlib.sha256(head + instance.to_bytes(8, "big"))
        self._trees = 0

    @property
    def transcript(self) -> bytes:
        """A digest of the session and of all that the owner has sent."""
        return self._transcript.digest()

    def _opened(self, sent: Blocks) -> int:
        """Counts what was sent; the number of the first of these trees."""
        self._transcript.update(sent.tobytes())
        self._trees += len(sent)
        return self._trees - len(sent)

    def _weighed(self, count: int, work: Callable[[slice, Blocks], Blocks]) -> Blocks:
        """The sum of what `work` makes of pieces of `count` leaves and of the factors chi of each."""
        key = algorithms.AES(self.transcript[:16])
        found: list[Blocks] = []

        def weigh(start: int) -> None:
            part = slice(start, min(start + _CHUNK, count))
            stream = Cipher(key, modes.CTR(start.to_bytes(16, "big"))).encryptor()
            drawn = stream.update(memoryview(_ZEROS)[: 16 * (part.stop - start)])
            found.append(work(part, np.frombuffer(drawn, np.uint64).reshape(-1, 2)))

        on_all_cores(weigh, range(0, count, _CHUNK))
        total: Blocks = np.bitwise_xor.reduce(found, axis=0)
        return total


class PointOwner(_Side):
    """The side with delta."""

    def __init__(self, channel: Channel, peer: str, delta: Blocks) -> None:
        super().__init__(channel, peer, channel.me)
        self._delta = delta

    def open(self, q: Blocks, depth: int, rng: Random, products: Blocks | None = None) -> Blocks:
        """Leaves v (n, 2), from q of `depth` transfers for each tree; `products` are b of each."""
        roots = rng.array((len(q) // depth, 2))
        field = products is not None
        leaves, sums, totals = grow(roots, self._delta, depth, self._trees, field)
        sent = q.reshape(sums.shape) ^ sums
        if products is not None:
            sent = np.concatenate([sent, (totals ^ products)[:, None]], axis=1)
        self._opened(sent)
        self._channel.send(self._peer, sent)
        return leaves.reshape(-1, 2)

    def prove(self, leaves: Blocks, mask: Blocks) -> None:
        """Answers the finder's check of all leaves since the last check."""
        self.answer(self.combined(leaves, mask))

    def combined(self, leaves: Blocks, mask: Blocks) -> Blocks:
        """The sum that `answer` needs; it may come after further trees were opened."""
        return mask ^ self._weighed(
            len(leaves), lambda part, factors: inner_products(leaves[None, part], factors)[0]
        )

    def answer(self, combined: Blocks) -> None:
        what = "check value of silent transfers"
        place = self._channel.recv_array(self._peer, np.uint64, (2,), what)
        total = combined ^ multiply(place[None], self._delta[None])[0]
        self._channel.send(self._peer, hashlib.sha256(total.tobytes()).digest())


class PointFinder(_Side):
    """The side that gets a secret place in each tree."""

    def __init__(self, channel: Channel, peer: str) -> None:
        super().__init__(channel, peer, peer)

    def open(self, t: Blocks, sides: Bits, products: Blocks | None = None) -> Blocks:
        """Leaves w (n, 2), from t and its bits `sides` (trees, depth); `products` are c of each.

        The places are `half_trees.missing(sides)`.
        """
        trees, depth = sides.shape
        columns = depth if products is None else depth + 1
        what = "sums of the trees of silent transfers"
        sent = self._channel.recv_array(self._peer, np.uint64, (trees, columns, 2), what)
        extra = None if products is None else sent[:, depth] ^ products
        sums = t.reshape(trees, depth, 2) ^ sent[:, :depth]
        return regrow(sums, sides, self._opened(sent), extra).reshape(-1, 2)

    def check(
        self, leaves: Blocks, place_mask: Blocks, mask: Blocks, noise: Blocks | None = None
    ) -> None:
        """Names the owner unless all leaves since the last check are right.

        `noise` (n, 2) has a of each tree at its place and zeros elsewhere; left out for bits.
        """
        self.settle(self.ask(leaves, place_mask, mask, noise))

    def ask(
        self, leaves: Blocks, place_mask: Blocks, mask: Blocks, noise: Blocks | None = None
    ) -> bytes:
        """Sends the check's one message; the digest that an honest owner answers."""

        def work(part: slice, factors: Blocks) -> Blocks:
            here = leaves[part] & _LOWEST if noise is None else noise[part]
            return np.concatenate(
                [inner_products(values[None], factors) for values in (here, leaves[part])]
            )

        place, total = self._weighed(len(leaves), work) ^ (place_mask, mask)
        self._channel.send(self._peer, place)
        return hashlib.sha256(total.tobytes()).digest()

    def settle(self, due: bytes) -> None:
        """Names the owner unless it answers with this digest."""
        what = "digest of the check of silent transfers"
        digest = self._channel.recv_bytes(self._peer, 32, what)
        if digest != due:
            raise self._channel.fault(
                self._peer, "sent inconsistent trees for silent transfers, as to learn choices"
            )
