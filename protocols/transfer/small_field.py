"""Correlated transfers of random bits, extended from small trees and checked against a cheating peer.

Roy, "SoftSpokenOT: Quieter OT Extension from Small-Field Silent VOLE in the Minicrypt Model" (CRYPTO
2022, eprint 2022/192): the subspace VOLE of figures 7 and 8 over GF(2^4) with a repetition code,
which takes 31 bits for each transfer where the extension of Ishai and others takes 128. In: nothing
but `delta` at the holder, of 128 bits of which the lowest is 1. Out, any number of times: blocks q at
the holder, random bits r and blocks t at the chooser, with t = q ^ r delta. The holder learns nothing
of r, the chooser nothing of delta.

For each tree i the chooser knows the streams of all 16 leaves (`punctured_leaves`), adds them up to
u_i, and those of the leaves whose place has bit b to v_ib; the holder, who knows all leaves but that
of delta_i, gets w_ib = v_ib ^ delta_ib u_i. The chooser sends u_i ^ u_0 for i > 0, so that the holder
can pass from u_i to u_0 = r everywhere. The 128 w and v, transposed, are q and t.

Adversary: malicious. A chooser that sends false corrections would make t = q ^ e delta for an e of
its choice, different in each tree, and read delta from whatever is sealed with q: with 16 bytes for
each transfer and no check, 128 of 128 bits. The check, once for each batch and before any of its
rows is used: R maps a string of bits to the sum of its pieces of 128 bits, each times a random element
of GF(2^128), and a last piece as it is, which belongs to 128 transfers that are thrown away and hides
the others. The chooser sends R(u_0) and R(v_ib), the holder compares R(w_ib) with R(v_ib) ^ delta_ib
R(u_0). A chooser whose corrections are false in some trees must guess the bits of delta there: it
passes with probability 2^-d with d bits guessed, and is named otherwise, so that the chance to pass
times the rest of the search stays 2^127. All that a holder sends is the base transfers' points.

Judgement of the challenge. Roy has the holder name it after the corrections; here it is the hash
(SHA-256, a random oracle) of the trees and all corrections of the session so far, which saves half a
round and lets every protocol above go on as before. The price: a chooser may try corrections offline
until R does not see a difference. A try frees 128 / g bits with a probability of about g^2 2^-129 (two
of g groups of trees collide), so that freeing eight bits takes some 2^120 tries, each a hash and a
product, and then leaves 2^119 values to search; no split of the work that we see is cheaper. That is
more than the hash of the messages leaves (`protocols.primitives.aes`). It is our own count, without a
proof. The combination of rows of Keller and others (CRYPTO 2015) would send 32 bytes in place of 2,064; Roy
found a gap in its proof.

Assumptions: the base transfers, which resist malicious peers (`base_transfer`); AES-128 as a
generator. Rows are made ahead, so that many small calls share a check: a batch has what the call
wants and at least as many as were made before, up to 2^13 more.

Messages for a batch of n rows, n a multiple of 1,024 of which n - 128 are given out: one, of
31 n / 8 + 2,064 bytes, from the chooser. Cost: 4 blocks of AES, a product in GF(2^128) and a hash of 4
bytes for each row at either side: 17 to 23 ns at the chooser or the holder, against 10 to 13 with the
unchecked extension of Ishai and others, measured in runs of the same session. On a link of 100 Mbit/s
its 16 bytes took 1,280 ns, these 4 take 320.
"""

from __future__ import annotations

import hashlib
from typing import TypeVar

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from coterie.base.arrays import Array, Blocks, Bytes
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.primitives.field128 import inner_products
from coterie.protocols.primitives.leaf_sums import PIECE, LeafSums
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.primitives.transpose import transpose
from coterie.protocols.transfer.punctured_leaves import SECRET_BITS, TREES, hold_leaves, own_leaves

BASE_STEP, STEP = "base transfers", "transfers"
BATCH = 1 << 16  # rows of a batch at most: what stays in a core's cache, in a message of 256 kB
AHEAD = 1 << 13  # rows that are made for later calls at most
_HIDING = 128  # rows of a batch that hide the others in its check
_UNIT = 128 * PIECE  # rows come by multiples of this
_LABEL = b"coterie small field\0"

Kept = TypeVar("Kept", Blocks, Bytes)


