"""Counts and sums by attributes of which each cell lies at exactly one party, as shares at two servers.

Paper 2, third article, sections 1 and 7 (after Jagannathan and Wright, KDD 2005): of one person one
party may know the job and another the age, of the next person the other way round. Since each cell
lies at one party, the parties hold additive shares of a cell's indicators without a message: a party
that holds the cell has a 1 at its value, all others have zeros. A number lies at one party, too, and
is the sum of what the parties put in: the number at its holder, 0 elsewhere.

A table is therefore a sum over records of products of shared vectors. Attribute after attribute, the
one of fewest values first, every party puts all parties' shares of the vectors so far at the group of
its own cell (`grouped_sums`), or into a group that is dropped where it holds none; what comes out of
the parties' turns is added up. An attribute that all parties know, such as the class, the parties put
in without a message. After the last attribute the shares are added up over the records and move to the
servers.

In: at each party the codes of its own cells, -1 elsewhere (`mixed_cells.held_once` checks that each
lies at one party), and numbers. Out: uniform shares of every cell's sums at the servers, None at the
others. Adversary: semi-honest, any number colluding but not both servers; a party's cells enter as
choices of oblivious transfers, so that nobody learns which cells another party holds.

Messages and cost: for each attribute of s values and each ordered pair of parties those of
`grouped_sums` for s + 1 groups: 48 log2(s + 1) bytes a record, and 4 or 8 for each element so far.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from coterie.base.arrays import Array, Codes
from coterie.protocols.aggregates.grouped_sums import Grouper, chunks, offer, place, receive
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.contingency import Axis, cells_of, reorder
from coterie.protocols.statistics.shared_counts import Ring, Transfers, share_out

_ELEMENTS = 1 << 21  # ring elements of all records of a chunk that are held together


def mixed_counts(
    transfers: Transfers,
    names: Sequence[str],
    servers: tuple[str, str],
    axes: Sequence[Axis],
    codes: Mapping[str, Codes],
    records: int,
    rng: Random,
    known: Collection[str] = (),
) -> Ring | None:
    """Shares of a table's cells, as `contingency.table_shares` gives them; all parties know `known`."""
    ones = np.full((records, 1), transfers.channel.me == names[0], np.uint32)
    return mixed_sums(transfers, names, servers, axes, codes, ones, rng, known)


def mixed_sums(
    transfers: Transfers,
    names: Sequence[str],
    servers: tuple[str, str],
    axes: Sequence[Axis],
    codes: Mapping[str, Codes],
    numbers: Array,
    rng: Random,
    known: Collection[str] = (),
) -> Array | None:
    """Shares at the servers of sums by the axes, flat in their order and then that of the columns.

    `numbers` are this party's, of shape (records, columns), 0 where it holds none; what all parties
    put in is added up. All parties know the codes of the axes in `known`.
    """
    channel = transfers.channel
    records, width = numbers.shape
    order = sorted(range(len(axes)), key=lambda at: axes[at].size)
    total = np.zeros(cells_of(axes) * width, numbers.dtype)
    trees = rng.fork("trees")
    with channel.step("sums"):
        for part in chunks(records, width, [axes[at].size + 1 for at in order], _ELEMENTS):
            mine = np.ascontiguousarray(numbers[part])
            for turn, at in enumerate(order, 1):
                axis, last = axes[at], turn == len(order)
                own = np.asarray(codes[axis.name][part], np.int64)
                if axis.name in known:
                    found = place(mine, own, axis.size, not last)
                else:
                    found = _spread(transfers, names, mine, own, axis, part, not last, trees)
                mine = found.reshape(-1 if last else (len(own), -1))
            total += mine if order else mine.sum(axis=0, dtype=numbers.dtype)
            channel.progress(part.stop, records)
    sizes, layout = [axes[at].size for at in reversed(order)], [*reversed(order)]
    total = reorder(total, [*sizes, width], [*layout, len(axes)])
    return share_out(channel, servers, names, len(total), total, rng.fork("out"), numbers.dtype)


def _spread(
    transfers: Transfers,
    names: Sequence[str],
    mine: Array,
    codes: Codes,
    axis: Axis,
    part: slice,
    each: bool,
    rng: Random,
) -> Array:
    """This party's share of the vectors at the groups of their records, each known to some party.

    One group more is for the records of which a party does not know the group; it is dropped.
    """
    me = transfers.channel.me
    groups = axis.size + 1
    own = np.where(codes < 0, axis.size, codes)
    total: Array = np.zeros(
        (len(mine), groups, mine.shape[1]) if each else (groups, mine.shape[1]), mine.dtype
    )
    for name in names:
        if name != me:
            total += offer(transfers, Grouper(name, groups), mine, part.start, each, rng)
            continue
        total += place(mine, own, groups, each)
        for peer in names:
            if peer != me:
                total += receive(
                    transfers, peer, groups, own, mine.shape[1], part.start, each, mine.dtype
                )
    return np.ascontiguousarray(total[..., : axis.size, :])
