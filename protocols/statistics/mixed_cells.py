"""Counts and sums over cells of which each lies at exactly one party: arbitrarily divided tables.

Paper 2, third article, sections 1 and 7 (after Jagannathan and Wright, KDD 2005): of one person one
party may know the job and another the age, of the next person the other way round. The indicator of a
pattern is still a product: for each record a party puts 1 if all of the pattern's cells *that it
holds* match, so 1 if it holds none, and the product of all parties' bits is 1 for the records of the
pattern alone.

`pattern_rows` gives additive shares of these products for each record, at every party; `pattern_sums`
adds them up, times numbers that one party each holds, as shares at the two servers. A number lies at
one party, too, so that any function of it is the sum of what the parties put in: the function of the
number at its holder, 0 elsewhere.

All of this is right only if every cell lies at exactly one party. `held_once` checks that, for each
column: with random words r, drawn together, the parties add up r times (how many hold the cell - 1)
over all cells, as shares at the servers, and a garbled circuit tells whether the sum is 0, which it is
by chance once in 2^62 columns otherwise. Nobody learns which cell is wrong, at whom, or whether it is
held twice or by nobody.

In: at each party the codes of its own cells, -1 elsewhere. Out: shares at the servers, None at the
others. Adversary: semi-honest, any number colluding but not both servers; nobody learns which cells
another party holds. Messages and cost: for a record and a pattern one transfer between each two
parties, of 16 + 4 (or 8 for each number) bytes; those of `coin_toss` and a small circuit for the check.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from coterie.base.arrays import Array, Bits, Codes, Mask
from coterie.protocols.circuits.arithmetic import Builder
from coterie.protocols.circuits.boolean import Circuit, to_bits
from coterie.protocols.messaging.opening import declare
from coterie.protocols.multiparty.coin_toss import toss
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.contingency import Axis
from coterie.protocols.statistics.hidden_counts import HiddenCounts
from coterie.protocols.statistics.shared_counts import Transfers, masked_rows, share_out

WIDTH = 64
_CHUNK = 1 << 20  # products that are computed together

HELD = declare(
    "statistics: columns whose cells lie at one party each",
    what="With mixed partition, of each column whether every cell of the common records lies at exactly one party; not which cell does not, at whom, or whether two parties or none hold it.",
    to="every party",
    why="Counts would be wrong otherwise; somebody has to look at the column's cells.",
)
WORDS = declare(
    "statistics: seed of the check of cells",
    what="With mixed partition, a seed that all parties draw together, of the random words by which the cells are checked.",
    to="every party",
    why="All multiply by the same words; the seed says nothing of the cells.",
)


@lru_cache(maxsize=1)
def zero_circuit() -> Circuit:
    """Whether a number is 0, from its two shares."""
    builder = Builder()
    total = builder.add(builder.input("rest0", WIDTH), builder.input("rest1", WIDTH), WIDTH)
    builder.output("zero", [builder.invert(builder.any(total))])
    return builder.build()


def held_once(group: HiddenCounts, held: Sequence[Mask], rng: Random) -> list[bool]:
    """For each column whether each of its cells lies at exactly one party; `held` are this party's."""
    channel = group.channel
    with channel.step("cells"):
        seed = channel.open(WORDS, toss(channel, group.names, rng.fork("seed")))
        drawn, first = Random(seed), channel.me == group.names[0]
        mine = np.zeros(len(held), np.uint64)
        for column, cells in enumerate(held):
            # The first party takes off one for each cell, which is to be held once.
            times = cells.astype(np.uint64) - np.uint64(1 if first else 0)
            mine[column] = (drawn.array(len(cells)) * times).sum(dtype=np.uint64)
        rest = share_out(
            channel, group.servers, group.names, len(held), mine, rng.fork("out"), np.uint64
        )
        inputs = {"rest": None if rest is None else to_bits(rest, WIDTH)}
        bits, _ = group.decided(zero_circuit(), len(held), inputs, "zero")
        return [bool(bit) for bit in channel.open(HELD, bits)[:, 0]]


def pattern_bits(axes: Sequence[Axis], codes: Mapping[str, Codes], part: slice) -> Bits:
    """A row for each record: of every combination of values whether this party's cells permit it."""
    bits: Bits = np.ones((part.stop - part.start, 1), np.uint8)
    for axis in axes:
        own = codes[axis.name][part]
        values = (own[:, None] == np.arange(axis.size)) | (own[:, None] < 0)
        bits = (bits[:, :, None] * values.astype(np.uint8)[:, None, :]).reshape(len(bits), -1)
    return bits


def pattern_rows(
    transfers: Transfers,
    names: Sequence[str],
    records: int,
    size: int,
    bits_of: Callable[[slice], Bits],
    numbers: Array | None = None,
    width: int = 1,
    dtype: Any = np.uint32,
) -> Iterator[tuple[slice, Array]]:
    """Shares, for each record, of every pattern's product times the numbers of the first of `names`.

    `bits_of` gives this party's bits of some records, of shape (records, size); `numbers` are the
    first party's, of shape (records, width), and all 1 if left out.
    """
    first, *others = names
    step = max(1, _CHUNK // max(1, size * width))
    for start in range(0, records, step):
        part = slice(start, min(start + step, records))
        mine = bits_of(part)
        rows = None
        if transfers.channel.me == first:
            own = np.ones((len(mine), 1), dtype) if numbers is None else numbers[part]
            rows = (mine[:, :, None].astype(dtype) * own[:, None, :]).reshape(-1, width)
        pieces = masked_rows(
            transfers, first, [(name, 1) for name in others], mine.size, width, rows,
            mine.reshape(-1, 1), dtype,
        )  # fmt: skip
        found = np.concatenate([piece for _, piece in pieces])
        yield part, found.reshape(len(mine), size, width)


def pattern_counts(
    transfers: Transfers,
    names: Sequence[str],
    servers: tuple[str, str],
    axes: Sequence[Axis],
    codes: Mapping[str, Codes],
    records: int,
    rng: Random,
) -> Array | None:
    """Shares of a table's cells, as `contingency.table_shares` gives them."""
    numbers = np.ones((records, 1), np.uint32) if transfers.channel.me == names[0] else None
    return pattern_sums(
        transfers, names, servers, axes, codes, records, rng, [names[0]], numbers, 1, np.uint32
    )


def pattern_sums(
    transfers: Transfers,
    names: Sequence[str],
    servers: tuple[str, str],
    axes: Sequence[Axis],
    codes: Mapping[str, Codes],
    records: int,
    rng: Random,
    owners: Sequence[str],
    numbers: Array | None,
    width: int,
    dtype: Any = np.uint64,
) -> Array | None:
    """Shares at the servers of sums by the axes, flat in their order and then that of the columns.

    `numbers` are this party's, 0 where it holds none, of shape (records, width), if it is one of the
    `owners`; what all owners put in is added up.
    """
    size = math.prod(axis.size for axis in axes)
    total = np.zeros((size, width), dtype)
    for owner in owners:
        order = [owner, *(name for name in names if name != owner)]
        for _, mine in pattern_rows(
            transfers, order, records, size, lambda part: pattern_bits(axes, codes, part),
            numbers, width, dtype,
        ):  # fmt: skip
            total += mine.sum(axis=0, dtype=dtype)
    return share_out(transfers.channel, servers, names, total.size, total.reshape(-1), rng, dtype)
