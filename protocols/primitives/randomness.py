"""The source of randomness, which is passed to a protocol as an argument.

`Random()` is keyed by the operating system; `Random(seed)` gives the same stream again, so that a
seeded run has the same messages to the byte. Both expand a 256-bit key by AES-256 in counter mode,
which is a cryptographic generator and some twenty times faster than the system's.
"""

from __future__ import annotations

import hashlib
import os
from typing import Any

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from coterie.base.arrays import Array, Bytes, Ints


class Random:
    """A stream of random values. Not shared between threads: `fork` gives one to each."""

    def __init__(self, seed: bytes | int | str | None = None) -> None:
        if seed is None:
            key = os.urandom(32)
        else:
            data = seed if isinstance(seed, bytes) else str(seed).encode()
            key = hashlib.sha256(b"coterie seed\0" + data).digest()
        self._key = key
        self._stream = Cipher(algorithms.AES(key), modes.CTR(bytes(16))).encryptor()

    def fork(self, label: str) -> Random:
        """An independent stream, determined only by the seed of this stream and the label."""
        return Random(hashlib.sha256(b"coterie fork\0" + self._key + label.encode()).digest())

    def bytes(self, count: int) -> bytes:
        return self._stream.update(bytes(count))

    def array(self, shape: int | tuple[int, ...], dtype: Any = np.uint64) -> Array:
        """Uniform over the whole range of an integer type."""
        dtype = np.dtype(dtype)
        count = int(np.prod(shape, dtype=np.int64))
        out = np.empty(count * dtype.itemsize + 15, np.uint8)  # update_into needs a spare block
        self._stream.update_into(bytes(count * dtype.itemsize), out.data)
        used: Array = out[: count * dtype.itemsize].view(dtype)
        return used.reshape(shape)

    def bits(self, count: int) -> Bytes:
        """`count` uniform zeros and ones."""
        packed = np.frombuffer(self.bytes((count + 7) // 8), np.uint8)
        return np.unpackbits(packed, count=count)

    def below(self, bound: int) -> int:
        """Uniform in [0, bound), for a bound of any size."""
        if bound <= 0:
            raise ValueError("bound must be positive")
        length = (bound - 1).bit_length()
        size, spare = (length + 7) // 8, -length % 8
        while True:
            number = int.from_bytes(self.bytes(size), "little") >> spare
            if number < bound:
                return number

    def integers(self, bound: int, count: int) -> list[int]:
        """`count` integers, uniform in [0, bound)."""
        return [self.below(bound) for _ in range(count)]

    def permutation(self, count: int) -> Ints:
        """A uniform order of 0 … count-1 (sorting by 128-bit keys; a tie has chance below 2^-60)."""
        keys = self.array((2, count))
        return np.lexsort((keys[0], keys[1])).astype(np.int64)
