"""Correlated transfers of random bits that send a fifth of a byte each: a few grow into many.

Yang, Weng, Lan, Zhang and Wang, "Ferret: Fast Extension for Correlated OT with Small Communication" (CCS
2020, eprint 2020/924), with the trees of Guo and others (EUROCRYPT 2023). In and out as in `small_field`:
blocks q at the holder of `delta`, random bits r and blocks t = q ^ r delta at the chooser; but r is the
lowest bit of t, and that of q is 0. A session begins with the transfers of `small_field` and goes on with
these once a call, with all calls before it, comes to `FEWEST`.

A round turns M transfers into n under the same delta. The first k are the secret of a public code of ten
places a row (`primitives.local_code`), `trees` times `depth` open the trees of `single_points`, of which
each gives 2^depth blocks that are correlated at one secret place, and 128 hide the check. Row i of the code plus
leaf i is output i. M of the outputs are kept for the next round, the others are given out. No transfer
serves twice, and nothing goes out before the round's check has passed. A first round of `FIRST` takes
little from `small_field`, all later ones are of `LATER`.

Adversary: malicious. The chooser's one message of a round is its check value, from which it learns nothing
of delta but by a guess. A holder that sends false blocks passes with d bits of places guessed with
probability 2^-d, and is named otherwise (`single_points`). What it sends does not touch r. Assumptions: those
of `small_field`; half-trees' circular correlation robust hash; and that learning parity with noise (LPN) is
hard for this code with one wrong bit in each piece of 2^depth, even if some bits of places are known as
above. The seed of the code is the hash of the holder's first blocks and of 16 bytes that the chooser draws
after these, so that a holder cannot look for a weak code. A chooser might; r is its own, and the code hides
nothing from it.

What the assumption rests on, and our judgement. Several libraries use regular noise and ten places a row,
and nobody has proved anything for it. We computed two attacks (`bench/_lpn_estimates.py`, docs/transfers.md): about 2^179 and 2^151 operations for `LATER`. The
second is our own observation, unpublished and unreviewed: rows have only ten places, so that some
s = k (k/n)^(1/9) columns contain s rows wholly, and only those must be guessed free of noise. We hold it for
right, because the count of such rows is a plain expectation and toy codes had them with full rank, and for
a lower bound of nothing: whoever finds denser small parts, or combines it with the other attack, does
better. With k = 64 2^depth, as others use, it leaves 106 to 108 bits; k = 96 2^depth costs 4 % of the
outputs and was chosen for it. A party that will not rest on LPN forbids silent transfers in its policy
(`silent: false`): then the jobs it takes part in use `small_field` alone.

Messages of a round: holder -> chooser 16 bytes for each level of each tree; chooser -> holder 16, and 16
of seed in the first round; holder -> chooser 32. One round and a half of the network for 180,000 or 763,000
transfers, in which both sides must call at the same time: `reserve` makes ahead what calls in opposite
directions need. Cost, a side: docs/transfers.md.
"""

from __future__ import annotations

import hashlib
from collections import deque
from typing import Any

import numpy as np

from coterie.base.arrays import Bits, Blocks, Bytes
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.primitives.field128 import packed
from coterie.protocols.primitives.local_code import SIZES, LocalCode, Size
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.transfer.single_points import PointFinder, PointOwner
from coterie.protocols.transfer.small_field import ChooserRows, HolderRows

FEWEST = 1 << 17  # transfers of a session from which on they are silent
FIRST, LATER = SIZES[9], SIZES[10]
_HIDING = 128
_CODED = 1 << 13  # outputs that are made together at least
_SEED = 16
_LABEL = b"coterie silent transfers\0"
_LOWEST = np.uint64(1)


class _Outputs:
    """What remains of a round's outputs, of which the code's part is added when they are drawn."""

    def __init__(self, code: LocalCode, secret: Blocks, leaves: Blocks) -> None:
        self._code, self._secret, self._blocks = code, secret, leaves
        self._coded = self._drawn = 0
        self._first = code.skip(len(leaves))

    def __len__(self) -> int:
        return len(self._blocks) - self._drawn

    def draw(self, count: int) -> Blocks:
        """The next rows, at most `count`."""
        due = self._drawn + count
        if due > self._coded:
            new = self._blocks[self._coded : max(due, self._coded + _CODED)]
            self._code.add([self._secret], [new], self._first + self._coded)
            self._coded += len(new)
        rows = self._blocks[self._drawn : due]
        self._drawn += len(rows)
        return rows


