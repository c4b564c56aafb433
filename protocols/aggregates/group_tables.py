"""Sums of one party's numbers by attributes of several parties, as shares at two servers.

The sums are made by `grouped_sums`. Every party that holds attributes of the table joins them to one
group for each record. The owner of the numbers first combines them with its own attributes if these
have fewer values than anybody else's; otherwise it groups like the others. Groupers come in ascending
order of their numbers of groups: a message has as many elements for each record as all groupers before
have combinations of groups, and a tree has as many levels as the logarithm of the grouper's number.

With `partition: horizontal` every party adds up its own records and shares the sums out.

In: at the owner a row of ring elements for every record, at each party the codes of its own axes.
Out: uniform shares of every cell's sums at the servers, and nothing at the others. Adversary,
messages and cost: those of `grouped_sums`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from coterie.base.arrays import Array, Codes
from coterie.protocols.aggregates.grouped_sums import Grouper, grouped_sums, place
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.contingency import Axis, cells_of, joint_codes, reorder
from coterie.protocols.statistics.shared_counts import Transfers, share_out

Kind = type[np.uint32] | type[np.uint64]


def group_shares(
    transfers: Transfers,
    names: Sequence[str],
    servers: tuple[str, str],
    owner: str,
    axes: Sequence[Axis],
    codes: Mapping[str, Codes],
    records: int,
    rows: Array | None,
    width: int,
    rng: Random,
    dtype: Kind = np.uint64,
) -> Array | None:
    """Shares of the sums of `rows`, flat in the order of the axes and then of the columns."""
    channel = transfers.channel
    places = {name: [at for at, axis in enumerate(axes) if axis.owner == name] for name in names}
    sizes = {name: math.prod(axes[at].size for at in places[name]) for name in names}
    order = [name for name in names if sizes[name] > 1 and name != owner]
    inside = 1 < sizes[owner] <= min((sizes[name] for name in order), default=0)
    if sizes[owner] > 1 and not inside:
        order.append(owner)
    order.sort(key=lambda name: (sizes[name], list(names).index(name)))
    group = None
    if channel.me in order or (inside and channel.me == owner):
        group = joint_codes([axes[at] for at in places[channel.me]], codes, records)
    columns = width
    if inside:
        # A vector of the owner gets room for each of the owner's groups, and stands at the record's.
        width *= sizes[owner]
        if rows is not None and group is not None:
            spread = place(rows, group, sizes[owner], each=True)
            rows, group = spread.reshape(records, width), None
    groupers = [Grouper(name, sizes[name]) for name in order]
    share = grouped_sums(transfers, owner, groupers, records, rows, width, group, rng, dtype)
    if share is not None:
        listed = [*reversed(order), *([owner] if inside else [])]
        layout = [at for name in names if name not in listed for at in places[name]]
        layout += [at for name in listed for at in places[name]]
        share = reorder(share, [*(axes[at].size for at in layout), columns], [*layout, len(axes)])
    holders = [owner, *(name for name in order if name != owner)]
    count = cells_of(axes) * columns
    return share_out(channel, servers, holders, count, share, rng.fork("out"), dtype)


def horizontal_group_shares(
    channel: Channel,
    names: Sequence[str],
    servers: tuple[str, str],
    axes: Sequence[Axis],
    codes: Mapping[str, Codes],
    rows: Array,
    rng: Random,
    dtype: Kind = np.uint64,
) -> Array | None:
    """The shares of `group_shares` for parties that hold the same attributes of different people."""
    sums = np.zeros((cells_of(axes), rows.shape[1]), dtype)
    np.add.at(sums, joint_codes(axes, codes, len(rows)), rows.astype(dtype))
    return share_out(channel, servers, names, sums.size, sums.reshape(-1), rng.fork("out"), dtype)
