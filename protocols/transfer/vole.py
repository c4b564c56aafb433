"""Products of random elements of GF(2^128) with one secret: a vector oblivious linear evaluation (VOLE).

In: nothing but a number n. Out: `delta` and n blocks b at the sender, n blocks a and c at the receiver,
with c = b ^ a delta in GF(2^128). The sender learns nothing of a, the receiver nothing of delta. After
Rindal and Schoppmann, "VOLE-PSI" (EUROCRYPT 2021, eprint 2021/266), with the vectors of Weng, Yang, Katz
and Wang, "Wolverine" (IEEE S&P 2021, eprint 2020/925), grown by trees (`single_points`) and a local code
(`primitives.local_code`).

The first products: 128 checked correlated transfers (`small_field`) make one, by `field128.packed`. They
cost 500 bytes each, and so are few. A round turns k + t + 1 products into t 2^depth: k are the secret of
the code, t the values at the secret places of t trees, which `depth` transfers for each tree open, and
one hides the check. `plan` goes back from n to the first products: each round has as many trees as the
next one needs.

Adversary: malicious, static. The receiver has one chance to deviate, the first transfers, and is named.
The sender may send false trees. It is named, or has guessed bits of the receiver's places and then knows
them, as `single_points` says; a itself never depends on what the sender sends. That is why the receiver may use
a before the check (`check`) has passed; c, and whatever is made from it, may not leave the receiver before.

Assumptions: those of `small_field` and `half_trees`; that a is pseudorandom (LPN over GF(2^128) with
regular noise and a local code) is an assumption that protects the receiver alone. So the receiver draws
the seed of the code, and with a bad one harms itself. Where a party forbids silent transfers
(`Channel.silent`), there are no rounds, and all products are made of transfers.

Judgement of the sizes. Rounds of depth 8 to 11 have the sizes of `local_code`, or fewer trees. Depths 5 to 7
are ours: they make the first products five times cheaper than a start at depth 8, which would take 12.8
MB of transfers, or silent ones. All have 96 places of the secret for each leaf of a tree and
so few trees that by the two estimates of `local_code` depth 5, 6 and 7 with 200 trees have 188, 201 and
211 bits (hybrid attack) and 197, 199 and 201 bits (sub-codes), more than depth 11 with 177 and 148. Fewer
trees are fewer equations in as many unknowns, a part of the same problem. The estimates were made for
GF(2), where a block of noise has a known sum and its values are known; over GF(2^128) it has neither,
and we know of no cheaper attack. None of them is a proof.

Messages, the first three in each session and the rest for each vector:
    sender <-> receiver   128 base transfers and the trees of `small_field`
    receiver -> sender    corrections of all transfers
    receiver -> sender    16 bytes: the seed of the code
    sender -> receiver    for each round 16 (depth + 1) bytes a tree, one round after the other
    receiver -> sender    for each round 16 bytes of its check
    sender -> receiver    for each round 32 bytes
Cost for 1.28 million products: 2.1 MB, 1.7 of them for the first 3,272; at either side 0.8 million
hashes of leaves and 17 million additions, twice as many at the receiver.

    sender    VoleSender(channel, peer, rng)      send(n) -> b          prove()
    receiver  VoleReceiver(channel, peer, rng)    receive(n) -> a, c    check()
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from coterie.base.arrays import Bits, Blocks
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.primitives.field128 import packed
from coterie.protocols.primitives.half_trees import at_missing
from coterie.protocols.primitives.local_code import SIZES, LocalCode, Size
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.transfer.single_points import PointFinder, PointOwner
from coterie.protocols.transfer.small_field import BASE_STEP, STEP, ChooserRows, HolderRows

FIRST = 4096  # products that are made of transfers at most
_ROUNDS = (Size(5, 200), Size(6, 200), Size(7, 200), *SIZES.values())


def plan(count: int, silent: bool = True) -> tuple[int, list[Size]]:
    """How many products are made of transfers, and the rounds that grow them to `count`."""
    rounds: list[Size] = []
    while silent and count > FIRST:
        most = next((size for size in _ROUNDS if size.outputs >= count), _ROUNDS[-1])
        trees = min(most.trees, -(-count >> most.depth))
        size = Size(most.depth, trees)
        rounds.insert(0, size)
        count = consumed(size) + max(0, count - size.outputs)
    return count, rounds


def consumed(size: Size) -> int:
    """The products that a round takes: the code's secret, the values of its trees, its mask."""
    return size.secret + size.trees + 1


