"""Clusters (k-means) of people whose columns several parties hold, by iterations on shares.

Vertical partition, after the intersection. Paper 3, §20.5, names joint clustering; Lloyd's iteration
is the textbook's, here in whole numbers: a column is a number of steps from -2^13 to 2^13, a centre
the mean of its records rounded down, a record belongs to the nearest centre (the first of equals),
and a cluster without records keeps its centre. Two servers hold shares of the centres:

1. The start is public.
2. An iteration. Of |x - c|² the part |x|² is the same for all centres, so that |c|² - 2 x'c decides:
   x'c by products of each party's columns with shares of the centre (`server_products`), |c|² by
   products of shares. A garbled circuit finds the least for each record; its answer is one bit for
   each cluster, as shares. Sums and sizes of the clusters are products of columns by these bits, and
   the new centres their quotients, by a circuit. Nothing is opened.
3. After a fixed number of iterations one bit is opened, whether the last one changed no centre. Then
   the records are assigned once more, and of every cluster one bit is opened, whether it has
   `minimum` records. A smaller one goes, and its records go to the next nearest centre, until none
   is small. Last, sums and sizes of the clusters are opened; their quotients are the centres. Before,
   one bit is opened: whether within each cluster every value of a column of few values is held by
   none or at least `minimum` records (`small_support`). Otherwise the job ends.

In: at every party its own columns. Out, at every party: the centre and the size of each cluster,
each of at least `minimum` records. Since only one assignment is opened, nobody sees a record move
from one cluster to another, and no difference of two sums is about a few people.

Kept after an interruption (`Channel.once`): what was opened, and at the servers their shares of the
centres after each iteration and of the last sums, which are random numbers by themselves.

Adversary: semi-honest; the two servers must not collude. Cost for n records, p columns and k
clusters in each iteration: 36 k p transfers with 5 n bytes each, about 110 n k AND gates, and for
each party 40 n k with 16 + 5 p bytes each.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from coterie.base.arrays import Array, Bits, Ints, Mask, UInt32s, Words
from coterie.base.errors import DataError
from coterie.protocols.circuits.arithmetic import Builder
from coterie.protocols.circuits.boolean import Circuit, built_once, to_bits
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.messaging.opening import declare
from coterie.protocols.messaging.wire import Value
from coterie.protocols.models.server_products import ServerProducts
from coterie.protocols.models.small_support import PAIRED
from coterie.protocols.numbers.multiplication import multiply_shares, numbers_of_bits
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.hidden_counts import HiddenCounts
from coterie.protocols.statistics.shared_counts import Transfers

REACH = 1 << 13  # the most steps of a column on either side of zero
MOST_COLUMNS = 64  # so that distances fit
MOST_RECORDS = 1 << 20  # so that sums do
_DISTANCE = 36  # bits of a distance: 3 * 64 * 2^26 is below 2^34
SUM_BITS = 40  # bits of shares of sums and sizes
_QUOTIENT = 15  # bits of a centre, moved up by REACH
_SIZE = 21

SETTLED = declare(
    "cluster: whether the centres have settled",
    what="With vertical partition one bit: whether the last iteration changed no centre.",
    to="every party",
    why="The result says whether more iterations would change it.",
)
DIVIDED = declare(
    "cluster: sums and sizes of divided columns",
    what="With vertical partition, for each cluster of the last assignment, of at least `minimum` records, the number of its records and the sum of each attribute.",
    to="every party",
    why="Their quotients are the centres, which are the result.",
)


@dataclass(frozen=True)
class FoundClusters:
    """Sums over the records of each cluster, in steps, by column; and the numbers of records."""

    sums: list[list[int]]
    sizes: list[int]
    settled: bool


@built_once(16)
def nearest_circuit(clusters: int) -> Circuit:
    """Of each cluster whether its number is the least, the first of equals, from shares."""
    builder = Builder()
    width = clusters * _DISTANCE
    ours, theirs = builder.input("far0", width), builder.input("far1", width)
    words = [
        builder.add(ours[at : at + _DISTANCE], theirs[at : at + _DISTANCE], _DISTANCE)
        for at in range(0, width, _DISTANCE)
    ]
    _, place = builder.minimum(words)
    here = [builder.equal(place, builder.constant(at, len(place))) for at in range(clusters)]
    builder.output("home", here)
    return builder.build()


@built_once(1)
def mean_circuit() -> Circuit:
    """The sum divided by the size, rounded down, or the number before where the size is 0."""
    builder = Builder()
    total, size, before = (
        builder.add(builder.input(f"{name}0", width), builder.input(f"{name}1", width), width)
        for name, width in (("sum", SUM_BITS), ("size", SUM_BITS), ("before", _QUOTIENT))
    )
    rest, width = total[: _QUOTIENT + _SIZE], _QUOTIENT + _SIZE
    divisor = size[:_SIZE]
    digits = []
    for place in reversed(range(_QUOTIENT)):
        part = [*builder.constant(0, place), *divisor]
        part = builder.extend(part, width)
        fits = builder.invert(builder.less(rest, part))
        rest = builder.subtract(rest, builder.gate_word(fits, part), width)
        digits.append(fits)
    some = builder.any(divisor)
    builder.output("mean", builder.choose(some, digits[::-1], before))
    return builder.build()


@built_once(16)
def same_circuit(numbers: int) -> Circuit:
    """Whether two lists of numbers are equal, from shares of their bits."""
    builder = Builder()
    width = numbers * _QUOTIENT
    words = [
        builder.xor_words(builder.input(f"{name}0", width), builder.input(f"{name}1", width))
        for name in ("before", "after")
    ]
    builder.output("same", [builder.equal(*words)])
    return builder.build()


def cluster_columns(
    transfers: Transfers,
    hidden: HiddenCounts,
    names: Sequence[str],
    held: Mapping[str, Sequence[int]],
    mine: Ints,
    cells: Array,
    start: Sequence[Sequence[int]],
    iterations: int,
    large: Callable[[UInt32s | None, int], Mask],
    none_few: Callable[[UInt32s | None, int], None],
    rng: Random,
) -> FoundClusters:
    """Lloyd's iteration on shares. `held` are the places of each party's columns, `mine` this party's.

    `cells` are the records to be counted for each of these (`small_support.supported`), `start` the
    public centres. `large` says of shares of counts at the servers which are large; `none_few` raises
    if one of them is neither 0 nor large.
    """
    channel = transfers.channel
    work = Work(transfers, hidden, names, held, mine, len(start), rng)
    centres = work.started(start)
    bits: tuple[Bits | None, Bits | None] = (None, None)
    for done in range(1, iterations + 1):
        with channel.step(f"iteration {done}"):
            centres, new = _kept_pair(channel, "iteration", partial(work.iterated, centres))
            bits = (bits[1], new)
        channel.progress(done, iterations)
    settled = 0
    if iterations > 1:
        settled = channel.once("settled", lambda: channel.open(SETTLED, work.same(*bits)))
    left = list(range(len(start)))
    while True:
        with channel.step(f"clusters {len(left)}"):
            kept = None if centres is None else centres[left]
            table, stay = _kept_pair(
                channel, "clusters that stay", partial(work.assigned, kept, len(left), cells, large)
            )
        if stay.all():
            break
        left = [place for place, keep in zip(left, stay.tolist(), strict=True) if keep]
        if not left:
            raise DataError("no cluster has `minimum` records: ask for fewer clusters")

    def opened() -> Array:
        counts = None if table is None else table[:, 1 + work.columns :].astype(np.uint32)
        none_few(None if counts is None else counts.reshape(-1), len(left) * PAIRED * work.columns)
        share = None if table is None else table[:, : 1 + work.columns].reshape(-1)
        found = hidden.added(share, len(left) * (1 + work.columns), np.uint64)
        return channel.open(DIVIDED, found & ((1 << SUM_BITS) - 1))

    rows = channel.once("clusters", opened).reshape(len(left), 1 + work.columns)
    sums = rows[:, 1:] - REACH * rows[:, :1]  # which were moved up
    return FoundClusters(sums.tolist(), rows[:, 0].tolist(), bool(settled))


def _kept_pair(
    channel: Channel, what: str, compute: Callable[[], tuple[Array | None, Array | None]]
) -> tuple[Any, Any]:
    """Two arrays as one kept answer, each None at a party that has no share."""

    def found() -> list[Value]:
        return [[] if part is None else part for part in compute()]

    first, second = (None if isinstance(part, list) else part for part in channel.once(what, found))
    return first, second


class Work:
    """The computation at one party; shares are None except at the servers.

    Columns are in the order of the parties, of which `order` has the places.
    """

    def __init__(
        self,
        transfers: Transfers,
        hidden: HiddenCounts,
        names: Sequence[str],
        held: Mapping[str, Sequence[int]],
        mine: Ints,
        clusters: int,
        rng: Random,
    ) -> None:
        self.hidden, self._names, self._held, self._mine = hidden, names, held, mine
        self.channel = transfers.channel
        self._clusters = clusters
        self.records = len(mine)
        self.columns = sum(map(len, held.values()))
        if self.columns > MOST_COLUMNS or self.records >= MOST_RECORDS:
            raise DataError(
                f"clusters of columns at different parties take at most {MOST_COLUMNS} columns of "
                f"fewer than {MOST_RECORDS:,} records"
            )
        self._order = [at for name in names for at in held[name]]
        sizes = {name: len(places) for name, places in held.items()}
        self._products = ServerProducts(transfers, names, hidden.servers, sizes, rng)

    def started(self, start: Sequence[Sequence[int]]) -> Words | None:
        """Shares of public centres, of shape (clusters, columns)."""
        if not self.hidden.is_server:
            return None
        whole = np.array(start, np.int64).astype(np.uint64)
        return whole if self.hidden.first else np.zeros_like(whole)

    def iterated(self, centres: Words | None) -> tuple[Words | None, Bits | None]:
        """Shares of the centres after one more iteration, and of their bits."""
        return self.means(self.sums(self.homes(centres)), centres)

    def assigned(
        self,
        centres: Words | None,
        clusters: int,
        cells: Array,
        large: Callable[[UInt32s | None, int], Mask],
    ) -> tuple[Words | None, Bits]:
        """Shares of the sums of the nearest records, and of each cluster whether it has enough.

        The sums are followed by those of the cells of each column.
        """
        table = self.sums(self.homes(centres, clusters), clusters, cells)
        sizes = None if table is None else table[:, 0].astype(np.uint32)
        return table, large(sizes, clusters).astype(np.uint8)

    def homes(self, centres: Words | None, clusters: int | None = None) -> Bits | None:
        """Shares of one bit for each record and cluster: whether its centre is the nearest."""
        count = clusters or self._clusters
        low = np.uint64((1 << _DISTANCE) - 1)
        far = None if centres is None else np.zeros((self.records, count), np.uint64)
        for at in range(count):
            weights = None if centres is None else centres[at][self._order] & low
            along = self._products.rows_by_weights(
                self._mine, weights, self.records, 1 << _DISTANCE
            )
            if far is not None and along is not None and centres is not None:
                far[:, at] = np.uint64(0) - np.uint64(2) * along
        if far is not None and centres is not None:
            garbling = self.hidden.garbling
            assert garbling is not None  # noqa: S101 this party is a server
            flat = (centres & low).reshape(-1)
            squares = multiply_shares(garbling.transfers, flat, flat, 1 << _DISTANCE)
            far += squares.reshape(centres.shape).sum(axis=1, dtype=np.uint64)
            if self.hidden.first:
                far += np.uint64(1 << (_DISTANCE - 1))  # so that nothing is negative
            far &= low
        bits = None
        if far is not None:
            bits = to_bits(far.reshape(-1), _DISTANCE).reshape(self.records, count * _DISTANCE)
        circuit = nearest_circuit(count)
        return self.hidden.shared(circuit, self.records, {"far": bits})["home"]

    def sums(
        self, homes: Bits | None, clusters: int | None = None, cells: Array | None = None
    ) -> Words | None:
        """Shares modulo 2^40 of sizes, of the sums of each column moved up by REACH, and of cells."""
        count = clusters or self._clusters
        share = None if homes is None else self._numbers(homes).reshape(self.records, count)
        each = 1 if cells is None else 1 + PAIRED  # sums for a column
        table = None if share is None else np.zeros((count, 1 + each * self.columns), np.uint64)
        if table is not None and share is not None:
            table[:, 0] = share.sum(axis=0, dtype=np.uint64)
        moved = self._mine + REACH
        if cells is not None:
            moved = np.concatenate(
                [moved, cells.reshape(self.records, -1).astype(np.int64)], axis=1
            )
        for at in range(count):
            column = None if share is None else np.ascontiguousarray(share[:, at])
            for name in self._names:
                places = self._held[name]
                if not places:
                    continue
                own = moved if name == self.channel.me else None
                found = self._products.columns_by_shares(
                    name, each * len(places), own, column, True, 1 << SUM_BITS
                )
                if table is not None and found is not None:
                    table[at, [1 + place for place in places]] = found[: len(places)]
                    rest = [
                        1 + self.columns + PAIRED * p + v for p in places for v in range(PAIRED)
                    ]
                    table[at, rest[: len(found) - len(places)]] = found[len(places) :]
        return None if table is None else table & np.uint64((1 << SUM_BITS) - 1)

    def _numbers(self, bits: Bits) -> Words:
        """Shares of bits by XOR as shares of the same numbers modulo 2^40."""
        garbling = self.hidden.garbling
        assert garbling is not None  # noqa: S101 this party is a server
        return numbers_of_bits(garbling.transfers, bits, 1 << SUM_BITS)

    def means(self, table: Words | None, centres: Words | None) -> tuple[Words | None, Bits | None]:
        """Shares of the new centres, and of their bits."""
        inputs: dict[str, Bits | None] = dict.fromkeys(("sum", "size", "before"))
        if table is not None and centres is not None:
            sizes = np.repeat(table[:, :1], self.columns, axis=1)
            moved = centres + np.uint64(REACH if self.hidden.first else 0)
            moved &= np.uint64((1 << _QUOTIENT) - 1)
            inputs = {
                "sum": to_bits(table[:, 1:].reshape(-1), SUM_BITS),
                "size": to_bits(sizes.reshape(-1), SUM_BITS),
                "before": to_bits(moved.reshape(-1), _QUOTIENT),
            }
        count = self._clusters * self.columns
        bits = self.hidden.shared(mean_circuit(), count, inputs)["mean"]
        if bits is None:
            return None, None
        digits = self._numbers(bits).reshape(-1, _QUOTIENT)
        weights = np.uint64(1) << np.arange(_QUOTIENT, dtype=np.uint64)
        new = (digits * weights).sum(axis=1, dtype=np.uint64)
        if self.hidden.first:
            new -= np.uint64(REACH)
        new &= np.uint64((1 << SUM_BITS) - 1)
        return new.reshape(self._clusters, self.columns), bits

    def same(self, before: Bits | None, after: Bits | None) -> int:
        """Whether two iterations have the same centres, at every party."""
        numbers = self._clusters * self.columns
        inputs: dict[str, Bits | None] = {"before": None, "after": None}
        if before is not None and after is not None:
            inputs = {"before": before.reshape(1, -1), "after": after.reshape(1, -1)}
        told, _ = self.hidden.decided(same_circuit(numbers), 1, inputs, "same")
        return int(told[0, 0])
