"""The identifiers of one party's records as one buffer, so that they are hashed in one call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from protocols import sodium


@dataclass(frozen=True)
class Identifiers:
    """Byte strings end to end: the i-th is data[offsets[i]:offsets[i + 1]]. No two are equal."""

    data: np.ndarray[Any, np.dtype[np.uint8]]
    offsets: np.ndarray[Any, np.dtype[np.int64]]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @staticmethod
    def pack(values: Sequence[bytes]) -> Identifiers:
        offsets = np.zeros(len(values) + 1, np.int64)
        np.cumsum(np.fromiter(map(len, values), np.int64, len(values)), out=offsets[1:])
        return Identifiers(np.frombuffer(b"".join(values), np.uint8), offsets)

    def digests(
        self, salt: bytes, start: int = 0, stop: int | None = None
    ) -> np.ndarray[Any, np.dtype[np.uint8]]:
        """Salted 128-bit digests, of shape (n, 16). Two of 2^24 agree with a chance of 2^-81."""
        stop = len(self) if stop is None else stop
        return sodium.digests(self.data, self.offsets[start : stop + 1], salt, 16)
