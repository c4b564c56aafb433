"""A batched oblivious pseudorandom function from oblivious transfer extension.

Kolesnikov, Kumaresan, Rosulek and Trieu, "Efficient Batched Oblivious PRF with Applications to
Private Set Intersection" (CCS 2016), section 3: one function for each bin of a cuckoo table, of
which the receiver evaluates one value and the sender any.

In: the receiver has different 128-bit values. Out: the receiver gets F(x, h) for each value x,
where h is the hash function that placed x; the sender can compute F(y, h) for any y and each of
three h. Outputs have 128 bits.

Adversary: semi-honest. The sender learns the number of bins; the receiver learns nothing of other
outputs, if H, BLAKE2b of row and bin number, is 128-Hamming correlation robust (as a random oracle
is), AES behaves as a family of random functions in the code, and the base transfers are secure. The
code has w = 448 bits for a sender with up to 2^24 values, and 64 more where these do not suffice
(`code_width`; 512 reach 2^60 values): the words of any two values in the same bin differ in at
least 128 places, except with probability 2^-40. A malicious sender is covered by the base
transfers; a malicious receiver could use words outside the code.

Messages:
    receiver <-> sender   w base transfers (protocols.transfer.base_transfer), the receiver as
                          their sender
    sender -> receiver    16 bytes: the key of the code
    receiver -> sender    16 bytes: the key of the cuckoo table; then a matrix of w rows of one
                          bit for each bin, in blocks of bins
Cost for n values of the receiver and m of the sender, w = 448: 448 base transfers; 56 bytes for
each of 1.3 n bins (73 n in all); receiver 7 n AES and n hashes, sender 12 m AES and 3 m hashes.
"""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeAlias

import numpy as np

from coterie.base.arrays import Blocks, Bytes, Words
from coterie.base.compiled import compiled
from coterie.protocols.intersection.cuckoo import HASHES, Cuckoo, bins_for, positions
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.primitives import sodium
from coterie.protocols.primitives.blocks import Stream, spread
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.primitives.transpose import transpose
from coterie.protocols.transfer.base_transfer import receive_keys, send_keys

LEAST_WIDTH = 448
_DISTANCE, _STATISTICAL = 128, 40
_BLOCK = 1 << 15  # bins that are transposed together: 1.8 MB, which fit into a core's cache
_CHUNK = 1 << 15  # values that are hashed together

Outputs: TypeAlias = Words


def code_width(count: int) -> int:
    """Bits of the code for a sender with `count` values: a multiple of 64, 448 up to 2^24 values.

    Each of these values meets one value of the receiver under each of three hash functions. The two
    random words of w bits differ in fewer than 128 places with a probability of the sum of C(w, i)
    / 2^w over i < 128; the sum of all these probabilities is at most 2^-40.
    """
    width = LEAST_WIDTH
    while HASHES * count * sum(math.comb(width, i) for i in range(_DISTANCE)) > 1 << (
        width - _STATISTICAL
    ):
        width += 64
    return width


