"""Inner products between rows of one party and rows of the other, as shares; many rows at once.

In: U at the first party and V at the second, both of shape (rows, columns) with elements of a ring
Z_m. Out: shares of z_i = Σ_c U[i,c] V[i,c] mod m; nobody learns anything else. Shared products
(`protocols.numbers.shares`) and polynomials (`protocols.numbers.polynomial`) are such sums. Two
engines, one interface:

`PaillierEngine`: the second party owns a key. Any m. Lindell and Pinkas, "Privacy preserving data
mining" (J. Cryptology 2002), §4.3, evaluate polynomials in this way; packing into slots is added
here.
    set-up  second -> first: n and the base of the randomizers.
    1.      second -> first: Enc(V[i,c] 256^(w s)) for each element, where s is the slot of row i.
    2.      first -> second: for each group of as many rows as there are slots, one ciphertext of
            Σ_i 256^(w s_i) (Σ_c U[i,c] V[i,c] + R_i), masked by a fresh randomizer.
    The sums are taken over the integers, below B = columns (m-1)². R_i is uniform below 2^64 B, so
    that the distribution of what the second party decrypts depends on U by at most 2^-64 (more than
    the required 40 bits: a million sums still have 44). The first party's share is -R_i mod m, the
    second's the decrypted number mod m. Before any work the parties check that a slot has room for
    B + 2^64 B.
    Cost: rows·columns encryptions (randomizers ahead), about bits(m)/4 ciphertext products for each
    element, rows/slots decryptions; 2 bits(n) / 8 bytes a ciphertext; one round.

`TransferEngine`: oblivious transfer, by Gilboa's products (`protocols.numbers.multiplication`),
summed. Any m; powers of two are cheapest. The first party is the sender.
    Cost: for m = 2^l, rows·columns·l transfers, 16 + l/8 bytes each; one round.

Adversary: semi-honest, computationally bounded; assumptions of `protocols.numbers.randomizers`
(DCR) or of `protocols.transfer.oblivious_transfer`. A cheating party can make the shares wrong; a
cheating key owner that sends randomizers outside its announced group can learn a little about U.
"""

from __future__ import annotations

from concurrent.futures import Executor
from typing import Any

import numpy as np

from coterie.base.arrays import Array
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.numbers.multiplication import receive_products, send_products
from coterie.protocols.numbers.packing import Slots
from coterie.protocols.numbers.paillier import DEFAULT_BITS, PrivateKey, agree_on_key, from_bytes
from coterie.protocols.numbers.randomizers import Randomizers
from coterie.protocols.numbers.shares import Ring
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.transfer.oblivious_transfer import Receiver, Sender

MASK_BITS = 64  # statistical security of one masked sum
_GROUPS = 8  # ciphertexts in one message, so that the owner decrypts while the next ones are made


