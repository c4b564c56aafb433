"""Which groups' sums may be shown, decided on shares at two servers, and their opening.

In: shares at the servers of every group's number of records and sums (`shared_tables`), modulo 2^64;
None at the others; all parties call. Out, at every party: which groups are shown, and the numbers of
these that a job asks for; nothing of a hidden group.

Which groups are shown is decided by the rules for counts (`anonymity.counts.hidden_cells`), on one
bit for each group: whether it has `minimum` records. The rules' promise holds for sums as well: for
every group of 1 to minimum-1 records and every coalition without one of the servers there is another
table in which this group is empty and everything that the coalition sees is the same. The other table
arises from the first by moving the group's records, with all their numbers, to another hidden group,
in a direction that the coalition does not know. So neither a shown sum changes, nor a total over
hidden groups that somebody knows from its own columns: the sum of a small group does not follow by
subtraction.

The promise is not about what an exact sum itself reveals: whoever knows the numbers of all records can
try which of them add up to a shown sum (docs/aggregate.md).

Adversary: semi-honest; the servers must not collude. Messages: those of `visible_cells`, then one of
each server to everybody for each kind of sum. A sum of squares is put together from its parts by a
garbled circuit (`aggregate_circuits`), so that the parts stay hidden. Cost: 31 AND gates and the
rules for each group; some 250 for each shown sum of squares.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from coterie.anonymity.counts.hidden_cells import Component
from coterie.base.arrays import Array, Bits, Codes, Ints
from coterie.protocols.aggregates.aggregate_circuits import (
    WIDTH,
    Spread,
    bit_circuit,
    both_circuit,
    multiple_circuit,
    quotient_circuit,
    square_circuit,
    top_circuit,
    variance_circuit,
)
from coterie.protocols.circuits.boolean import Circuit, from_bits, to_bits
from coterie.protocols.messaging.opening import declare
from coterie.protocols.statistics.hidden_counts import HiddenCounts
from coterie.protocols.statistics.shared_counts import Ring
from coterie.protocols.statistics.visible_cells import visible_cells

GROUPS = declare(
    "aggregate: which groups are shown",
    what="A bit for each group: whether the rules for small counts let it be shown. Hidden groups of few records, of none and of many look the same.",
    to="every party",
    why="All parties must know which numbers to open.",
)
COUNTS = declare(
    "aggregate: numbers of records",
    what="The number of records of each shown group, where the job asks for it, for a mean or for a variance.",
    to="every party",
    why="It is part of the result; a mean is the sum divided by it.",
)
SUMS = declare(
    "aggregate: sums",
    what="The sum of a column over each shown group, where the job asks for it, for a mean or for a variance.",
    to="every party",
    why="It is part of the result, or a mean or a variance is computed from it.",
)
SQUARES = declare(
    "aggregate: sums of squares",
    what="The sum, over each shown group, of the squared distances of a column from the middle of its range, where the job asks for a variance.",
    to="every party",
    why="A variance is computed from it, the sum and the number of records.",
)

ROUNDED = declare(
    "aggregate: rounded numbers",
    what="With `round`, in place of numbers of records, sums, means and variances of shown groups, the nearest multiples of its base.",
    to="every party",
    why="They are the result; the servers round on shares, so that the numbers themselves stay hidden.",
)
PLACES = declare(
    "aggregate: buckets of quantiles",
    what="Of each shown group whether enough records lie on both sides of a quantile, and between it and those listed before it; if so, step by step, the half of the buckets in which the quantile lies, and nothing about other buckets.",
    to="every party",
    why="The last step gives the bucket, which is part of the result.",
)

MOST_DENOMINATOR = 1000  # of a quantile and of a contributor's share
Shared = Mapping[str, "Bits | None"]


@dataclass(frozen=True)
class Dominance:
    """The rule that the `largest` records of a group have no more than this share of its sum."""

    largest: int
    share: Fraction


@dataclass(frozen=True)
class Rank:
    """Which record of a group, in ascending order: the share of all at or below it; or, with no
    share, the first (last) one that has `minimum` records at or below (above) it.

    `least` is the fewest records of a group in which it is told at all; see `apart_from`.
    """

    share: Fraction | None
    last: bool = False
    least: int = 0

    def reached(self, minimum: int) -> tuple[int, int, int]:
        """(a, b, c): so many records are at or below it if a * below + b * records + c >= 0."""
        if self.share is not None:
            return self.share.denominator, -self.share.numerator, 0
        return (1, -1, minimum - 1) if self.last else (1, 0, -minimum)

    def enough_below(self, minimum: int) -> tuple[int, int, int]:
        """In the same form: whether at least `minimum` records are at or below the record itself."""
        if self.least > minimum:
            return 0, 1, -self.least
        if self.share is None:
            return 0, 1, -minimum
        return 0, self.share.numerator, -self.share.denominator * (minimum - 1) - 1

    def enough_above(self, minimum: int) -> tuple[int, int, int]:
        """In the same form: whether at least `minimum` records are at or above the record itself."""
        if self.share is None:
            return 0, 1, -minimum
        top, whole = self.share.numerator, self.share.denominator
        return 0, whole - top, -whole * (minimum - 1)

    def apart_from(self, others: Iterable[Rank], minimum: int) -> Rank:
        """The same rank, told only in groups where `minimum` ranks lie between it and each other one.

        Two ranks beside each other tell how many records are below a bucket, exactly, and a row of
        them how many are inside: perhaps one.
        """
        slope, offset = self._place(minimum)
        least = self.least
        for other in others:
            (low, start), (high, end) = sorted([(slope, offset), other._place(minimum)])
            if low < high:
                least = max(least, math.ceil((minimum + start - end) / (high - low)))
        if least and self.share:  # as many below it as without others
            least = max(least, math.ceil((minimum - 1) / self.share) + 1)
        return replace(self, least=least)

    def _place(self, minimum: int) -> tuple[Fraction, int]:
        """The rank in a group of n records: the first number times n, rounded up, and the second."""
        if self.share is not None:
            return self.share, 0
        return (Fraction(1), 1 - minimum) if self.last else (Fraction(0), minimum)


def _column(bits: Bits | None) -> Bits | None:
    return None if bits is None else bits.reshape(-1, 1)


class Aggregates:
    """The group of parties and its two servers, at one party; the `Servers` of `visible_cells`."""

    def __init__(self, group: HiddenCounts) -> None:
        self.group = group
        self.channel = group.channel
        self._minimum = 1
        self._safe: list[Bits | None] = []  # shares of whether nobody dominates, for each column

    def large(self, share: Ring | None, count: int, minimum: int, zeros: bool) -> Bits | None:
        """Shares of whether each group may be shown as far as it alone is concerned."""
        large = self.group.large(share, count, self._minimum, zeros)
        for safe in self._safe:
            large = self._both(large, safe, count)
        return large

    def _both(self, one: Bits | None, other: Bits | None, count: int) -> Bits | None:
        inputs = {"one": _column(one), "other": _column(other)}
        both = self.group.shared(both_circuit(), count, inputs)["both"]
        return None if both is None else both[:, 0]

    def judge_dominance(
        self,
        rule: Dominance,
        histogram: Array | None,
        sums: Array | None,
        weights: Sequence[int],
        cells: int,
    ) -> None:
        """Keeps shares of whether each group's largest records have no more than their share.

        `histogram` has shares of the records in every bucket, modulo 2^32, and `weights` the most
        that a record of each bucket contributes; `sums` the sums of contributions.
        """
        top, whole = rule.share.numerator, rule.share.denominator
        inputs: dict[str, Bits | None] = {"above": None, "part": None}
        if histogram is not None and sums is not None:
            above = np.cumsum(histogram[:, ::-1], axis=1, dtype=np.uint32)[:, ::-1]
            bits = to_bits(np.ascontiguousarray(above).reshape(-1), 32)
            inputs["above"] = bits.reshape(cells, -1)
            inputs["part"] = to_bits(sums * np.uint64(top), WIDTH)
        circuit = top_circuit(tuple(weight * whole for weight in weights), rule.largest)
        with self.channel.step("dominance"):
            safe = self.group.shared(circuit, cells, inputs)["safe"]
        self._safe.append(None if safe is None else safe[:, 0])

    def shown_whole(self) -> Ints:
        """Whether the only group there is may be shown, by dominance alone: its number, or none."""
        safe = self._safe[0]
        for other in self._safe[1:]:
            safe = self._both(safe, other, 1)
        with self.channel.step("groups"):
            bit = self.revealed(bit_circuit(), 1, {"bit": _column(safe)}, "bit")
        return np.zeros(int(bit[0, 0]), np.int64)

    def shared(self, circuit: Circuit, count: int, inputs: Shared) -> dict[str, Bits | None]:
        return self.group.shared(circuit, count, inputs)

    def public(self, bits: Bits) -> Bits | None:
        return self.group.public(bits)

    def revealed(self, circuit: Circuit, count: int, inputs: Shared, output: str) -> Bits:
        return self.channel.open(GROUPS, self.group.decided(circuit, count, inputs, output)[0])

    def shown(
        self, components: Sequence[Component], counts: Array | None, cells: int, minimum: int
    ) -> Ints:
        """The numbers of the groups that are shown, from shares of their numbers of records."""
        share = None if counts is None else counts.astype(np.uint32)
        self._minimum = minimum
        with self.channel.step("groups"):
            # With a minimum of 1 every cell would be shown, whoever dominates it.
            least = max(minimum, 2) if self._safe else minimum
            visible = visible_cells(self, components, share, cells, least)
        return np.flatnonzero(visible).astype(np.int64)

    def records(self, share: Array | None, count: int) -> Codes:
        """Numbers of records of shown groups. Pass only shares of what everybody may see."""
        return self.channel.open(COUNTS, self.group.added(share, count, np.uint64))

    def sums(self, share: Array | None, count: int) -> Codes:
        """Sums of shown groups. Pass only shares of what everybody may see."""
        return self.channel.open(SUMS, self.group.added(share, count, np.uint64))

    def rounded(self, share: Array | None, base: int, bound: int, count: int) -> list[int]:
        """The nearest multiples of `base`, the upper of two, of numbers up to `bound`."""
        start = -(-bound // base)
        inputs: dict[str, Bits | None] = {"number": None}
        if share is not None:
            move = np.uint64(start * base + base // 2 if self.group.first else 0)
            inputs["number"] = to_bits(share + move, WIDTH)
        bits, _ = self.group.decided(multiple_circuit(base), count, inputs, "multiple")
        found = from_bits(self.channel.open(ROUNDED, bits))
        return [(int(multiple) - start) * base for multiple in found]

    def rounded_means(
        self, sums: Array | None, records: Array | None, base: int, bound: int, count: int
    ) -> list[int | None]:
        """The nearest multiples of `base` of means up to `bound`; None for groups without records."""
        start = -(-bound // base)
        scale = 1 if base % 2 == 0 else 2  # so that half of the base is whole
        inputs: dict[str, Bits | None] = {"number": None, "divisor": None}
        if sums is not None and records is not None:
            move = scale * start * base + scale * base // 2
            inputs["number"] = to_bits(sums * np.uint64(scale) + records * np.uint64(move), WIDTH)
            inputs["divisor"] = to_bits(records * np.uint64(scale * base), WIDTH)
        bits, _ = self.group.decided(quotient_circuit(), count, inputs, "quotient")
        found = [int(multiple) for multiple in from_bits(self.channel.open(ROUNDED, bits))]
        return [None if f == (1 << WIDTH) - 1 else (f - start) * base for f in found]

    def rounded_variances(
        self,
        form: Spread,
        parts: Mapping[str, Array | None],
        distances: Array | None,
        records: Array | None,
        count: int,
    ) -> list[int | None]:
        """How many steps each variance is, rounded to the nearest; None of fewer than two records."""
        words = {**parts, "distance": distances, "records": records}
        inputs = {n: None if share is None else to_bits(share, WIDTH) for n, share in words.items()}
        circuit = variance_circuit(form)
        bits, _ = self.group.decided(circuit, count, inputs, "variance")
        none = (1 << len(circuit.outputs["variance"])) - 1
        found = [int(multiple) for multiple in from_bits(self.channel.open(ROUNDED, bits))]
        return [None if multiple == none else multiple for multiple in found]

    def places(
        self,
        histogram: Array | None,
        buckets: int,
        rank: Rank,
        minimum: int,
        count: int,
    ) -> list[int | None]:
        """The bucket of the record of a rank, in shown groups; None where it stays hidden.

        `histogram` has shares of the records in every bucket, modulo 2^32. A quantile stays hidden
        unless `minimum` records are at or below it, and as many at or above it.
        """
        below = None if histogram is None else np.cumsum(histogram, axis=1, dtype=np.uint32)
        records = None if below is None else below[:, -1]
        enough = [
            self._reaches(rank.enough_below(minimum), records, records, count),
            self._reaches(rank.enough_above(minimum), records, records, count),
        ]
        with self.channel.step("quantiles"):
            inputs = {"one": _column(enough[0]), "other": _column(enough[1])}
            bits, _ = self.group.decided(both_circuit(), count, inputs, "both")
            open_ = np.flatnonzero(self.channel.open(PLACES, bits)[:, 0])
            low = np.zeros(len(open_), np.int64)
            high = np.full(len(open_), buckets - 1)
            while len(open_) and (low < high).any():
                middle = (low + high) // 2
                mine = None if below is None else below[open_, middle]
                total = None if records is None else records[open_]
                share = self._reaches(rank.reached(minimum), mine, total, len(open_))
                inputs = {"bit": _column(share)}
                bits, _ = self.group.decided(bit_circuit(), len(open_), inputs, "bit")
                reached = self.channel.open(PLACES, bits)[:, 0].astype(bool)
                moving = low < high
                high = np.where(moving & reached, middle, high)
                low = np.where(moving & ~reached, middle + 1, low)
        found: list[int | None] = [None] * count
        for at, place in zip(open_.tolist(), low.tolist(), strict=True):
            found[at] = place
        return found

    def _reaches(
        self,
        terms: tuple[int, int, int],
        below: Array | None,
        records: Array | None,
        count: int,
    ) -> Bits | None:
        """Shares of whether a * below + b * records + c is at least 0."""
        a, b, c = (np.uint32(term % (1 << 32)) for term in terms)
        share: Array | None = None
        if below is not None and records is not None:
            share = below * a + records * b + (c if self.group.first else np.uint32(0))
        return self.group.large(share, count, 0, zeros=False)

    def squares(self, parts: Mapping[str, Array | None], half: int, count: int) -> list[int]:
        """Sums of squares of shown groups, from shares of the sums of their parts."""
        inputs = {
            name: None if share is None else to_bits(share, WIDTH) for name, share in parts.items()
        }
        bits, _ = self.group.decided(square_circuit(half), count, inputs, "square")
        return [int(square) for square in from_bits(self.channel.open(SQUARES, bits))]