class _Rows:
    """What both sides keep count of: rows made, rows used, and the transcript of the session."""

    def __init__(self, channel: Channel, peer: str, holder: str, trees: bytes) -> None:
        self._channel, self._peer = channel, peer
        other = peer if holder == channel.me else channel.me
        instance = channel.next_instance(f"small trees of {holder} and {other}")
        names = [name.encode() for name in (channel.session, holder, other)]
        head = _LABEL + b"".join(len(name).to_bytes(4, "big") + name for name in names)
        self._transcript = hashlib.sha256(head + instance.to_bytes(8, "big") + trees)
        self._counter = 0  # blocks of every stream that were used
        self._made = 0
        self._left = 0  # rows of the last batch that were not yet given out

    def _next_batch(self, wanted: int) -> int:
        """The number of rows of the next batch, for a call that wants so many more of them."""
        useful = max(wanted, min(self._made, AHEAD))
        return min(BATCH, -(-(useful + _HIDING) // _UNIT) * _UNIT)

    def _count_batch(self, rows: int) -> None:
        self._counter += rows // 128
        self._left = rows - _HIDING
        self._made += self._left

    def _factors(self, corrections: Bytes, rows: int) -> Blocks:
        """The factors of R, drawn from all corrections so far; the last is one."""
        self._transcript.update(corrections.data)
        key = self._transcript.digest()[:16]
        stream = Cipher(algorithms.AES(key), modes.CTR(bytes(16))).encryptor()
        found = np.frombuffer(stream.update(bytes(rows // 8)), np.uint64).reshape(-1, 2).copy()
        found[-1] = 1, 0
        return found


class HolderRows(_Rows):
    """The side with `delta`."""

    def __init__(self, channel: Channel, peer: str, rng: Random) -> None:
        bits = rng.bits(SECRET_BITS)
        bits[0] = 1  # garbling reads the colour of a label from this bit
        self.delta: Blocks = np.packbits(bits, bitorder="little").view(np.uint64)
        leaves, trees = hold_leaves(channel, peer, bits, rng)
        super().__init__(channel, peer, channel.me, trees)
        self._streams = LeafSums(leaves, known=False)
        self._bytes = (-bits).astype(np.uint8)[:, None]  # 0xff where delta has a one
        self._words = (np.uint64(0) - bits.astype(np.uint64))[:, None]
        self._rows: Blocks = np.empty((0, 2), np.uint64)

    def take(self, count: int, wanted: int) -> Blocks:
        """The next `count` rows q, a multiple of eight, of the `wanted` of the whole call."""
        parts = []
        while count:
            if not self._left:
                self._fill(wanted)
            size = min(count, self._left)
            parts.append(self._rows[-self._left :][:size])
            self._left -= size
            count, wanted = count - size, wanted - size
        return _joined(parts, self._rows)

    def _fill(self, wanted: int) -> None:
        rows = self._next_batch(wanted)
        width, what = rows // 8, "corrections of transfers"
        corrections, check = self._channel.recv_values(self._peer, 2, what)
        self._channel.check_array(self._peer, corrections, np.uint8, (TREES - 1, width), what)
        what = "check values of transfers"
        self._channel.check_array(self._peer, check, np.uint64, (1 + SECRET_BITS, 2), what)
        _, planes = self._streams.sums(self._counter, rows // 128)
        flat = planes.reshape(SECRET_BITS, -1).view(np.uint8)
        _correct(flat, corrections, self._bytes)
        self._check(flat, self._factors(corrections, rows), check)
        self._rows = transpose(flat[:, : (rows - _HIDING) // 8]).view(np.uint64)
        self._count_batch(rows)

    def _check(self, planes: Bytes, factors: Blocks, check: Blocks) -> None:
        found = inner_products(planes.view(np.uint64).reshape(SECRET_BITS, -1, 2), factors)
        if (found != check[1:] ^ (check[0] & self._words)).any():
            raise self._channel.fault(
                self._peer, "sent inconsistent corrections of transfers, as to learn a secret"
            )


class ChooserRows(_Rows):
    """The side with the random bits."""

    def __init__(self, channel: Channel, peer: str, rng: Random) -> None:
        leaves, trees = own_leaves(channel, peer, rng)
        super().__init__(channel, peer, peer, trees)
        self._streams = LeafSums(leaves)
        self._bits: Bytes = np.empty(0, np.uint8)
        self._rows: Blocks = np.empty((0, 2), np.uint64)

    def take(self, count: int, wanted: int) -> tuple[Bytes, Blocks]:
        """The next `count` random bits, packed, and rows t; as at the holder."""
        bits, parts = [], []
        while count:
            if not self._left:
                self._fill(wanted)
            size = min(count, self._left)
            bits.append(self._bits[-(self._left // 8) :][: size // 8])
            parts.append(self._rows[-self._left :][:size])
            self._left -= size
            count, wanted = count - size, wanted - size
        return _joined(bits, self._bits), _joined(parts, self._rows)

    def _fill(self, wanted: int) -> None:
        rows = self._next_batch(wanted)
        totals, planes = self._streams.sums(self._counter, rows // 128)
        corrections = (totals[1:] ^ totals[0]).view(np.uint8)
        factors = self._factors(corrections, rows)
        checked = [
            inner_products(part.reshape(-1, len(factors), 2), factors)
            for part in (totals[0], planes)
        ]
        self._channel.send(self._peer, corrections, np.concatenate(checked))
        flat = planes.reshape(SECRET_BITS, -1).view(np.uint8)
        useful = (rows - _HIDING) // 8
        self._rows = transpose(flat[:, :useful]).view(np.uint64)
        self._bits = totals[0].view(np.uint8)[:useful]
        self._count_batch(rows)


def _correct(planes: Array, corrections: Array, mask: Array) -> None:
    """Adds to the four planes of each tree its correction where delta has a one."""
    each = SECRET_BITS // TREES
    for tree in range(1, TREES):
        at = slice(each * tree, each * (tree + 1))
        planes[at] ^= corrections[tree - 1] & mask[at]


def _joined(parts: list[Kept], like: Kept) -> Kept:
    if len(parts) == 1:
        return parts[0]
    return np.concatenate(parts) if parts else like[:0]