class _Rounds:
    """What both sides keep: the outputs of rounds, and how many rows were given out."""

    def __init__(self, channel: Channel, peer: str, points: Any) -> None:
        self._channel, self._peer, self._points = channel, peer, points
        self._stock: deque[_Outputs] = deque()  # the oldest round first
        self._given = 0
        self._size, self._later = FIRST, LATER  # of the next round, and of those after it
        self._fewest = FEWEST
        self._seed: bytes | None = None
        self._codes: dict[Size, LocalCode] = {}

    def reserve(self, count: int) -> None:
        """Makes rows ahead, so that the next `count` are taken without an answer of the peer."""
        if self._silent(count):
            while self._spare < count:
                self._round()

    def _taken(self, count: int) -> Blocks:
        parts = [np.empty((0, 2), np.uint64)]
        while count:
            if not self._spare:
                self._round()
            parts.append(self._stock[0].draw(min(count, self._spare)))
            count -= len(parts[-1])
            if not self._stock[0]:
                self._stock.popleft()
        return parts[1] if len(parts) == 2 else np.concatenate(parts)

    def _silent(self, wanted: int) -> bool:
        """Whether the next `wanted` transfers are silent ones."""
        return self._channel.silent and (bool(self._stock) or self._given + wanted >= self._fewest)

    @property
    def _spare(self) -> int:
        """The rows that may be given out before the next round."""
        return sum(map(len, self._stock)) - _input(self._size) if self._stock else 0

    def _round(self) -> None:
        size, count = self._size, _input(self._size)
        rows = self._stock[-1].draw(count) if self._stock else self._first(count)
        secret, opening, hiding, _ = np.split(rows, np.cumsum([size.secret, size.points, _HIDING]))
        leaves = self._leaves(size, opening, hiding)
        if size not in self._codes:
            key = hashlib.sha256(_LABEL + bytes([size.depth]) + (self._seed or b"")).digest()
            self._codes[size] = LocalCode(key[:16], size.secret)
        if self._stock and not self._stock[-1]:
            self._stock.pop()
        self._stock.append(_Outputs(self._codes[size], secret, leaves))
        self._size = self._later

    def _agree(self, seed: bytes) -> None:
        """The seed of all codes, from what the holder sent and what the chooser drew after that."""
        self._seed = hashlib.sha256(_LABEL + self._points.transcript + seed).digest()

    def _first(self, count: int) -> Blocks:
        """Rows of `small_field`, in the form of silent ones."""
        raise NotImplementedError

    def _leaves(self, size: Size, opening: Blocks, hiding: Blocks) -> Blocks:
        """The leaves of a round's trees, checked."""
        raise NotImplementedError


class HolderTransfers(_Rounds):
    """The side with `delta`."""

    def __init__(self, channel: Channel, peer: str, rng: Random) -> None:
        self._source, self._rng = HolderRows(channel, peer, rng), rng
        self.delta = self._source.delta
        super().__init__(channel, peer, PointOwner(channel, peer, self.delta))

    def take(self, count: int, wanted: int) -> Blocks:
        """The next `count` rows q, a multiple of eight, of the `wanted` of the whole call."""
        silent = self._silent(wanted)
        self._given += count
        return self._taken(count) if silent else self._source.take(count, wanted)

    def _first(self, count: int) -> Blocks:
        rows = self._source.take(count, count)
        return np.stack([rows[:, 0] & ~_LOWEST, rows[:, 1]], axis=1)

    def _leaves(self, size: Size, opening: Blocks, hiding: Blocks) -> Blocks:
        leaves: Blocks = self._points.open(opening, size.depth, self._rng)
        if self._seed is None:
            what = "seed of silent transfers"
            self._agree(self._channel.recv_bytes(self._peer, _SEED, what))
        self._points.prove(leaves, packed(hiding[None])[0])
        return leaves


class ChooserTransfers(_Rounds):
    """The side with the random bits."""

    def __init__(self, channel: Channel, peer: str, rng: Random) -> None:
        self._source, self._rng = ChooserRows(channel, peer, rng), rng
        super().__init__(channel, peer, PointFinder(channel, peer))

    def take(self, count: int, wanted: int) -> tuple[Bytes, Blocks]:
        """The next `count` random bits, packed, and rows t; as at the holder."""
        silent = self._silent(wanted)
        self._given += count
        if not silent:
            return self._source.take(count, wanted)
        rows = self._taken(count)
        return _lowest_bits(rows), rows

    def _first(self, count: int) -> Blocks:
        bits, rows = self._source.take(count, count)
        known = np.unpackbits(bits, bitorder="little")
        return np.stack([rows[:, 0] & ~_LOWEST | known, rows[:, 1]], axis=1)

    def _leaves(self, size: Size, opening: Blocks, hiding: Blocks) -> Blocks:
        sides = _lowest(opening).reshape(size.trees, size.depth)
        leaves: Blocks = self._points.open(opening, sides)
        if self._seed is None:
            seed = self._rng.bytes(_SEED)
            self._channel.send(self._peer, seed)
            self._agree(seed)
        place_mask = _lowest_bits(hiding).view(np.uint64)
        self._points.check(leaves, place_mask, packed(hiding[None])[0])
        return leaves


def _input(size: Size) -> int:
    """The transfers that a round takes, by eights."""
    return -(-(size.secret + size.points + _HIDING) // 8) * 8


def _lowest(rows: Blocks) -> Bits:
    return (rows[:, 0] & _LOWEST).astype(np.uint8)


def _lowest_bits(rows: Blocks) -> Bytes:
    return np.packbits(_lowest(rows), bitorder="little")
