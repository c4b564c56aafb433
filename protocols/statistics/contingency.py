"""A table of counts over attributes of several parties, as shares at two servers.

After Yang and Wright (TKDE 2006), by `shared_counts`: of the parties that hold an axis of the
table, the one whose axes have the most cells is the owner of the rows; the others mask with one bit
for each cell of their own axes. An axis that all parties know (the class) counts as the owner's.

With `partition: horizontal` every party counts its own records and shares its counts out to the
servers.

In: at each party the codes of its own axes. Out: uniform shares of every cell modulo 2^32 at the
servers, and nothing at the others. Adversary, messages and cost: those of `shared_counts`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from coterie.base.arrays import Codes
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.shared_counts import (
    Ring,
    Transfers,
    masked_sums,
    one_hot,
    share_out,
)


@dataclass(frozen=True)
class Axis:
    """An attribute of a table: its holder (None: every party), and its number of values."""

    name: str
    owner: str | None
    size: int


def table_shares(
    transfers: Transfers,
    names: Sequence[str],
    servers: tuple[str, str],
    axes: Sequence[Axis],
    codes: Mapping[str, Codes],
    records: int,
    rng: Random,
) -> Ring | None:
    """Shares of the table's cells, flat in the order of the axes; None except at the servers."""
    channel = transfers.channel
    owners = [name for name in names if any(axis.owner == name for axis in axes)] or [names[0]]
    sizes = {name: cells_of([axis for axis in axes if axis.owner == name]) for name in owners}
    row_owner = max(owners, key=lambda name: sizes[name])
    maskers = [(name, sizes[name]) for name in owners if name != row_owner]
    own_axes = {
        name: [
            at
            for at, axis in enumerate(axes)
            if axis.owner == name or (axis.owner is None and name == row_owner)
        ]
        for name in owners
    }
    layout = [at for name, _ in reversed(maskers) for at in own_axes[name]] + own_axes[row_owner]
    width = cells_of([axes[at] for at in own_axes[row_owner]])
    rows = bits = None
    if channel.me in owners:
        mine = [axes[at] for at in own_axes[channel.me]]
        joint = joint_codes(mine, codes, records)
        if channel.me == row_owner:
            rows = one_hot(joint, width)
        else:
            bits = one_hot(joint, cells_of(mine), np.uint8)
    share = masked_sums(transfers, row_owner, maskers, records, width, rows, bits)
    if share is not None:
        share = reorder(share, [axes[at].size for at in layout], layout)
    return share_out(channel, servers, owners, cells_of(axes), share, rng)


def horizontal_shares(
    channel: Channel,
    names: Sequence[str],
    servers: tuple[str, str],
    axes: Sequence[Axis],
    codes: Mapping[str, Codes],
    records: int,
    rng: Random,
) -> Ring | None:
    """The shares of `table_shares` for parties that hold the same attributes of different people."""
    joint = joint_codes(axes, codes, records)
    counts = np.bincount(joint, minlength=cells_of(axes)).astype(np.uint32)
    return share_out(channel, servers, names, len(counts), counts, rng)


def joint_codes(axes: Sequence[Axis], codes: Mapping[str, Codes], records: int) -> Codes:
    """One code for the values of several attributes, the first the most significant."""
    joint = np.zeros(records, np.int64)
    for axis in axes:
        joint = joint * axis.size + codes[axis.name]
    return joint


def reorder(share: Ring, sizes: Sequence[int], layout: Sequence[int]) -> Ring:
    """A flat table, brought from the axis order `layout` into the order of the axes."""
    table = share.reshape(tuple(sizes))
    return np.ascontiguousarray(table.transpose(np.argsort(layout))).reshape(-1)


def cells_of(axes: Sequence[Axis]) -> int:
    """The number of cells of a table with these axes; 1 without axes."""
    return math.prod(axis.size for axis in axes)