class PaillierEngine:
    """Inner products under the second party's Paillier key."""

    def __init__(
        self,
        channel: Channel,
        peer: str,
        first: bool,
        rng: Random,
        bits: int = DEFAULT_BITS,
        key: PrivateKey | None = None,
    ) -> None:
        """Sends or receives the key. The second party may pass its own; otherwise it generates one."""
        self.channel, self.peer, self.first = channel, peer, first
        self.key = agree_on_key(channel, peer, not first, rng, bits, key)
        self.randomizers = Randomizers(self.key, rng, "full")

    def slots(self, ring: Ring, columns: int) -> Slots:
        """The slots of the sums; raises before any work if the key is too small for one sum."""
        largest = sum_bound(ring, columns)
        return Slots.fitting(
            largest + (mask_bound(largest) - 1),
            self.key.plaintext_bits,
            f"a masked sum of {columns} products modulo a number of {ring.bits} bits",
        )

    def needed(self, ring: Ring, rows: int, columns: int) -> int:
        """The number of randomizers that this party needs for `rows` inner products."""
        slots = self.slots(ring, columns)
        return slots.plaintexts(rows) if self.first else rows * columns

    def prepare(
        self, ring: Ring, rows: int, columns: int, executor: Executor | None = None
    ) -> None:
        """The offline part: makes this party's randomizers for `rows` inner products."""
        self.randomizers.prepare(self.needed(ring, rows, columns), executor)

    def inner_products(self, ring: Ring, mine: Array, rng: Random) -> Array:
        slots = self.slots(ring, mine.shape[1])
        with self.channel.step("inner products"):
            if self.first:
                return self._combine(ring, mine, slots, rng)
            return self._offer(ring, mine, slots)

    def _offer(self, ring: Ring, values: Array, slots: Slots) -> Array:
        """The second party's side."""
        key = self.key
        assert isinstance(key, PrivateKey)  # noqa: S101 for the type checker
        rows, columns = values.shape
        shifts = [8 * slots.width * (i % slots.count) for i in range(rows)]
        plain = [int(v) << shift for row, shift in zip(values, shifts, strict=True) for v in row]
        encrypted = key.encrypt(plain, self.randomizers.take(rows * columns))
        self.channel.send(self.peer, key.to_wire(encrypted))
        groups = slots.plaintexts(rows)
        sums: list[Any] = []
        for start in range(0, groups, _GROUPS):
            count = min(_GROUPS, groups - start)
            answer = key.from_wire(self.channel, self.peer, self.channel.recv(self.peer), count)
            sums += key.decrypt(answer)
            self.channel.progress(start + count, groups)
        if any(int(s).bit_length() > 8 * slots.width * slots.count for s in sums):
            raise self.channel.fault(self.peer, "sent a sum that overflows its slots")
        return ring.array(slots.unpack(sums, slots.count).reshape(-1)[:rows])

    def _combine(self, ring: Ring, weights: Array, slots: Slots, rng: Random) -> Array:
        """The first party's side."""
        key, (rows, columns) = self.key, weights.shape
        received = self.channel.recv(self.peer)
        encrypted = key.from_wire(self.channel, self.peer, received, rows * columns)
        flat = [int(weight) for weight in weights.reshape(-1)]
        size = (mask_bound(sum_bound(ring, columns)).bit_length() - 1) // 8
        masks = np.zeros((slots.plaintexts(rows), slots.count, slots.width), np.uint8)
        used = masks.reshape(-1, slots.width)[:rows]
        used[:, :size] = rng.array((rows, size), np.uint8)
        groups = len(masks)
        for start in range(0, groups, _GROUPS):
            stop = min(start + _GROUPS, groups)
            noise = slots.pack_bytes(masks[start:stop])
            hidden = key.encrypt(noise, self.randomizers.take(stop - start))
            sums = []
            for group in range(start, stop):
                at = slice(group * slots.count * columns, (group + 1) * slots.count * columns)
                sums.append(key.weighted_sum(encrypted[at], flat[at], ring.bits))
            self.channel.send(self.peer, key.to_wire(key.add(sums, hidden)))
            self.channel.progress(stop, groups)
        return ring.negate(ring.array([int(m) for m in from_bytes(used)]))


def least_key_bits(ring: Ring, columns: int) -> int:
    """The length of the smallest key that has room for these inner products."""
    largest = sum_bound(ring, columns)
    return 8 * -(-(largest + mask_bound(largest) - 1).bit_length() // 8) + 1


def sum_bound(ring: Ring, columns: int) -> int:
    """The largest sum of products over the integers."""
    return columns * (ring.modulus - 1) ** 2


def mask_bound(largest: int) -> int:
    """The bound of uniform masks: a power of 256, at least 2^MASK_BITS times `largest`."""
    return 1 << (8 * -(-(largest.bit_length() + MASK_BITS) // 8))


class TransferEngine:
    """Inner products by oblivious transfer: the first party is its sender."""

    def __init__(
        self,
        channel: Channel,
        peer: str,
        first: bool,
        rng: Random,
        transfers: Sender | Receiver | None = None,
    ) -> None:
        """Runs the base transfers, unless `transfers` is a session that has run them."""
        self.channel, self.peer, self.first = channel, peer, first
        if transfers is None:
            transfers = (Sender if first else Receiver)(channel, peer, rng)
        self.transfers = transfers

    def inner_products(self, ring: Ring, mine: Array, rng: Random) -> Array:
        flat = mine.reshape(-1)
        with self.channel.step("inner products"):
            if isinstance(self.transfers, Sender):
                share = send_products(self.transfers, flat, ring.modulus, ring.bits)
            else:
                share = receive_products(self.transfers, flat, ring.modulus, ring.bits)
        return ring.sum(ring.array(share).reshape(mine.shape), axis=1)
