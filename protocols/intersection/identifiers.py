"""The identifiers of one party's records as one buffer, so that they are hashed in one call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from coterie.base.arrays import Bytes, Int32s, Ints
from coterie.base.compiled import compiled
from coterie.protocols.primitives import sodium


@compiled
def _marks(data: Any, offsets: Any, out: Any) -> None:
    """A 64-bit hash of each value (FNV-1a and a mixing step), to find equals, not to hide."""
    for i in range(out.shape[0]):
        mark = np.uint64(0xCBF29CE484222325)
        for at in range(offsets[i], offsets[i + 1]):
            mark = (mark ^ np.uint64(data[at])) * np.uint64(0x100000001B3)
        out[i] = mark ^ (mark >> np.uint64(32))


@dataclass(frozen=True)
class Identifiers:
    """Byte strings end to end: the i-th is data[offsets[i]:offsets[i + 1]]. No two are equal."""

    data: Bytes
    offsets: Ints | Int32s

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @staticmethod
    def pack(values: Sequence[bytes]) -> Identifiers:
        offsets = np.zeros(len(values) + 1, np.int64)
        np.cumsum(np.fromiter(map(len, values), np.int64, len(values)), out=offsets[1:])
        return Identifiers(np.frombuffer(b"".join(values), np.uint8), offsets)

    @property
    def nbytes(self) -> int:
        return int(self.offsets[-1] - self.offsets[0]) + self.offsets.nbytes

    def suspects(self) -> Ints:
        """Rows whose value may occur twice: all that do, and hardly any other."""
        marks = np.empty(len(self), np.uint64)
        _marks(self.data, self.offsets, marks)
        marks.sort()
        again = np.unique(marks[1:][marks[1:] == marks[:-1]])
        if not len(again):
            return np.empty(0, np.int64)
        _marks(self.data, self.offsets, marks)
        return np.flatnonzero(np.isin(marks, again))

    def digests(self, salt: bytes, start: int = 0, stop: int | None = None) -> Bytes:
        """Salted 128-bit digests, of shape (n, 16). Two of 2^24 agree with probability 2^-81."""
        stop = len(self) if stop is None else stop
        return sodium.digests(self.data, self.offsets[start : stop + 1], salt, 16)
