"""AES-128 on whole arrays of blocks under given keys, by `cryptography`. A block is two uint64."""

from __future__ import annotations

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from coterie.base.arrays import Blocks, Bytes


def encrypted(key: bytes, blocks: Blocks) -> Blocks:
    """AES of every block: a pseudorandom permutation under a secret key."""
    source = np.ascontiguousarray(blocks)
    out = np.empty(source.size + 2, np.uint64)  # update_into needs one more block than it writes
    cipher = Cipher(algorithms.AES(key), modes.ECB())  # noqa: S305 blocks of a function, no message
    cipher.encryptor().update_into(source.reshape(-1).view(np.uint8).data, out.view(np.uint8).data)
    return out[: source.size].reshape(blocks.shape)


def spread(key: bytes, blocks: Blocks) -> Blocks:
    """AES of every block, xored with the block: a hash function chosen by a public key."""
    out = encrypted(key, blocks)
    out ^= blocks
    return out


class Stream:
    """The key stream of AES in counter mode, taken piece by piece."""

    def __init__(self, key: bytes) -> None:
        self._encryptor = Cipher(algorithms.AES(key), modes.CTR(bytes(16))).encryptor()

    def fill(self, out: Bytes, zeros: bytes) -> None:
        """Writes the next len(zeros) bytes of the key stream; `out` must be 15 bytes longer."""
        self._encryptor.update_into(zeros, out.data)
