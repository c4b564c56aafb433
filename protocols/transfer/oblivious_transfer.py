"""Many oblivious transfers between two parties, extended from 128 base transfers per session.

Ishai, Kilian, Nissim and Petrank, "Extending Oblivious Transfers Efficiently" (CRYPTO 2003), figure
1, with the sender's choice string fixed for the session as the correlation, in the form of Asharov,
Lindell, Schneider and Zohner (CCS 2013), sections 4 and 5. A `Sender` and a `Receiver` are made
once for an ordered pair of parties (which runs `base_transfer`). Then both sides call the same
kinds of transfer any number of times, in the same order:

    Sender                        Receiver
    correlated(count) -> q        correlated(choices) -> t       t = q ^ choice * delta
    random(count) -> m0, m1       random(choices) -> m           m = m1 where choice else m0
    send(m0, m1)                  receive(choices, width) -> m   messages of any width
    random_bits(count)            random_bits(choices, count)    as random, one bit each, packed
    multiply_bits(x, count)       multiply_bits(y, count)        XOR shares of x & y, packed

Inputs and outputs of each kind stand in the table. The sender learns nothing about the choices and
the receiver nothing about the message that it did not choose.

Adversary: semi-honest. A receiver that sends inconsistent columns can learn bits of delta; nothing
here checks for that. Assumptions: those of the base transfer, AES-128 in counter mode as a
generator, and the correlation robustness of the hash in `protocols.primitives.aes` (TMMO, random
permutation model). All hashes of one session have different tweaks.

Messages for n transfers: the receiver sends 16 n bytes (128 columns of n bits, in chunks of 2^17
transfers); the sender answers `send` with 2 n messages and `multiply_bits` with n bits; nothing
otherwise. Half a round, or one with the answer. The sender's session starts with one round and 8 kB
of base transfers. Cost: per transfer two blocks of generator and one hash at the receiver, one and
two at the sender.

Bits are uint8 zeros and ones, one to an item; "packed" means eight to a byte, lowest first.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from coterie.base.arrays import Array, Blocks, Bytes
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.primitives.aes import TRANSFER, hashed, hashed_bits
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.primitives.transpose import transpose
from coterie.protocols.transfer.base_transfer import receive_keys, send_keys

WIDTH = 128  # columns: the security parameter
CHUNK = 1 << 17  # transfers per message, which then has 2 MB; a multiple of 8
BASE_STEP, STEP = "base transfers", "transfers"


def pack(bits: Array) -> Bytes:
    """Zeros and ones, or booleans, eight to a byte."""
    return np.packbits(bits, bitorder="little")


def unpack(packed: Bytes, count: int) -> Bytes:
    return np.unpackbits(packed, count=count, bitorder="little")


class _Generators:
    """The columns' pseudorandom streams, each under the key of one base transfer."""

    def __init__(self, keys: Bytes) -> None:
        self._streams = [
            Cipher(algorithms.AES(key.tobytes()), modes.CTR(bytes(16))).encryptor() for key in keys
        ]

    def columns(self, width: int) -> Bytes:
        """The next `width` bytes of every stream."""
        # update_into needs one more block than it writes; the next row overwrites that block.
        out = np.empty((WIDTH + 1) * width + 16, np.uint8)
        zeros = bytes(width)
        for index, stream in enumerate(self._streams):
            stream.update_into(zeros, out[index * width : (index + 1) * width + 16].data)
        return out[: WIDTH * width].reshape(WIDTH, width)


def _chunks(count: int) -> Iterator[tuple[int, int]]:
    """The start of each chunk and its number of transfers."""
    for start in range(0, count, CHUNK):
        yield start, min(CHUNK, count - start)


