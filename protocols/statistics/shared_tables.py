"""Tables of counts and sums over attributes of several parties, as shares at two servers.

`table_shares` counts records after Yang and Wright (TKDE 2006), by `shared_counts`: of the parties that
hold an axis of the table, the one whose axes have the most cells is the owner of the rows; the others
mask with one bit for each cell of their own axes. An axis that all parties know (the class) counts as
the owner's.

`group_shares` adds up one party's numbers, by `grouped_sums`. Every party that holds axes joins them to
one group for each record. The owner of the numbers first combines them with its own axes if these have
fewer values than anybody else's; otherwise it groups like the others. Groupers come in ascending order
of their numbers of groups: a message has as many elements for each record as all groupers before have
combinations of groups, and a tree has as many levels as the logarithm of the grouper's number.

`horizontal_shares` serves parties that hold the same attributes of different people: every party counts
or adds up its own records and shares the table out.

`mixed_sums` and `mixed_counts` serve cells that lie anywhere. Paper 2, third article, sections 1 and 7
(after Jagannathan and Wright, KDD 2005): of one person one party may know the job and another the age, of
the next person the other way round. Since each cell lies at one party, the parties hold additive shares
of a cell's indicators without a message: a party that holds the cell has a 1 at its value, all others
have zeros. A number lies at one party, too, and is the sum of what the parties put in: the number at its
holder, 0 elsewhere. A table is therefore a sum over records of products of shared vectors. Attribute
after attribute, the one of fewest values first, every party puts all parties' shares of the vectors so
far at the group of its own cell, or into a group that is dropped where it holds none; what comes out of
the parties' turns is added up. An attribute that all parties know, such as the class, the parties put in
without a message. After the last attribute the shares are added up over the records and move to the
servers. Nobody learns which cells another party holds: they enter as choices of oblivious transfers.

In: at each party the codes of its own axes (in a mixed table -1 where it lacks the cell;
`mixed_cells.held_once` checks that each lies at one party), at the owner or at all the numbers, a row
for every record. Out: uniform shares of every cell at the servers, modulo 2^32 for counts, and nothing
at the others. Adversary: semi-honest, any number colluding but not both servers.

Messages and cost: those of `shared_counts` or `grouped_sums`; for a mixed table those of `grouped_sums`
for each attribute of s values, s + 1 groups and each ordered pair of parties: 48 log2(s + 1) bytes a
record, and 4 or 8 for each element so far.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from coterie.base.arrays import Array, Codes
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.grouped_sums import (
    Grouper,
    Unsigned,
    chunks,
    grouped_sums,
    offer,
    place,
    receive,
)
from coterie.protocols.statistics.shared_counts import (
    Ring,
    Transfers,
    masked_sums,
    one_hot,
    share_out,
)

_ELEMENTS = 1 << 21  # ring elements of all records of a chunk that are held together


@dataclass(frozen=True)
class Axis:
    """An attribute of a table: its holder (None: every party), and its number of values."""

    name: str
    owner: str | None
    size: int


@dataclass(frozen=True)
class JointTable:
    """What a table is over: parties, servers, axes, this party's own codes, and the records."""

    names: Sequence[str]
    servers: tuple[str, str]
    axes: Sequence[Axis]
    codes: Mapping[str, Codes]
    records: int

    def held_by(self, *owners: str | None) -> list[int]:
        """The places of the axes of these parties; None stands for those that everybody knows."""
        return [at for at, axis in enumerate(self.axes) if axis.owner in owners]

    def cells(self, places: Sequence[int]) -> int:
        """The number of cells over these axes."""
        return cells_of([self.axes[at] for at in places])

    def joint(self, places: Sequence[int]) -> Codes:
        """This party's one code of every record for these axes, all of which it knows."""
        return joint_codes([self.axes[at] for at in places], self.codes, self.records)

    def in_order(self, share: Array, layout: Sequence[int]) -> Array:
        """A flat table over the axes in the order `layout`, and columns, in the order of the axes."""
        sizes = [self.axes[at].size for at in layout]
        table = share.reshape(*sizes, len(share) // max(1, cells_of(self.axes)))
        return np.ascontiguousarray(table.transpose([*np.argsort(layout), len(layout)])).reshape(-1)


def table_shares(transfers: Transfers, table: JointTable, rng: Random) -> Ring | None:
    """Shares of the counts of all cells, flat in the order of the axes; None except at the servers."""
    me = transfers.channel.me
    owners = [name for name in table.names if table.held_by(name)] or [table.names[0]]
    sizes = {name: table.cells(table.held_by(name)) for name in owners}
    row_owner = max(owners, key=lambda name: sizes[name])
    maskers = [(name, sizes[name]) for name in owners if name != row_owner]
    own = {name: table.held_by(name) for name in owners}
    own[row_owner] = table.held_by(row_owner, None)
    width = table.cells(own[row_owner])
    rows = bits = None
    if me == row_owner:
        rows = one_hot(table.joint(own[me]), width)
    elif me in owners:
        bits = one_hot(table.joint(own[me]), sizes[me], np.uint8)
    share = masked_sums(transfers, row_owner, maskers, table.records, width, rows, bits)
    if share is not None:
        listed = [*(name for name, _ in reversed(maskers)), row_owner]
        share = table.in_order(share, [at for name in listed for at in own[name]])
    return share_out(transfers.channel, table.servers, owners, cells_of(table.axes), share, rng)


def group_shares(
    transfers: Transfers,
    table: JointTable,
    owner: str,
    rows: Array | None,
    width: int,
    rng: Random,
    dtype: Unsigned = np.uint64,
) -> Array | None:
    """Shares of the sums of `rows`, flat in the order of the axes and then of the columns."""
    me, names = transfers.channel.me, table.names
    sizes = {name: table.cells(table.held_by(name)) for name in names}
    ranked = sorted(names, key=lambda name: (sizes[name], list(names).index(name)))
    others = [name for name in ranked if sizes[name] > 1 and name != owner]
    inside = 1 < sizes[owner] <= min((sizes[name] for name in others), default=0)
    order = others if inside else [name for name in ranked if sizes[name] > 1]
    group = table.joint(table.held_by(me)) if me in order or (inside and me == owner) else None
    count = cells_of(table.axes) * width
    if inside:
        # A vector of the owner gets room for each of the owner's groups, and stands at the record's.
        width *= sizes[owner]
        if rows is not None and group is not None:
            spread = place(rows, group, sizes[owner], each=True)
            rows, group = spread.reshape(table.records, width), None
    groupers = [Grouper(name, sizes[name]) for name in order]
    share = grouped_sums(transfers, owner, groupers, table.records, rows, width, group, rng, dtype)
    if share is not None:
        listed = [*reversed(order), *([owner] if inside else [])]
        of_one_value = [name for name in names if name not in listed]
        layout = [at for name in [*of_one_value, *listed] for at in table.held_by(name)]
        share = table.in_order(share, layout)
    out, servers = rng.fork("out"), table.servers
    return share_out(transfers.channel, servers, [owner, *others], count, share, out, dtype)


def horizontal_shares(
    channel: Channel,
    table: JointTable,
    rng: Random,
    rows: Array | None = None,
    dtype: Unsigned = np.uint32,
) -> Array | None:
    """Shares of all parties' counts of the cells, or sums of their own `rows`, added up."""
    joint, cells = table.joint(range(len(table.axes))), cells_of(table.axes)
    if rows is None:
        mine = np.bincount(joint, minlength=cells).astype(dtype)
    else:
        sums = np.zeros((cells, rows.shape[1]), dtype)
        np.add.at(sums, joint, rows.astype(dtype))
        mine = sums.reshape(-1)
    return share_out(channel, table.servers, table.names, len(mine), mine, rng, dtype)


def mixed_counts(
    transfers: Transfers, table: JointTable, rng: Random, known: Collection[str] = ()
) -> Ring | None:
    """What `table_shares` returns, for cells that lie anywhere; all parties know the axes `known`."""
    first = transfers.channel.me == table.names[0]
    ones = np.full((table.records, 1), first, np.uint32)
    return mixed_sums(transfers, table, ones, rng, known)


def mixed_sums(
    transfers: Transfers,
    table: JointTable,
    numbers: Array,
    rng: Random,
    known: Collection[str] = (),
) -> Array | None:
    """Shares at the servers of sums by the axes, flat in their order and then that of the columns.

    `numbers` are this party's, of shape (records, columns), 0 where it holds none; what all parties
    put in is added up. All parties know the codes of the axes in `known`.
    """
    channel, axes = transfers.channel, table.axes
    records, width = numbers.shape
    order = sorted(range(len(axes)), key=lambda at: axes[at].size)
    total = np.zeros(cells_of(axes) * width, numbers.dtype)
    trees = rng.fork("trees")
    with channel.step("sums"):
        for part in chunks(records, width, [axes[at].size + 1 for at in order], _ELEMENTS):
            mine = np.ascontiguousarray(numbers[part])
            for turn, at in enumerate(order, 1):
                axis, last = axes[at], turn == len(order)
                own = np.asarray(table.codes[axis.name][part], np.int64)
                if axis.name in known:
                    found = place(mine, own, axis.size, not last)
                else:
                    found = _spread(transfers, table.names, mine, own, axis, part, not last, trees)
                mine = found.reshape(-1 if last else (len(own), -1))
            total += mine if order else mine.sum(axis=0, dtype=numbers.dtype)
            channel.progress(part.stop, records)
    total = table.in_order(total, [*reversed(order)])
    return share_out(
        channel, table.servers, table.names, len(total), total, rng.fork("out"), numbers.dtype
    )


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


def joint_codes(axes: Sequence[Axis], codes: Mapping[str, Codes], records: int) -> Codes:
    """One code for the values of several attributes, the first the most significant."""
    joint = np.zeros(records, np.int64)
    for axis in axes:
        joint = joint * axis.size + codes[axis.name]
    return joint


def cells_of(axes: Sequence[Axis]) -> int:
    """The number of cells of a table with these axes; 1 without axes."""
    return math.prod(axis.size for axis in axes)