def _points(rounds: Sequence[Size]) -> int:
    """The transfers that open the trees of all rounds, padded to whole bytes of choices."""
    return -(-sum(size.points for size in rounds) // 8) * 8


def _pieces(first: int) -> list[int]:
    """How many of the first products are made at a time, so that their transfers fit into memory."""
    return [min(FIRST, first - start) for start in range(0, first, FIRST)]


def _joined(parts: list[Blocks], count: int) -> Blocks:
    """The blocks of all rounds that the next one did not take."""
    return (parts[0] if len(parts) == 1 else np.concatenate(parts))[:count]


class VoleSender:
    """The side with delta, whose lowest bit is 1."""

    def __init__(self, channel: Channel, peer: str, rng: Random) -> None:
        self._channel, self._peer, self._rng = channel, peer, rng
        with channel.step(BASE_STEP):
            self._rows = HolderRows(channel, peer, rng)
        self.delta: Blocks = self._rows.delta
        self._points = PointOwner(channel, peer, self.delta)
        self._owed: list[Blocks] = []

    def send(self, count: int) -> Blocks:
        """b of the next `count` products."""
        first, rounds = plan(count, self._channel.silent)
        with self._channel.step(STEP):
            found, done = np.empty((first, 2), np.uint64), 0
            for piece in _pieces(first):
                q = self._rows.take(128 * piece, 128 * piece)
                found[done : done + piece] = packed(q.reshape(piece, 128, 2))
                done += piece
            q = self._rows.take(_points(rounds), _points(rounds))
            seed = self._channel.recv_bytes(self._peer, 16, "seed of a code") if rounds else b""
            parts = []
            for size in rounds:
                k, trees = size.secret, size.trees
                parts.append(found[consumed(size) :])
                leaves = self._points.open(
                    q[: size.points], size.depth, self._rng, found[k:][:trees]
                )
                q = q[size.points :]
                self._owed.append(self._points.combined(leaves, found[consumed(size) - 1]))
                LocalCode(seed, k).add([found[:k]], [leaves])
                found = leaves
            return _joined([*parts, found], count)

    def prove(self) -> None:
        """Answers the receiver's check of the vector, before the next one."""
        with self._channel.step(STEP):
            for owed in self._owed:
                self._points.answer(owed)
            self._owed = []


class VoleReceiver:
    """The side that gets random elements of the field, and their products but for b."""

    def __init__(self, channel: Channel, peer: str, rng: Random) -> None:
        self._channel, self._peer, self._rng = channel, peer, rng
        with channel.step(BASE_STEP):
            self._rows = ChooserRows(channel, peer, rng)
        self._points = PointFinder(channel, peer)
        self._due: list[bytes] = []

    def receive(self, count: int) -> tuple[Blocks, Blocks]:
        """a and c of the next `count` products; nothing of c is used before `check`."""
        first, rounds = plan(count, self._channel.silent)
        with self._channel.step(STEP):
            a, c = np.empty((2, first, 2), np.uint64)
            done = 0
            for piece in _pieces(first):
                bits, t = self._rows.take(128 * piece, 128 * piece)
                a[done : done + piece] = bits.view(np.uint64).reshape(piece, 2)
                c[done : done + piece] = packed(t.reshape(piece, 128, 2))
                done += piece
            bits, t = self._rows.take(_points(rounds), _points(rounds))
            sides = np.unpackbits(bits, bitorder="little")
            seed = self._rng.bytes(16)
            if rounds:
                self._channel.send(self._peer, seed)
            parts = []
            for size in rounds:
                k, trees = size.secret, size.trees
                parts.append((a[consumed(size) :], c[consumed(size) :]))
                turns: Bits = sides[: size.points].reshape(trees, size.depth)
                leaves = self._points.open(t[: size.points], turns, c[k:][:trees])
                noise = at_missing(a[k:][:trees], turns).reshape(-1, 2)
                t, sides = t[size.points :], sides[size.points :]
                mask = consumed(size) - 1
                self._due.append(self._points.ask(leaves, a[mask], c[mask], noise))
                LocalCode(seed, k).add([a[:k], c[:k]], [noise, leaves])
                a, c = noise, leaves
            parts.append((a, c))
            return _joined([p[0] for p in parts], count), _joined([p[1] for p in parts], count)

    def check(self) -> None:
        """Names the sender unless the vector is right; before the next one."""
        with self._channel.step(STEP):
            for due in self._due:
                self._points.settle(due)
            self._due = []