class _Side:
    """The state of both sides: the peer, and the number of tweaks that the session has used."""

    def __init__(self, channel: Channel, peer: str) -> None:
        self.channel = channel
        self.peer = peer
        self._tweak = 0

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
        super().__init__(channel, peer)
        bits = rng.bits(WIDTH)
        bits[0] = 1  # garbling reads the colour of a label from this bit
        self.delta: Blocks = pack(bits).view(np.uint64)
        with channel.step(BASE_STEP):
            self._generators = _Generators(receive_keys(channel, peer, bits, rng))
        self._mask = (-bits).astype(np.uint8)[:, None]  # 0xff where delta has a one

    def _rows(self, count: int) -> Blocks:
        """Receives a chunk of columns for `count` transfers; returns their rows, padded to eight."""
        width = (count + 7) // 8
        columns = self._expect((WIDTH, width), "columns")
        rows = self._generators.columns(width)
        rows ^= columns & self._mask
        return transpose(rows).view(np.uint64)

    def correlated(self, count: int) -> Blocks:
        """q of shape (count, 2): the pair of transfer i is q[i], q[i] ^ delta."""
        out = np.empty((count, 2), np.uint64)
        with self.channel.step(STEP):
            for start, size in _chunks(count):
                out[start : start + size] = self._rows(size)[:size]
        return out

    def random(self, count: int, words: int = 2) -> tuple[Blocks, Blocks]:
        """Two random messages for every transfer, each of shape (count, words)."""
        first, second = np.empty((2, count, words), np.uint64)
        with self.channel.step(STEP):
            for start, size in _chunks(count):
                pads = self._hash(self._rows(size), words, (None, self.delta))
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
                pads = self._hash(self._rows(size), (width + 7) // 8, (None, self.delta))
                sealed = np.empty((2, size, width), np.uint8)
                for index, message in enumerate((first, second)):
                    pad = np.ascontiguousarray(pads[index][:size]).view(np.uint8)[:, :width]
                    np.bitwise_xor(message[start : start + size], pad, out=sealed[index])
                self.channel.send(self.peer, sealed)

    def random_bits(self, count: int) -> tuple[Bytes, Bytes]:
        """Two random bits for every transfer, packed."""
        parts: list[list[Bytes]] = []
        with self.channel.step(STEP):
            for _, size in _chunks(count):
                parts.append(self._hash_bits(self._rows(size), (None, self.delta)))
        return _joined([part[0] for part in parts]), _joined([part[1] for part in parts])

    def multiply_bits(self, bits: Bytes, count: int) -> Bytes:
        """XOR shares of the products of these bits with the receiver's; all packed."""
        _check_packed(bits, count)
        parts = []
        with self.channel.step(STEP):
            for start, size in _chunks(count):
                zero, one = self._hash_bits(self._rows(size), (None, self.delta))
                one ^= zero
                one ^= bits[start // 8 : (start + size + 7) // 8]
                self.channel.send(self.peer, one)
                parts.append(zero)
        return _joined(parts)


class Receiver(_Side):
    """The side with the choices."""

    def __init__(self, channel: Channel, peer: str, rng: Random) -> None:
        super().__init__(channel, peer)
        with channel.step(BASE_STEP):
            keys = send_keys(channel, peer, WIDTH, rng)
        self._generators = _Generators(keys[0]), _Generators(keys[1])

    def _rows(self, choices: Bytes) -> Blocks:
        """Sends one chunk of columns for packed choices; returns one row for each choice."""
        width = len(choices)
        kept = self._generators[0].columns(width)
        columns = self._generators[1].columns(width)
        columns ^= kept
        columns ^= choices
        self.channel.send(self.peer, columns)
        return transpose(kept).view(np.uint64)

    def correlated(self, choices: Bytes) -> Blocks:
        """t of shape (count, 2): q of the sender where the choice is 0, q ^ delta where it is 1."""
        packed, count = pack(choices), len(choices)
        out = np.empty((count, 2), np.uint64)
        with self.channel.step(STEP):
            for start, size in _chunks(count):
                rows = self._rows(packed[start // 8 : (start + size + 7) // 8])
                out[start : start + size] = rows[:size]
        return out

    def random(self, choices: Bytes, words: int = 2) -> Blocks:
        """The chosen one of the sender's two random messages, of shape (count, words)."""
        packed, count = pack(choices), len(choices)
        out = np.empty((count, words), np.uint64)
        with self.channel.step(STEP):
            for start, size in _chunks(count):
                rows = self._rows(packed[start // 8 : (start + size + 7) // 8])
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
                rows = self._rows(choices[start // 8 : (start + size + 7) // 8])
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
