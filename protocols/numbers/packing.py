"""Many small numbers in one plaintext: slots of whole bytes, the first one lowest.

A packed plaintext is Σ value_j 256^(width j). Sums of packed plaintexts, and multiples by one
number, act on every slot at once as long as no slot overflows into the next. Bounds are checked
here before any work starts, so that no slot can overflow.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from coterie.base.arrays import Array, Bytes
from coterie.protocols.numbers.paillier import KeySizeError, from_bytes, to_bytes


@dataclass(frozen=True)
class Slots:
    """`count` slots of `width` bytes in each plaintext."""

    width: int
    count: int

    @classmethod
    def fitting(cls, largest: int, plaintext_bits: int, what: str) -> Slots:
        """As many slots as a plaintext has room for, each for numbers up to `largest`."""
        width = max(1, (largest.bit_length() + 7) // 8)
        count = plaintext_bits // (8 * width)
        if count < 1:
            raise KeySizeError(
                f"{what} needs {8 * width} bits, but the Paillier modulus leaves {plaintext_bits}: "
                "a larger key is needed"
            )
        return cls(width, count)

    def plaintexts(self, values: int) -> int:
        """The number of plaintexts for this many values."""
        return -(-values // self.count)

    def shift(self, slot: int) -> int:
        """The factor that moves a number into this slot."""
        return 1 << (8 * self.width * slot)

    def pack(self, values: Array) -> list[Any]:
        """One plaintext for each row of at most `count` unsigned integers."""
        rows, columns = values.shape
        if columns > self.count:
            raise ValueError(f"{columns} values do not fit {self.count} slots")
        if values.dtype == object:
            return self.pack_bytes(
                to_bytes(values.reshape(-1), self.width).reshape(rows, columns, self.width)
            )
        if values.dtype.kind not in "iu" or (values.size and values.min() < 0):
            raise ValueError("slots hold non-negative integers")
        if values.size and int(values.max()) >> (8 * self.width):
            raise ValueError(f"{values.max()} does not fit a slot of {self.width} bytes")
        wide = np.ascontiguousarray(values, dtype="<u8").view(np.uint8).reshape(rows, columns, 8)
        field = np.zeros((rows, columns, self.width), np.uint8)
        used = min(8, self.width)
        field[:, :, :used] = wide[:, :, :used]
        return self.pack_bytes(field)

    def pack_bytes(self, field: Bytes) -> list[Any]:
        """One plaintext for each row of values that are already bytes, of shape (rows, slots, width)."""
        return from_bytes(field.reshape(field.shape[0], -1))

    def unpack(self, plaintexts: list[Any], columns: int) -> Array:
        """The first `columns` slots of each plaintext: uint64, or integers of any size."""
        field = self.unpack_bytes(plaintexts)[:, :columns]
        rows = field.shape[0]
        if self.width > 8:
            out = np.empty(rows * columns, object)
            out[:] = [int(v) for v in from_bytes(field.reshape(rows * columns, self.width))]
            return out.reshape(rows, columns)
        wide = np.zeros((rows, columns, 8), np.uint8)
        wide[:, :, : self.width] = field
        return wide.reshape(rows, 8 * columns).view("<u8").astype(np.uint64)

    def unpack_bytes(self, plaintexts: list[Any]) -> Bytes:
        """All slots of each plaintext as bytes; the bits above the slots must be zero."""
        flat = to_bytes(plaintexts, self.width * self.count)
        return flat.reshape(len(plaintexts), self.count, self.width)
