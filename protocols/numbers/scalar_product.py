"""Scalar products of columns that two parties hold over the same records.

Paper 2, third article, §1 and §7 (after Wright and Yang, KDD 2004): counts over vertically
partitioned data are scalar products of 0/1 vectors, and dominate the cost of everything built on
them. In: one party ("many") holds p columns over n records, the other ("few") q columns, all
integers within agreed ranges. Out: the p x q matrix of scalar products, as shares modulo m at both,
or opened at one of them. Nothing else is learned but n, p, q and the ranges.

`TransferProducts`: many is the sender of oblivious transfers, few chooses with the bits of its
values and gets pads, or pads plus many's values: Gilboa (CRYPTO 1999, §4.1) on rows of p numbers.
    Cost: for each record and each bit of few's values one transfer and a correction of p words of
    8, 16, 32 or 64 bits; half a round for each chunk.

Values in a range that starts below zero are shifted up; what the shift adds to the products depends
on one party's column sums only, and that party subtracts it from its share. Before anything is
sent, values are checked against the ranges, and the largest possible sum against its slot and the
ring. Both parties first state the sizes that they expect; a difference is an error.

Adversary: semi-honest; see `protocols.numbers.inner_product`. A party that puts in values outside
its range makes the result wrong.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np

from coterie.base.arrays import Array
from coterie.base.errors import DataError, UsageError
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.messaging.wire import same_value
from coterie.protocols.numbers.shares import Ring, open_from, open_to
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.transfer.oblivious_transfer import Receiver, Sender

Output = Literal["shares", "many", "few"]
_ELEMENTS = 1 << 22  # ring elements of a chunk of transfers: 16 or 32 MB


@dataclass(frozen=True)
class Sizes:
    """The sizes both parties agree on: records, columns, and the range of values of each party."""

    records: int
    many: int
    few: int
    many_range: tuple[int, int] = (0, 1)
    few_range: tuple[int, int] = (0, 1)

    @property
    def largest(self) -> int:
        """The largest sum of products after both ranges have been shifted to start at zero."""
        spans = [high - low for low, high in self.moved]
        return self.records * spans[0] * spans[1]

    @property
    def moved(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """The ranges, extended to start at zero if they start above it."""
        (a, b), (c, d) = self.many_range, self.few_range
        return (min(a, 0), b), (min(c, 0), d)

    @property
    def signed(self) -> bool:
        return self.many_range[0] < 0 or self.few_range[0] < 0

    def check_values(self, values: Array, many: bool) -> None:
        """Raises `DataError` unless the values have the agreed shape and range."""
        columns = self.many if many else self.few
        low, high = self.many_range if many else self.few_range
        if values.shape != (self.records, columns):
            raise DataError(
                f"scalar products: values of shape {values.shape} where "
                f"{self.records} records of {columns} columns are agreed"
            )
        if values.dtype.kind not in "biu":
            raise DataError(f"scalar products: values are {values.dtype}, not integers")
        if high >= 1 << 62 or low <= -(1 << 62):
            raise UsageError("scalar products: values of more than 62 bits are not supported")
        if values.size and (int(values.min()) < low or int(values.max()) > high):
            raise DataError(f"scalar products: a value lies outside the agreed {low} to {high}")

    def check_ring(self, ring: Ring) -> None:
        """Raises `UsageError` if a result could be too large for the ring."""
        (a, b), (c, d) = self.many_range, self.few_range
        extremes = [self.records * x * y for x in (a, b) for y in (c, d)]
        room = ring.modulus if min(extremes) >= 0 else ring.modulus // 2
        if max(map(abs, extremes)) >= room:
            raise UsageError(
                f"scalar products up to {max(map(abs, extremes))} overflow shares modulo "
                f"{ring.modulus}: a larger modulus is needed"
            )


class Products(Protocol):
    """How the products are made, at one party; `bench._paillier_products` is a second way."""

    channel: Channel
    peer: str
    many: bool

    def check(self, sizes: Sizes, ring: Ring, masked: bool) -> None: ...
    def shares(self, sizes: Sizes, values: Array, ring: Ring, rng: Random) -> Array: ...
    def to_many(self, sizes: Sizes, values: Array, rng: Random) -> Array | None: ...


def scalar_products(
    products: Products,
    sizes: Sizes,
    values: Array,
    rng: Random,
    output: Output = "shares",
    ring: Ring | None = None,
) -> Array | None:
    """This party's share of the (many x few) matrix; or the matrix at one party, None at the other.

    `ring` is the modulus of the shares (2^64 if not given). An opened result is signed if a range
    is.
    """
    ring = ring or Ring(1 << 64)
    values = np.asarray(values)
    sizes.check_values(values, products.many)
    sizes.check_ring(ring)
    masked = output != "many" or sizes.signed
    products.check(sizes, ring, masked)
    channel, peer = products.channel, products.peer
    with channel.step("scalar products"):
        _agree(channel, peer, sizes, output, ring)
        if not masked:
            return products.to_many(sizes, values.astype(np.int64), rng)
        low = sizes.moved[0 if products.many else 1][0]
        shifted = values.astype(np.int64) - low
        share = products.shares(sizes, shifted, ring, rng)
        share = ring.add(share, _moved_share(sizes, shifted, ring, products.many))
        if output == "shares":
            return share
        if (output == "many") != products.many:
            open_to(channel, peer, ring, share)
            return None
        opened = open_from(channel, peer, ring, share)
        return ring.signed(opened) if sizes.signed else opened


def _agree(channel: Channel, peer: str, sizes: Sizes, output: Output, ring: Ring) -> None:
    """Both parties compare the sizes that they expect, before any work."""
    mine = {
        "records": sizes.records,
        "columns at many": sizes.many,
        "columns at few": sizes.few,
        "least at many": sizes.many_range[0],
        "largest at many": sizes.many_range[1],
        "least at few": sizes.few_range[0],
        "largest at few": sizes.few_range[1],
        "modulus": ring.modulus,
        "output": output,
    }
    channel.send(peer, list(mine.values()))
    theirs = channel.recv_list(peer, len(mine), "sizes of scalar products")
    for (name, value), other in zip(mine.items(), theirs, strict=True):
        if not same_value(other, value):
            raise channel.fault(peer, f"expects {name} {str(other)[:60]} where {value} was agreed")


def _moved_share(sizes: Sizes, shifted: Array, ring: Ring, many: bool) -> Array:
    """This party's part of undoing the shifts, for Σ(a+s)(b+t) = Σab + t Σa + s Σb + n s t."""
    (s, _), (t, _) = sizes.moved
    sums = shifted.sum(axis=0, dtype=np.int64).astype(object)
    part = t * sums + sizes.records * s * t if many else s * sums
    matrix = np.broadcast_to(part[:, None] if many else part[None, :], (sizes.many, sizes.few))
    return ring.array(matrix)


