"""The sum of all parties' vectors, which reveals nothing else about them.

Paper 3, §20.5, and paper 1, §5 (which conceals scores with it), add up in a ring, which breaks when
the two neighbours of a party collude; the pairwise masks here do not.

In: at every party a vector of the same length, of integers modulo the same number (2^64 by
default), or of real numbers that are summed in fixed point. Out: the sum, at every party.

Adversary: semi-honest, up to all parties but one colluding, over channels that outsiders cannot
read. A coalition learns the sum of the honest parties' vectors, which follows from its own inputs
and the result; each vector that it sees is uniform given that sum. One honest party alone has
nobody to hide among: its vector is the result less the coalition's.

Messages:
    1. seeds, once a session: each pair sends each other 32 random bytes; both hash the two into
       the seed that only they know.
    2. a sum: party i adds to its vector the stream of every seed it shares with a later party and
       subtracts that of every earlier one, and broadcasts the result. All masks cancel in the sum.

Cost for each party, for n parties and L entries of w bytes: n-1 AES streams of L*w bytes, (n-1)*L*w
bytes sent, one round; 32(n-1) bytes and one round for the seeds. No stream is ever used twice: the
number of the sum and the modulus are part of each stream's key.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from coterie.base.arrays import Array, Floats, Words
from coterie.base.errors import DataError
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.messaging.wire import same_value
from coterie.protocols.primitives.randomness import Random

RING = 1 << 64


class SecureSum:
    """A session of sums between the same parties: seeds once, then one round for each sum."""

    def __init__(self, channel: Channel, names: Sequence[str], rng: Random) -> None:
        self._channel = channel
        self._names = checked_names(channel, names)
        self._count = 0
        with channel.step("seeds"):
            mine = {peer: rng.bytes(32) for peer in channel.peers}
            for peer in channel.peers:
                channel.send(peer, mine[peer])
            self._seeds = {}
            for peer in channel.peers:
                theirs = channel.recv_bytes(peer, 32, "seed of 32 bytes")
                pair = sorted([(channel.me, mine[peer]), (peer, theirs)])
                self._seeds[peer] = hashlib.sha256(pair[0][1] + pair[1][1]).digest()

    def modular(self, values: Words, modulus: int = RING) -> Words:
        """The sum modulo `modulus`, at most 2^64, of vectors of unsigned 64-bit integers."""
        if not 2 <= modulus <= RING:
            raise ValueError(f"the modulus must be in 2 … 2^64, not {modulus}")
        values = np.asarray(values)
        if values.ndim != 1 or values.dtype != np.uint64:
            raise ValueError(
                f"expected a vector of uint64, not {values.dtype} of shape {values.shape}"
            )
        self._check_range(values, modulus)
        total = values % np.uint64(modulus) if modulus < RING else values.copy()
        for peer, mask in self._masks(len(values), modulus):
            total = self._add(total, self._signed(peer, mask, modulus), modulus)
        with self._channel.step("sum"):
            self._channel.broadcast(modulus, total)
            for peer in self._channel.peers:
                total = self._add(total, self._received(peer, total, modulus), modulus)
        return total

    def big(self, values: Sequence[int], modulus: int) -> list[int]:
        """The sum modulo a number of any size."""
        if modulus < 2:
            raise ValueError(f"the modulus must be at least 2, not {modulus}")
        for index, value in enumerate(values):
            if not 0 <= value < modulus:
                raise self._out_of_range(index, value, modulus)
        width = (modulus.bit_length() + 7) // 8
        total = list(values)
        for peer, stream in self._streams(modulus):
            later = self._names.index(peer) > self._names.index(self._channel.me)
            # 128 bits more than the modulus, so that the remainder is uniform up to 2^-128
            raw = stream.bytes((width + 16) * len(total))
            for index in range(len(total)):
                piece = raw[index * (width + 16) : (index + 1) * (width + 16)]
                mask = int.from_bytes(piece, "little") % modulus
                total[index] = (total[index] + (mask if later else -mask)) % modulus
        packed = b"".join(value.to_bytes(width, "little") for value in total)
        with self._channel.step("sum"):
            self._channel.broadcast(
                modulus, np.frombuffer(packed, np.uint8).reshape(len(total), width)
            )
            for peer in self._channel.peers:
                rows = self._agreed(peer, modulus, np.uint8, (len(total), width))
                for index, row in enumerate(rows):
                    share = int.from_bytes(row.tobytes(), "little")
                    if share >= modulus:
                        raise self._channel.fault(peer, f"sent share {index} beyond the modulus")
                    total[index] = (total[index] + share) % modulus
        return total

    def fixed(
        self,
        values: Floats,
        fraction_bits: int = 20,
        bound: float = 2.0**36,
    ) -> Floats:
        """The sum of real vectors, each entry rounded to a multiple of 2^-fraction_bits.

        No entry of any party may exceed `bound` in size; sums are exact as long as
        n * bound * 2^fraction_bits stays below 2^63, which is checked.
        """
        values = np.asarray(values, np.float64)
        if not 0 <= fraction_bits <= 62 or not bound > 0:
            raise ValueError("fraction_bits must be in 0 … 62 and the bound positive")
        if len(self._names) * bound * 2.0**fraction_bits >= 2.0**63:
            raise ValueError(
                f"{len(self._names)} parties, a bound of {bound:g} and {fraction_bits} "
                "fraction bits do not fit into 63 bits"
            )
        bad = ~(np.abs(values) <= bound)
        if bad.any():
            index = int(np.argmax(bad))
            raise DataError(
                f"{self._channel.me}: secure sum {self._count}: an entry is "
                "{value}" + f", not within {bound:g} of zero",
                rows=[index + 1],
                value=float(values[index]),
            )
        scaled = np.rint(values * 2.0**fraction_bits).astype(np.int64)
        total = self.modular(scaled.view(np.uint64)).view(np.int64)
        result: Floats = total / 2.0**fraction_bits
        return result

    def _streams(self, modulus: int) -> list[tuple[str, Random]]:
        number = self._count
        self._count += 1
        label = f"sum {number} modulo {modulus}".encode()
        return [(peer, Random(seed + label)) for peer, seed in self._seeds.items()]

    def _masks(self, count: int, modulus: int) -> list[tuple[str, Words]]:
        return [(peer, uniform(s, count, modulus)) for peer, s in self._streams(modulus)]

    def _signed(self, peer: str, mask: Words, modulus: int) -> Words:
        if self._names.index(peer) > self._names.index(self._channel.me):
            return mask
        if modulus == RING:
            return np.uint64(0) - mask
        return np.where(mask == 0, mask, np.uint64(modulus) - mask)

    @staticmethod
    def _add(a: Words, b: Words, modulus: int) -> Words:
        if modulus == RING:
            return a + b
        room = np.uint64(modulus) - b  # in 1 … modulus: no overflow even for moduli past 2^63
        return np.where(a >= room, a - room, a + b)

    def _check_range(self, values: Words, modulus: int) -> None:
        if modulus < RING and len(values) and int(values.max()) >= modulus:
            index = int(np.argmax(values >= np.uint64(modulus)))
            raise self._out_of_range(index, int(values[index]), modulus)

    def _out_of_range(self, index: int, value: int, modulus: int) -> DataError:
        return DataError(
            f"{self._channel.me}: secure sum {self._count}: an entry is "
            "{value}" + f", not in 0 … {modulus - 1}",
            rows=[index + 1],
            value=value,
        )

    def _agreed(self, peer: str, modulus: int, dtype: Any, shape: tuple[int, ...]) -> Array:
        """The shares of a peer that sums modulo the same number."""
        what = f"modulus and shares of shape {shape}"
        theirs, shares = self._channel.recv_list(peer, 2, what)
        if not same_value(theirs, modulus):
            raise self._channel.fault(
                peer, f"sums modulo {theirs!r:.60} where this party sums modulo {modulus}"
            )
        return self._channel.check_array(peer, shares, dtype, shape, what)

    def _received(self, peer: str, like: Words, modulus: int) -> Words:
        share = self._agreed(peer, modulus, np.uint64, like.shape)
        if modulus < RING and len(share) and int(share.max()) >= modulus:
            raise self._channel.fault(peer, "sent a share beyond the modulus")
        return share


def uniform(stream: Random, count: int, modulus: int) -> Words:
    """Numbers below the modulus, exactly uniform: draws that would favour small ones are repeated."""
    numbers: Words = stream.array(count)
    if modulus == RING:
        return numbers
    last = np.uint64(RING // modulus * modulus - 1)
    while len(redo := np.flatnonzero(numbers > last)):
        numbers[redo] = stream.array(len(redo))
    return numbers % np.uint64(modulus)


def checked_names(channel: Channel, names: Sequence[str]) -> tuple[str, ...]:
    """The names as a tuple; they must be exactly the parties of the channel."""
    if sorted(names) != sorted((channel.me, *channel.peers)):
        raise ValueError(f"{', '.join(names)} are not the parties of this channel")
    return tuple(names)
