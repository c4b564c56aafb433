"""Additive shares between two parties, modulo any m, on vectors.

A value x modulo m is held as x1 at the first party and x2 at the second, x1 + x2 = x (mod m), each
alone uniform. Values are read as residues in [0, m), or signed, in [-floor(m/2), ceil(m/2)): the
"signed-modular" reading of paper 2, third article, §2.

`Ring` is the arithmetic of one modulus on NumPy arrays of any shape: uint64 where that is exact (a
power of two up to 2^64, or m up to 2^32), Python integers in object arrays otherwise. Addition of
shares, and multiples by public numbers, are local.

Protocols, for n values of w bytes each:
    share_out / share_in   one party's private values become shares: n w bytes, half a round.
    open_shares            both learn the values: n w bytes each way, one round.
    open_to / open_from    one party learns them: n w bytes, half a round.
    product                shares of x and y to shares of x y: one inner product of two columns
                           (x1, y1) and (y2, x2) in `protocols.numbers.inner_product`, whose cost it
                           is, for the cross terms; x1 y1 and x2 y2 are local.

Adversary: semi-honest. A party that opens a wrong share changes the result, which nobody notices.
Conversion to another modulus, and non-integer multiples, need a comparison:
`protocols.numbers.scaling`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from coterie.base.arrays import Array
from coterie.base.errors import UsageError
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.numbers.paillier import from_bytes, to_bytes
from coterie.protocols.primitives.randomness import Random


@dataclass(frozen=True)
class Ring:
    """The integers modulo `modulus`, on arrays whose elements are in [0, modulus)."""

    modulus: int

    def __post_init__(self) -> None:
        if self.modulus < 2:
            raise UsageError(f"shares modulo {self.modulus} can hold nothing")

    @property
    def bits(self) -> int:
        """The length of the largest element."""
        return (self.modulus - 1).bit_length()

    @property
    def is_power_of_two(self) -> bool:
        return self.modulus & (self.modulus - 1) == 0

    @property
    def native(self) -> bool:
        """Whether elements are uint64, and products modulo 2^64 suffice for the modulus."""
        return self.modulus <= 1 << 32 or (self.is_power_of_two and self.bits <= 64)

    @property
    def width(self) -> int:
        """Bytes of an element on the wire."""
        return (self.bits + 7) // 8

    def array(self, values: Any) -> Array:
        """Any integers, reduced to [0, modulus)."""
        if isinstance(values, np.ndarray) and values.dtype.kind in "iu" and self.native:
            if self.is_power_of_two:  # two's complement wraps around correctly
                return self._reduce(values.astype(np.uint64))
            return (
                np.mod(values, np.uint64(self.modulus))
                if values.dtype.kind == "u"
                else np.mod(values.astype(np.int64), self.modulus)
            ).astype(np.uint64)
        source = np.array(values, object)
        flat = [int(value) % self.modulus for value in source.reshape(-1)]
        if self.native:
            return np.array(flat, np.uint64).reshape(source.shape)
        out = np.empty(len(flat), object)
        out[:] = flat
        return out.reshape(source.shape)

    def zeros(self, shape: int | tuple[int, ...]) -> Array:
        return np.zeros(shape, np.uint64) if self.native else np.full(shape, 0, object)

    def random(self, shape: int | tuple[int, ...], rng: Random) -> Array:
        """Uniform elements."""
        if self.native and self.is_power_of_two:
            return self._reduce(rng.array(shape))
        count = int(np.prod(shape, dtype=np.int64))
        return self.array(rng.integers(self.modulus, count)).reshape(shape)

    def add(self, a: Array, b: Array) -> Array:
        return self._reduce(a + b)

    def subtract(self, a: Array, b: Array) -> Array:
        if self.native and not self.is_power_of_two:
            return self._reduce(a + (np.uint64(self.modulus) - b))
        return self._reduce(a - b)

    def negate(self, a: Array) -> Array:
        return self.subtract(self.zeros(a.shape), a)

    def multiply(self, a: Array, b: Array) -> Array:
        return self._reduce(a * b)

    def scale(self, a: Array, factor: int) -> Array:
        """A multiple by one public integer."""
        return self._reduce(a * (np.uint64(factor % self.modulus) if self.native else factor))

    def sum(self, a: Array, axis: int) -> Array:
        if self.native and not self.is_power_of_two and a.shape[axis] >> 31:
            raise UsageError("too many addends for one sum")
        return self._reduce(a.sum(axis=axis, dtype=np.uint64 if self.native else object))

    def signed(self, a: Array) -> Array:
        """Elements read as signed numbers: int64 where they fit, else Python integers."""
        half = (self.modulus + 1) // 2
        if self.native and self.modulus < 1 << 64:
            return np.where(a < half, a, a - np.uint64(self.modulus)).astype(np.int64)
        if self.native:
            return a.astype(np.int64)
        return np.where(a < half, a, a - self.modulus)

    def to_wire(self, a: Array) -> Array:
        """uint8 of the array's shape and one more dimension, the element's bytes."""
        if self.native:
            wide = np.ascontiguousarray(a, dtype="<u8").view(np.uint8)
            return np.ascontiguousarray(wide.reshape(*a.shape, 8)[..., : self.width])
        return to_bytes(a.reshape(-1), self.width).reshape(*a.shape, self.width)

    def from_wire(self, channel: Channel, peer: str, value: Any, shape: tuple[int, ...]) -> Array:
        """Received elements; a wrong shape or an element out of range is the peer's fault."""
        what = f"shares of shape {shape}"
        value = channel.check_array(peer, value, np.uint8, (*shape, self.width), what)
        if self.native:
            wide = np.zeros((*shape, 8), np.uint8)
            wide[..., : self.width] = value
            out: Array = wide.view("<u8").reshape(shape).astype(np.uint64)
        else:
            out = np.empty(int(np.prod(shape, dtype=np.int64)), object)
            out[:] = [int(x) for x in from_bytes(value.reshape(-1, self.width))]
            out = out.reshape(shape)
        if out.size and int(out.max()) >= self.modulus:
            raise channel.fault(peer, f"sent a share that is not below the modulus {self.modulus}")
        return out

    def _reduce(self, a: Array) -> Array:
        if not self.native:
            return a % self.modulus
        if self.modulus == 1 << 64:
            return a
        if self.is_power_of_two:
            return a & np.uint64(self.modulus - 1)
        return a % np.uint64(self.modulus)