class TransferProducts:
    """Scalar products modulo 2^l, l <= 64, by oblivious transfer; many is its sender."""

    def __init__(
        self,
        channel: Channel,
        peer: str,
        many: bool,
        rng: Random,
        transfers: Sender | Receiver | None = None,
    ) -> None:
        """Runs the base transfers, unless `transfers` is a session that has run them."""
        self.channel, self.peer, self.many = channel, peer, many
        if transfers is None:
            transfers = (Sender if many else Receiver)(channel, peer, rng)
        self.transfers = transfers

    def check(self, sizes: Sizes, ring: Ring, masked: bool) -> None:
        if masked and (not ring.is_power_of_two or ring.bits > 64):
            raise UsageError(
                f"scalar products by oblivious transfer are modulo 2^l, l <= 64, not {ring.modulus}"
            )

    def to_many(self, sizes: Sizes, values: Array, rng: Random) -> Array | None:
        ring = Ring(1 << max(1, sizes.largest.bit_length()))
        share = self.shares(sizes, values, ring, rng)
        if self.many:
            return open_from(self.channel, self.peer, ring, share)
        open_to(self.channel, self.peer, ring, share)
        return None

    def shares(self, sizes: Sizes, values: Array, ring: Ring, rng: Random) -> Array:
        word = np.dtype(f"u{next(size for size in (1, 2, 4, 8) if 8 * size >= ring.bits)}")
        low, high = sizes.moved[1]
        bits = max(1, (high - low).bit_length())
        lanes = sizes.few * bits
        step = max(1, _ELEMENTS // max(1, lanes * sizes.many))
        total = np.zeros((lanes, sizes.many), word)
        for start in range(0, sizes.records, step):
            part = values[start : start + step]
            if self.many:
                total += self._offer(part.astype(word), lanes)
            else:
                total += self._choose(part, bits, sizes.many, word)
            self.channel.progress(min(start + step, sizes.records), sizes.records)
        weights = np.uint64(1) << np.arange(bits, dtype=np.uint64)
        wide = total.astype(np.uint64).reshape(sizes.few, bits, sizes.many)
        return ring.array((wide * weights[:, None]).sum(axis=1, dtype=np.uint64).T)

    def _offer(self, rows: Array, lanes: int) -> Array:
        assert isinstance(self.transfers, Sender)  # noqa: S101 for the type checker
        count, width = rows.shape
        words = -(-width * rows.itemsize // 8)
        zero, one = (
            np.ascontiguousarray(pad).view(rows.dtype)[:, :width].reshape(count, lanes, width)
            for pad in self.transfers.random(count * lanes, words)
        )
        self.channel.send(self.peer, zero - one + rows[:, None, :])
        share: Array = np.negative(zero.sum(axis=0, dtype=rows.dtype))
        return share

    def _choose(self, values: Array, bits: int, width: int, word: Any) -> Array:
        assert isinstance(self.transfers, Receiver)  # noqa: S101 for the type checker
        count, columns = values.shape
        digits = np.ascontiguousarray(values, dtype="<u8").view(np.uint8)
        choices = np.unpackbits(
            digits.reshape(count, columns, 8), axis=2, count=bits, bitorder="little"
        )
        words = -(-width * word.itemsize // 8)
        pads = np.ascontiguousarray(self.transfers.random(choices.reshape(-1), words)).view(word)
        shape = (count, columns * bits, width)
        correction = self.channel.recv_array(
            self.peer, word, shape, f"corrections of shape {shape}"
        )
        chosen = correction * choices.reshape(count, columns * bits, 1).astype(word)
        chosen += pads[:, :width].reshape(shape)
        total: Array = chosen.sum(axis=0, dtype=word)
        return total
