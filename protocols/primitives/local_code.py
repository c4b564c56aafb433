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
from coterie.protocols.primitives.executor import on_all_cores

LOCALITY = 10
_CHUNK = 1 << 13  # rows whose places are in memory at a time
_ZEROS = bytes(4 * LOCALITY * _CHUNK + 16)


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
        self._places = algorithms.AES(seed)
        self._row = 0

    def skip(self, rows: int) -> int:
        """Leaves so many rows to a later `add`; the number of the first of them."""
        self._row += rows
        return self._row - rows

    def _words(self, first: int, rows: int) -> UInt32s:
        """The places of these rows, before they are scaled to the size of the secret."""
        block, rest = divmod(4 * LOCALITY * first, 16)
        stream = Cipher(self._places, modes.CTR(block.to_bytes(16, "big"))).encryptor()
        found = stream.update(memoryview(_ZEROS)[: rest + 4 * LOCALITY * rows])
        return np.frombuffer(found, np.uint32, offset=rest)

    def add(
        self, secrets: Sequence[Blocks], outputs: Sequence[Blocks], first: int | None = None
    ) -> None:
        """Adds rows' sums to the outputs (each of as many blocks), in place, on all cores.

        The rows are the next ones, or those that begin with row `first`.
        """
        pairs = list(zip(secrets, outputs, strict=True))
        for secret, output in pairs:
            if secret.shape != (self._size, 2) or output.shape != outputs[0].shape:
                raise ValueError(f"secrets of {self._size} blocks, and outputs of one length")
        work = _portable_add if portable() else _add
        count = len(outputs[0])
        start = self.skip(count) if first is None else first

        def add_piece(at: int) -> None:
            part = slice(at, min(at + _CHUNK, count))
            words = self._words(start + at, part.stop - at)
            for secret, output in pairs:
                work(words, secret, output[part])

        on_all_cores(add_piece, range(0, count, _CHUNK))


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