class Engine(Protocol):
    """Computes inner products of two parties' rows; see `protocols.numbers.inner_product`."""

    @property
    def channel(self) -> Channel: ...
    @property
    def peer(self) -> str: ...
    @property
    def first(self) -> bool: ...
    def inner_products(self, ring: Ring, mine: Array, rng: Random) -> Array: ...


def split(ring: Ring, values: Any, rng: Random) -> tuple[Array, Array]:
    """Two shares of each value."""
    values = ring.array(values)
    mine = ring.random(values.shape, rng)
    return mine, ring.subtract(values, mine)


def share_out(channel: Channel, peer: str, ring: Ring, values: Any, rng: Random) -> Array:
    """Shares this party's values with the peer; returns its own share."""
    mine, theirs = split(ring, values, rng)
    with channel.step("share"):
        channel.send(peer, ring.to_wire(theirs))
    return mine


def share_in(channel: Channel, peer: str, ring: Ring, shape: tuple[int, ...]) -> Array:
    """This party's share of the peer's values."""
    with channel.step("share"):
        return ring.from_wire(channel, peer, channel.recv(peer), shape)


def open_shares(channel: Channel, peer: str, ring: Ring, share: Array) -> Array:
    """The values, opened to both parties."""
    with channel.step("open"):
        channel.send(peer, ring.to_wire(share))
        return ring.add(share, ring.from_wire(channel, peer, channel.recv(peer), share.shape))


def open_to(channel: Channel, peer: str, ring: Ring, share: Array) -> None:
    """Opens the values to the peer alone."""
    with channel.step("open"):
        channel.send(peer, ring.to_wire(share))


def open_from(channel: Channel, peer: str, ring: Ring, share: Array) -> Array:
    """The values, opened to this party alone."""
    with channel.step("open"):
        return ring.add(share, ring.from_wire(channel, peer, channel.recv(peer), share.shape))


def product(engine: Engine, ring: Ring, x: Array, y: Array, rng: Random) -> Array:
    """Shares of the products x y, element by element, of two shared vectors."""
    if x.shape != y.shape or x.ndim != 1:
        raise UsageError(f"a product of shares of shapes {x.shape} and {y.shape}")
    columns = (x, y) if engine.first else (y, x)
    with engine.channel.step("product"):
        cross = engine.inner_products(ring, np.stack(columns, axis=1), rng)
    return ring.add(ring.multiply(x, y), cross)
