"""Many oblivious transfers between two parties, extended from 128 base transfers per session.

The rows are those of `small_field`, or of `silent` in a session of many: random choices r, and blocks
t = q ^ r delta under one secret `delta` of the session. The receiver sends choice ^ r for every transfer (Beaver, "Precomputing
Oblivious Transfer", CRYPTO 1995), and the sender adds delta to its row where that is 1; messages are
then sealed as in Asharov, Lindell, Schneider and Zohner (CCS 2013), section 5. A `Sender` and a
`Receiver` are made once for an ordered pair of parties. Then both sides call the same kinds of
transfer any number of times, in the same order:

    Sender                        Receiver
    correlated(count) -> q        correlated(choices) -> t       t = q ^ choice * delta
    random(count) -> m0, m1       random(choices) -> m           m = m1 where choice else m0
    send(m0, m1)                  receive(choices, width) -> m   messages of any width
    random_bits(count)            random_bits(choices, count)    as random, one bit each, packed
    multiply_bits(x, count)       multiply_bits(y, count)        XOR shares of x & y, packed

Inputs and outputs of each kind stand in the table. The sender learns nothing about the choices and
the receiver nothing about the message that it did not choose.

Adversary: malicious, for delta and the choices. A receiver that deviates is named before anything
is sealed with its rows, but for a guess of bits of delta, which passes with probability 2^-d for d
bits; a sender has nothing to deviate in but its points, the blocks of `silent` and its messages. What a sender puts into a
message is its own choice: a protocol above that asks for a certain message (a correction of a
product, say) does not learn here whether it is the right one. Assumptions: those of `small_field` and `silent`, and
the correlation robustness of the hash in `protocols.primitives.aes` (TMMO, random permutation model),
against receivers that choose their rows, too. All hashes of one session have different tweaks.

Messages for n transfers: the receiver sends 4 n bytes and 2,064 for each 65,408 of them, or some rows
fewer or more, since batches come by 1,024 rows and some ahead; the sender answers `send` with 2 n
messages and `multiply_bits` with n bits; nothing otherwise. Half a round, or one with the answer. A
session starts with 8 kB of base transfers and 4 kB of trees, in one round and a half. From
`silent.FEWEST` transfers on, n more send n / 8 bytes of choices and what `silent` says, and both sides
must call at the same time, or have called `reserve`. Cost of the first ones: at either side 4 blocks of AES and a product in GF(2^128) for each transfer, and one hash at the receiver, two at
the sender.

Bits are uint8 zeros and ones, one to an item; "packed" means eight to a byte, lowest first.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from coterie.base.arrays import Array, Blocks, Bytes
from coterie.base.compiled import compiled
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.primitives.aes import TRANSFER, hashed, hashed_bits
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.transfer.silent import ChooserTransfers, HolderTransfers
from coterie.protocols.transfer.small_field import BASE_STEP, STEP

CHUNK = 1 << 17  # transfers that are worked on together; a multiple of 8


def pack(bits: Array) -> Bytes:
    """Zeros and ones, or booleans, eight to a byte."""
    return np.packbits(bits, bitorder="little")


def unpack(packed: Bytes, count: int) -> Bytes:
    return np.unpackbits(packed, count=count, bitorder="little")


def _chunks(count: int) -> Iterator[tuple[int, int]]:
    """The start of each chunk and its number of transfers."""
    for start in range(0, count, CHUNK):
        yield start, min(CHUNK, count - start)


def _padded(count: int) -> int:
    return -(-count // 8) * 8


@compiled
def _chosen(rows: Any, packed: Any, delta: Any, out: Any) -> None:
    """out[i] = rows[i] ^ bit i * delta, without a decision."""
    for i in range(rows.shape[0]):
        bit = (np.uint64(packed[i >> 3]) >> np.uint64(i & 7)) & np.uint64(1)
        mask = np.uint64(0) - bit
        out[i, 0] = rows[i, 0] ^ (mask & delta[0])
        out[i, 1] = rows[i, 1] ^ (mask & delta[1])


class _Side:
    """The state of both sides: the peer, and the number of tweaks that the session has used."""

    def __init__(
        self, channel: Channel, peer: str, source: HolderTransfers | ChooserTransfers
    ) -> None:
        self.channel = channel
        self.peer = peer
        self._made = source
        self._tweak = 0

    def reserve(self, count: int) -> None:
        """Both sides call this before transfers that one side begins while the other does something else.

        It makes what the next call needs if it is of `count` transfers. Without it, a call may
        wait until the peer calls, too.
        """
        with self.channel.step(STEP):
            self._made.reserve(_padded(count))

    def _hash(self, rows: Blocks, words: int, masks: tuple[Blocks | None, ...]) -> list[Blocks]:
        """For every mask, `words` words hashed from each row; the same tweaks for all masks."""
        count, blocks = len(rows), (words + 1) // 2
        results = []
        for mask in masks:
            out = np.empty((count, blocks, 2), np.uint64)
            for block in range(blocks):
                out[:, block] = hashed(rows, self._tweak + block * count, TRANSFER, mask)
            results.append(out.reshape(count, 2 * blocks)[:, :words])
        self._tweak += blocks * count
        return results

    def _hash_bits(self, rows: Blocks, masks: tuple[Blocks | None, ...]) -> list[Bytes]:
        results = [hashed_bits(rows, self._tweak, TRANSFER, mask) for mask in masks]
        self._tweak += len(rows)
        return results

    def _expect(self, shape: tuple[int, ...], what: str) -> Bytes:
        """The next message, which must be bytes of this shape."""
        return self.channel.recv_array(self.peer, np.uint8, shape, f"{what} of shape {shape}")


class Sender(_Side):
    """The side with the two messages.

    `delta` is the session's correlation: 127 random bits, and a one as the lowest for garbling.
    """

    def __init__(self, channel: Channel, peer: str, rng: Random) -> None:
        with channel.step(BASE_STEP):
            self._source = HolderTransfers(channel, peer, rng)
        super().__init__(channel, peer, self._source)
        self.delta = self._source.delta

    def _rows(self, size: int, wanted: int) -> Blocks:
        """Rows for the next `size` transfers of `wanted` that the call still has, padded to eight."""
        rows = self._source.take(_padded(size), _padded(wanted))
        differences = self._expect((len(rows) // 8,), "choices")
        out = np.empty_like(rows)
        _chosen(rows, differences, self.delta, out)
        return out

    def correlated(self, count: int) -> Blocks:
        """q of shape (count, 2): the pair of transfer i is q[i], q[i] ^ delta."""
        out = np.empty((count, 2), np.uint64)
        with self.channel.step(STEP):
            for start, size in _chunks(count):
                out[start : start + size] = self._rows(size, count - start)[:size]
        return out

    def random(self, count: int, words: int = 2) -> tuple[Blocks, Blocks]:
        """Two random messages for every transfer, each of shape (count, words)."""
        first, second = np.empty((2, count, words), np.uint64)
        with self.channel.step(STEP):
            for start, size in _chunks(count):
                pads = self._hash(self._rows(size, count - start), words, (None, self.delta))
                first[start : start + size] = pads[0][:size]
                second[start : start + size] = pads[1][:size]
        return first, second

    def send(self, first: Bytes, second: Bytes) -> None:
        """Transfers one of two messages of the same width; arrays of shape (count, width)."""
        if first.shape != second.shape or first.ndim != 2:
            raise ValueError("both messages of a transfer have one width")
        count, width = first.shape
        with self.channel.step(STEP):
            for start, size in _chunks(count):
                pads = self._hash(
                    self._rows(size, count - start), (width + 7) // 8, (None, self.delta)
                )
                sealed = np.empty((2, size, width), np.uint8)
                for index, message in enumerate((first, second)):
                    pad = np.ascontiguousarray(pads[index][:size]).view(np.uint8)[:, :width]
                    np.bitwise_xor(message[start : start + size], pad, out=sealed[index])
                self.channel.send(self.peer, sealed)

    def random_bits(self, count: int) -> tuple[Bytes, Bytes]:
        """Two random bits for every transfer, packed."""
        parts: list[list[Bytes]] = []
        with self.channel.step(STEP):
            for start, size in _chunks(count):
                parts.append(self._hash_bits(self._rows(size, count - start), (None, self.delta)))
        return _joined([part[0] for part in parts]), _joined([part[1] for part in parts])

    def multiply_bits(self, bits: Bytes, count: int) -> Bytes:
        """XOR shares of the products of these bits with the receiver's; all packed."""
        _check_packed(bits, count)
        parts = []
        with self.channel.step(STEP):
            for start, size in _chunks(count):
                zero, one = self._hash_bits(self._rows(size, count - start), (None, self.delta))
                one ^= zero
                one ^= bits[start // 8 : (start + size + 7) // 8]
                self.channel.send(self.peer, one)
                parts.append(zero)
        return _joined(parts)


class Receiver(_Side):
    """The side with the choices."""

    def __init__(self, channel: Channel, peer: str, rng: Random) -> None:
        with channel.step(BASE_STEP):
            self._source = ChooserTransfers(channel, peer, rng)
        super().__init__(channel, peer, self._source)

    def _rows(self, choices: Bytes, wanted: int) -> Blocks:
        """Sends packed choices under random bits; returns one row for each choice."""
        bits, rows = self._source.take(8 * len(choices), _padded(wanted))
        self.channel.send(self.peer, bits ^ choices)
        return rows

    def correlated(self, choices: Bytes) -> Blocks:
        """t of shape (count, 2): q of the sender where the choice is 0, q ^ delta where it is 1."""
        packed, count = pack(choices), len(choices)
        out = np.empty((count, 2), np.uint64)
        with self.channel.step(STEP):
            for start, size in _chunks(count):
                rows = self._rows(packed[start // 8 : (start + size + 7) // 8], count - start)
                out[start : start + size] = rows[:size]
        return out

    def random(self, choices: Bytes, words: int = 2) -> Blocks:
        """The chosen one of the sender's two random messages, of shape (count, words)."""
        packed, count = pack(choices), len(choices)
        out = np.empty((count, words), np.uint64)
        with self.channel.step(STEP):
            for start, size in _chunks(count):
                rows = self._rows(packed[start // 8 : (start + size + 7) // 8], count - start)
                out[start : start + size] = self._hash(rows, words, (None,))[0][:size]
        return out

    def receive(self, choices: Bytes, width: int) -> Bytes:
        """The chosen messages, of shape (count, width)."""
        count = len(choices)
        pads = self.random(choices, (width + 7) // 8).view(np.uint8)[:, :width]
        out = np.empty((count, width), np.uint8)
        with self.channel.step(STEP):
            for start, size in _chunks(count):
                sealed = self._expect((2, size, width), "sealed messages")
                part = slice(start, start + size)
                chosen = np.asarray(choices[part], bool)[:, None]
                np.bitwise_xor(np.where(chosen, sealed[1], sealed[0]), pads[part], out=out[part])
        return out

    def random_bits(self, choices: Bytes, count: int) -> Bytes:
        """The chosen one of the sender's two random bits; choices and result packed."""
        _check_packed(choices, count)
        parts = []
        with self.channel.step(STEP):
            for start, size in _chunks(count):
                rows = self._rows(choices[start // 8 : (start + size + 7) // 8], count - start)
                parts.append(self._hash_bits(rows, (None,))[0])
        return _joined(parts)

    def multiply_bits(self, bits: Bytes, count: int) -> Bytes:
        """XOR shares of the products of these bits with the sender's; all packed."""
        out = self.random_bits(bits, count)
        with self.channel.step(STEP):
            for start, size in _chunks(count):
                part = slice(start // 8, (start + size + 7) // 8)
                correction = self._expect((part.stop - part.start,), "corrections")
                out[part] ^= correction & bits[part]
        return out


def _joined(parts: list[Bytes]) -> Bytes:
    return np.concatenate(parts) if parts else np.empty(0, np.uint8)


def _check_packed(bits: Bytes, count: int) -> None:
    if bits.dtype != np.uint8 or bits.shape != ((count + 7) // 8,):
        raise ValueError(f"{count} packed bits are {(count + 7) // 8} bytes")
