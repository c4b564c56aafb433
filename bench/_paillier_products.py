"""Scalar products under Paillier encryption, which the benchmark measures beside transfers.

In, out and adversary: those of `protocols.numbers.scalar_product`, whose `scalar_products` takes
them. Many owns a key. The p values of a record are packed into one plaintext, each in a slot wide
enough for a whole sum (more plaintexts if p exceeds the slots).

    set-up  many -> few: the key.
    1.      many -> few: for each record the ciphertext of its slots, in chunks.
    2.      few -> many: for each of its columns the product of the ciphertexts raised to its values,
            which packs p scalar products, masked by a fresh randomizer. For shares, few first adds
            to each slot a random number 2^64 times the largest sum, and keeps its negative.

Cost: n encryptions (randomizers ahead), n q products of ciphertexts for 0/1 columns (times about the
bits of the values otherwise), q decryptions; 2 bits(modulus)/8 bytes for each record.
"""

from __future__ import annotations

from concurrent.futures import Executor
from typing import Any

import numpy as np

from coterie.base.arrays import Array
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.numbers.inner_product import mask_bound
from coterie.protocols.numbers.packing import Slots
from coterie.protocols.numbers.paillier import DEFAULT_BITS, PrivateKey, agree_on_key, from_bytes
from coterie.protocols.numbers.randomizers import Randomizers
from coterie.protocols.numbers.scalar_product import Sizes
from coterie.protocols.numbers.shares import Ring
from coterie.protocols.primitives.randomness import Random

_RECORDS = 4096  # ciphertexts in a message (3 MB), so that both parties compute at the same time


class PaillierProducts:
    """Scalar products under the key of the party with many columns."""

    def __init__(
        self,
        channel: Channel,
        peer: str,
        many: bool,
        rng: Random,
        bits: int = DEFAULT_BITS,
        key: PrivateKey | None = None,
    ) -> None:
        """Sends or receives the key. The party with many columns may pass its own."""
        self.channel, self.peer, self.many = channel, peer, many
        self.key = agree_on_key(channel, peer, many, rng, bits, key)
        self.randomizers = Randomizers(self.key, rng, "full")

    def slots(self, sizes: Sizes, masked: bool) -> Slots:
        return Slots.fitting(
            sizes.largest + (mask_bound(sizes.largest) - 1 if masked else 0),
            self.key.plaintext_bits,
            f"a scalar product of up to {sizes.largest}" + " and its mask" * masked,
        )

    def check(self, sizes: Sizes, ring: Ring, masked: bool) -> None:
        self.slots(sizes, masked)

    def prepare(self, sizes: Sizes, masked: bool = True, executor: Executor | None = None) -> None:
        """The offline part: this party's randomizers; in an executor's processes if there is one.

        `masked` is False if the result goes to the party with many columns and no range is signed.
        """
        groups = self.slots(sizes, masked).plaintexts(sizes.many)
        count = groups * (sizes.records if self.many else sizes.few)
        self.randomizers.prepare(count, executor)

    def shares(self, sizes: Sizes, values: Array, ring: Ring, rng: Random) -> Array:
        slots = self.slots(sizes, True)
        if self.many:
            return ring.array(self._send(sizes, values, slots))
        size = (mask_bound(sizes.largest).bit_length() - 1) // 8
        groups = slots.plaintexts(sizes.many)
        masks = np.zeros((sizes.few, groups * slots.count, slots.width), np.uint8)
        masks[:, : sizes.many, :size] = rng.array((sizes.few, sizes.many, size), np.uint8)
        plain = slots.pack_bytes(masks.reshape(sizes.few * groups, slots.count, slots.width))
        self._combine(sizes, values, slots, plain)
        flat = from_bytes(masks[:, : sizes.many].reshape(-1, slots.width))
        drawn = ring.array([int(mask) for mask in flat]).reshape(sizes.few, sizes.many)
        return ring.negate(drawn.T)

    def to_many(self, sizes: Sizes, values: Array, rng: Random) -> Array | None:
        slots = self.slots(sizes, False)
        if self.many:
            return self._send(sizes, values, slots)
        self._combine(sizes, values, slots, [0] * (sizes.few * slots.plaintexts(sizes.many)))
        return None

    def _send(self, sizes: Sizes, values: Array, slots: Slots) -> Array:
        key = self.key
        assert isinstance(key, PrivateKey)
        groups = slots.plaintexts(sizes.many)
        for group in range(groups):
            columns = values[:, group * slots.count : (group + 1) * slots.count]
            for start in range(0, sizes.records, _RECORDS):
                plain = slots.pack(columns[start : start + _RECORDS])
                encrypted = key.encrypt(plain, self.randomizers.take(len(plain)))
                self.channel.send(self.peer, key.to_wire(encrypted))
                self.channel.progress(group * sizes.records + start, groups * sizes.records)
        received = self.channel.recv(self.peer)
        sums = key.decrypt(key.from_wire(self.channel, self.peer, received, sizes.few * groups))
        if any(int(s).bit_length() > 8 * slots.width * slots.count for s in sums):
            raise self.channel.fault(self.peer, "sent a sum that overflows its slots")
        matrix = slots.unpack(sums, slots.count).reshape(sizes.few, groups * slots.count)
        return np.ascontiguousarray(matrix[:, : sizes.many].T)

    def _combine(self, sizes: Sizes, values: Array, slots: Slots, masks: list[Any]) -> None:
        key, groups = self.key, slots.plaintexts(sizes.many)
        low, high = sizes.moved[1]
        bits = (high - low).bit_length()
        hidden = key.encrypt(masks, self.randomizers.take(len(masks)))
        totals = [hidden[column * groups : (column + 1) * groups] for column in range(sizes.few)]
        for group in range(groups):
            for start in range(0, sizes.records, _RECORDS):
                count = min(_RECORDS, sizes.records - start)
                received = self.channel.recv(self.peer)
                encrypted = key.from_wire(self.channel, self.peer, received, count)
                part = values[start : start + count]
                for column, total in enumerate(totals):
                    weights = part[:, column].tolist()
                    partial = key.weighted_sum(encrypted, weights, bits)
                    [total[group]] = key.add([total[group]], [partial])
        self.channel.send(self.peer, key.to_wire([total for row in totals for total in row]))