def _code_keys(seed: bytes, width: int) -> list[bytes]:
    blocks = -(-width // 128)
    return [
        hashlib.sha256(b"coterie code" + seed + bytes([i])).digest()[:16] for i in range(blocks)
    ]


def marked(values: Blocks, which: Any) -> Blocks:
    """The values marked with their hash functions, so that F differs for two functions in a bin."""
    out = values.copy()
    out[:, 0] ^= which
    return out


def _words(inputs: Blocks, keys: list[bytes], words: int) -> Blocks:
    """The inputs' words of the pseudorandom code, of shape (n, words)."""
    out = np.empty((len(inputs), words), np.uint64)
    for i, key in enumerate(keys):
        width = min(2, words - 2 * i)
        out[:, 2 * i : 2 * i + width] = spread(key, inputs)[:, :width]
    return out


_blake2b = sodium.blake2b_function


@compiled
def _hash(rows: Any, where: Any, first: Any, words: Any, secret: Any, out: Any) -> None:
    """H(rows[b] ^ (words & secret), first + b) for the bin b of every value."""
    words_of_row = rows.shape[1]
    block = np.empty(words_of_row + 1, np.uint64)
    source, target = np.uintp(block.ctypes.data), np.uintp(out.ctypes.data)
    nothing = np.uintp(0)
    for i in range(out.shape[0]):
        b = where[i]
        for k in range(words_of_row):
            block[k] = rows[b, k] ^ (words[i, k] & secret[k])
        block[words_of_row] = b + first
        _blake2b(
            np.uintp(target + np.uintp(16 * i)),
            np.uintp(16),
            source,
            np.uint64(8 * (words_of_row + 1)),
            nothing,
            nothing,
        )


class OprfReceiver:
    """The side with the cuckoo table. Both sides call `set_up`, then `extend`.

    `count` is the number of the sender's values, which both sides know.
    """

    def __init__(self, channel: Channel, peer: str, count: int, rng: Random) -> None:
        self._channel = channel
        self._peer = peer
        self._rng = rng
        self._width = code_width(count)

    def set_up(self) -> None:
        keys = send_keys(self._channel, self._peer, self._width, self._rng)
        self._streams = [[Stream(key.tobytes()) for key in side] for side in keys]
        seed = self._channel.recv_bytes(self._peer, 16, "key of the code")
        self._code = _code_keys(seed, self._width)

    def extend(self, values: Blocks, table: Cuckoo) -> Outputs:
        """F of every value, in the order of the values."""
        self._channel.send(self._peer, table.key)
        bins = len(table.item)
        words = self._width // 64
        out = np.empty((len(values), 2), np.uint64)
        for start in range(0, bins, _BLOCK):
            stop = min(bins, start + _BLOCK)
            item = table.item[start:stop]
            full = np.flatnonzero(item >= 0)
            inputs = self._rng.array((stop - start, 2))
            inputs[full] = marked(values[item[full]], table.which[start:stop][full])
            coded = _words(inputs, self._code, words)
            matrix = transpose(coded.view(np.uint8).reshape(-1, 8 * words))
            first = _next(self._streams[0], matrix.shape[1])
            matrix ^= first
            matrix ^= _next(self._streams[1], matrix.shape[1])
            self._channel.send(self._peer, matrix)
            self._channel.progress(stop, bins)
            rows = transpose(first).view(np.uint64)
            results = np.empty((len(full), 2), np.uint64)
            # The receiver's rows are hashed without a word of the code.
            nothing = np.zeros((len(full), words), np.uint64)
            _hash(rows, full, start, nothing, np.zeros(words, np.uint64), results)
            out[item[full]] = results
        return out


def _next(streams: list[Stream], length: int) -> Bytes:
    """The next bytes of every stream, one row each."""
    space = np.empty(len(streams) * length + 15, np.uint8)
    zeros = bytes(length)
    for i, stream in enumerate(streams):
        stream.fill(space[i * length : (i + 1) * length + 15], zeros)
    return space[: len(streams) * length].reshape(len(streams), length)


class OprfSender:
    """The side that can evaluate any value; `count` is the number of values that it evaluates."""

    def __init__(self, channel: Channel, peer: str, count: int, rng: Random) -> None:
        self._channel = channel
        self._peer = peer
        self._rng = rng
        self._width = code_width(count)

    def set_up(self) -> None:
        choices = self._rng.bits(self._width)
        keys = receive_keys(self._channel, self._peer, choices, self._rng)
        self._streams = [Stream(key.tobytes()) for key in keys]
        self._chosen = np.flatnonzero(choices)
        self._secret = np.packbits(choices, bitorder="little").view(np.uint64)
        seed = self._rng.bytes(16)
        self._code = _code_keys(seed, self._width)
        self._channel.send(self._peer, seed)

    def extend(self, receiver_count: int) -> None:
        """Receives the receiver's matrix, for the number of values that it announced."""
        key = self._channel.recv_bytes(self._peer, 16, "key of the cuckoo table")
        self._key, self._bins = key, bins_for(receiver_count)
        self._rows = np.empty((self._bins, self._width // 64), np.uint64)
        for start in range(0, self._bins, _BLOCK):
            stop = min(self._bins, start + _BLOCK)
            shape = (self._width, (stop - start) // 8)
            matrix = self._channel.recv_array(
                self._peer, np.uint8, shape, "matrix of the extension"
            )
            own = _next(self._streams, matrix.shape[1])
            own[self._chosen] ^= matrix[self._chosen]
            self._rows[start:stop] = transpose(own).view(np.uint64)
            self._channel.progress(stop, self._bins)

    def evaluate(self, values: Blocks) -> Iterator[tuple[int, int, Outputs]]:
        """(hash function, first row, F of a chunk of values), for all functions and chunks."""
        pieces = [
            (which, start) for which in range(HASHES) for start in range(0, len(values), _CHUNK)
        ]
        with ThreadPoolExecutor(len(os.sched_getaffinity(0)), "oprf") as pool:
            yield from pool.map(lambda piece: self._evaluate(values, *piece), pieces)

    def _evaluate(self, values: Blocks, which: int, start: int) -> tuple[int, int, Outputs]:
        part = values[start : start + _CHUNK]
        where = positions(part, self._key, self._bins)[:, which]
        words = _words(marked(part, np.uint64(which)), self._code, self._width // 64)
        out = np.empty((len(part), 2), np.uint64)
        _hash(self._rows, np.ascontiguousarray(where).astype(np.int64), 0, words, self._secret, out)
        return which, start, out
