"""A public random linear code in which every output is a sum of ten places of a secret.

The dual of the learning-parity-with-noise problem (LPN) in its primal form, with regular noise: from a
secret of k blocks and n blocks of noise, which is zero but for one place in each piece of 2^depth blocks,
comes out noise[i] ^ secret[p(i, 0)] ^ … ^ secret[p(i, 9)]. To whoever knows neither secret nor noise
this looks random by assumption. Boyle, Couteau, Gilboa and Ishai, "Compressing Vector OLE" (CCS 2018,
eprint 2019/273), use it to stretch correlations, Yang, Weng, Lan, Zhang and Wang, "Ferret" (CCS 2020,
eprint 2020/924), with the local code; it is linear, so that it may be applied to both sides of a
correlation.

The places are read from AES in counter mode under a public seed, ten 32-bit words w for each output:
place = w k / 2^32, rounded down. A place may come twice for one output, and then cancels. The seed must
not be known before the secret's owner takes part (`transfer.silent`). Which memory is read depends on the
seed alone.

Parameters. `Size(depth, trees)` has k = 96 * 2^depth places and n = trees * 2^depth outputs. By our own
computation the cheaper of two attacks costs about 2^145 operations (sub-codes; the hybrid attack of
Briaud and Oygarden, EUROCRYPT 2023, 2^176). That is an estimate: nobody has shown 128 bits for so sparse
a code.

    code = LocalCode(seed, k)
    code.add(secrets, outputs)     # outputs[j][i] ^= the sum for secrets[j], in place; i = 0 … n - 1

`add` may be called again: rows go on where the last call ended, so that two rounds share no row. Several
secrets that need the same rows (both halves of a VOLE) are passed in one call.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from coterie.base.arrays import Blocks, UInt32s
from coterie.base.compiled import compiled, portable

LOCALITY = 10
_CHUNK = 1 << 13  # rows whose places are in memory at a time


@dataclass(frozen=True)
class Size:
    """How much one expansion takes and gives."""

    depth: int
    trees: int

    @property
    def outputs(self) -> int:
        return self.trees << self.depth

    @property
    def secret(self) -> int:
        """The blocks of the secret: 96 for each leaf of a tree, of which 64 would do by the attacks
        that the literature computes, and the rest answers one that we found:
        rows with all places in a small part of the secret."""
        return 96 << self.depth

    @property
    def points(self) -> int:
        """The correlated transfers that open the trees."""
        return self.trees * self.depth


SIZES = {size.depth: size for size in (Size(8, 320), Size(9, 560), Size(10, 850), Size(11, 1170))}


class LocalCode:
    """The code under one seed of 16 bytes, for secrets of `size` blocks."""

    def __init__(self, seed: bytes, size: int) -> None:
        self._size = size
        self._places = Cipher(algorithms.AES(seed), modes.CTR(bytes(16))).encryptor()

    def _next(self, rows: int) -> UInt32s:
        """The places of the next rows, before they are scaled to the size of the secret."""
        return np.frombuffer(self._places.update(bytes(4 * LOCALITY * rows)), np.uint32)

    def add(self, secrets: Sequence[Blocks], outputs: Sequence[Blocks]) -> None:
        """Adds the next rows' sums to the outputs (each of as many blocks), in place."""
        pairs = list(zip(secrets, outputs, strict=True))
        for secret, output in pairs:
            if secret.shape != (self._size, 2) or output.shape != outputs[0].shape:
                raise ValueError(f"secrets of {self._size} blocks, and outputs of one length")
        work = _portable_add if portable() else _add
        for start in range(0, len(outputs[0]), _CHUNK):
            part = slice(start, start + _CHUNK)
            words = self._next(len(outputs[0][part]))
            for secret, output in pairs:
                work(words, secret, output[part])


@compiled
def _add(words: Any, secret: Any, out: Any) -> None:
    size = np.uint64(secret.shape[0])
    for i in range(out.shape[0]):
        x, y = out[i, 0], out[i, 1]
        for j in range(LOCALITY * i, LOCALITY * i + LOCALITY):
            place = (np.uint64(words[j]) * size) >> np.uint64(32)
            x ^= secret[place, 0]
            y ^= secret[place, 1]
        out[i, 0], out[i, 1] = x, y


def _portable_add(words: UInt32s, secret: Blocks, out: Blocks) -> None:
    places = words.astype(np.uint64) * np.uint64(len(secret)) >> np.uint64(32)
    out ^= np.bitwise_xor.reduce(secret[places.reshape(-1, LOCALITY)], axis=1)
