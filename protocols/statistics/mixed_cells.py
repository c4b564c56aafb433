"""Cells of which each lies at exactly one party: the check that they do, and products of patterns.

Paper 2, third article, sections 1 and 7 (after Jagannathan and Wright, KDD 2005): of one person one
party may know the job and another the age, of the next person the other way round.
`protocols.statistics.shared_tables` makes tables of such cells.

All of that is right only if every cell lies at exactly one party. `held_once` checks that, for each
column: with random words r, drawn together, the parties add up r times (how many hold the cell - 1)
over all cells, as shares at the servers, and a garbled circuit tells whether the sum is 0, which it is
by chance once in 2^62 columns otherwise. Nobody learns which cell is wrong, at whom, or whether it is
held twice or by nobody.

`pattern_rows` gives additive shares, for each record, of whether it fits each of some patterns (the
path to a node of a tree, and a value): a party puts 1 if all of the pattern's cells *that it holds*
match, so 1 if it holds none, and the product of all parties' bits is 1 for the records of the pattern
alone.

In: at each party the codes of its own cells, -1 elsewhere. Out: what is said above. Adversary:
semi-honest, any number colluding but not both servers; nobody learns which cells another party holds.
Messages and cost: for a record and a pattern one transfer between each two parties, of 20 bytes; those
of `coin_toss` and a small circuit for the check.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from coterie.base.arrays import Bits, Mask
from coterie.protocols.circuits.arithmetic import Builder
from coterie.protocols.circuits.boolean import Circuit, built_once, to_bits
from coterie.protocols.messaging.opening import declare
from coterie.protocols.multiparty.coin_toss import toss
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.hidden_counts import HiddenCounts
from coterie.protocols.statistics.shared_counts import Ring, Transfers, masked_rows, share_out

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


@built_once(1)
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


def pattern_rows(
    transfers: Transfers,
    names: Sequence[str],
    records: int,
    size: int,
    bits_of: Callable[[slice], Bits],
) -> Iterator[tuple[slice, Ring]]:
    """Shares, for each record, of every pattern's product, of shape (records, size).

    `bits_of` gives this party's bits of some records, of the same shape.
    """
    first, *others = names
    step = max(1, _CHUNK // max(1, size))
    for start in range(0, records, step):
        part = slice(start, min(start + step, records))
        mine = bits_of(part)
        rows = None
        if transfers.channel.me == first:
            rows = mine.astype(np.uint32).reshape(-1, 1)
        pieces = masked_rows(
            transfers, first, [(name, 1) for name in others], mine.size, 1, rows,
            mine.reshape(-1, 1),
        )  # fmt: skip
        found = np.concatenate([piece for _, piece in pieces])
        yield part, found.reshape(len(mine), size)
