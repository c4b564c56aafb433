"""Entries of a table that two servers hold as shares, at places of which each party knows a part.

For a table over attributes of several parties, of `width` numbers in each cell, the parties get of
every record the numbers in the record's cell, as additive shares. It is what a prediction by a Bayes
net needs of a family that lies across parties (`family_costs`); nobody learns which cell a record is
in beyond its own attributes, or what stands in any cell.

The table is the sum of the servers' shares T0 + T1, so that each server's share is looked up by
itself, and the results are added. A server takes the part of its own share that its own attributes
choose. Then each other holder of an attribute has a turn: whoever has a share of the numbers so far
offers, for every value of the holder's attributes, its share of what would remain, and the holder
chooses by one transfer for each value (`shared_counts.masked_rows`), of which the shares are added up
over the values. After the last turn one cell is left.

`looked_up_anywhere` is for attributes of which each cell lies at any one party (`mixed_cells`). There
every party says for every cell of the table whether those of the record's values that *it holds* are
the cell's, so yes if it holds none; the product of all parties' bits picks the cell.

In: a server's share of the table, and at each party the codes of its own attributes. Out: at the
servers and the holders uniform shares of the numbers of every record, modulo 2^32 or 2^64; None at the
others. Adversary: semi-honest, any number colluding but not both servers, who together hold the table.
A holder's values enter as choices of oblivious transfers, a server's share under pads of which a
holder knows one of two.

Messages, for each chunk of records, server, holder, and party before it: the transfers' columns and a
correction. Cost for one holder of s values: records * s * (16 + e width) bytes for elements of e bytes,
where the width is that of what remains; twice, because there are two shares of the table. Anywhere:
records * cells * (16 + e width) bytes for each two parties, twice.

Nothing is kept for another attempt, which looks the same numbers up under fresh masks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from coterie.base.arrays import Array, Bits, Codes
from coterie.protocols.statistics.shared_counts import Transfers, masked_rows, one_hot
from coterie.protocols.statistics.shared_tables import Axis, cells_of, joint_codes

_ELEMENTS = 1 << 21  # ring elements of all records of a chunk that are held together


def looked_up(
    transfers: Transfers,
    servers: tuple[str, str],
    axes: Sequence[Axis],
    width: int,
    share: Array | None,
    codes: Mapping[str, Codes],
    records: int,
    dtype: Any = np.uint64,
) -> Array | None:
    """This party's shares, of shape (records, width); None if it has nothing to do with the table.

    `share` is a server's, flat in the order of the axes and then the `width` numbers of a cell.
    """
    channel = transfers.channel
    holders = list(dict.fromkeys(str(axis.owner) for axis in axes))
    if channel.me not in (*servers, *holders):
        return None
    total = np.zeros((records, width), dtype)
    with channel.step("look up"):
        for part in _chunks(records, cells_of(axes) * width):
            count = part.stop - part.start
            own = {a.name: codes[a.name][part] for a in axes if a.owner == channel.me}
            for server in servers:
                mine = None
                if server == channel.me:
                    mine = _own_part(share, server, holders, axes, width, own, count, dtype)
                total[part] += _one_server(
                    transfers, server, holders, axes, width, mine, own, count, dtype
                )
            channel.progress(part.stop, records)
    return total


def _own_part(
    share: Array | None,
    server: str,
    holders: Sequence[str],
    axes: Sequence[Axis],
    width: int,
    codes: Mapping[str, Codes],
    records: int,
    dtype: Any,
) -> Array:
    """What a server's own attributes choose of its share, holder by holder: a row for each record."""
    if share is None:
        raise ValueError("a server has a share of the table")
    order = [at for name in _turns(server, holders) for at in _places(axes, name)]
    own = _places(axes, server)
    table = share.astype(dtype).reshape(*(axis.size for axis in axes), width)
    table = table.transpose([*own, *order, len(axes)])
    rows: Array = table.reshape(cells_of([axes[at] for at in own]), -1)
    return rows[joint_codes([axes[at] for at in own], codes, records)]


def _one_server(
    transfers: Transfers,
    server: str,
    holders: Sequence[str],
    axes: Sequence[Axis],
    width: int,
    mine: Array | None,
    codes: Mapping[str, Codes],
    records: int,
    dtype: Any,
) -> Array:
    """This party's share of the numbers that stand in one server's share of the table."""
    me = transfers.channel.me
    rest = width * cells_of([axis for axis in axes if axis.owner != server])
    before = [server]
    for holder in _turns(server, holders):
        of_holder = [axis for axis in axes if axis.owner == holder]
        size = cells_of(of_holder)
        rest //= size
        if me == holder:
            bits = one_hot(joint_codes(of_holder, codes, records), size, np.uint8).reshape(-1, 1)
            mine = np.zeros((records, rest), dtype)
            for peer in before:
                mine += _chosen(transfers, peer, holder, size, rest, None, bits, records, dtype)
        elif mine is not None:
            rows = mine.reshape(records * size, rest)
            mine = _chosen(transfers, me, holder, size, rest, rows, None, records, dtype)
        before.append(holder)
    return np.zeros((records, width), dtype) if mine is None else mine


def _chosen(
    transfers: Transfers,
    peer: str,
    holder: str,
    size: int,
    rest: int,
    rows: Array | None,
    bits: Bits | None,
    records: int,
    dtype: Any,
) -> Array:
    """Shares of the row that the holder's value chooses among those of each record."""
    pieces = masked_rows(transfers, peer, [(holder, 1)], records * size, rest, rows, bits, dtype)
    found = np.concatenate([piece for _, piece in pieces])
    chosen: Array = found.reshape(records, size, rest).sum(axis=1, dtype=dtype)
    return chosen


def looked_up_anywhere(
    transfers: Transfers,
    names: Sequence[str],
    servers: tuple[str, str],
    axes: Sequence[Axis],
    width: int,
    share: Array | None,
    codes: Mapping[str, Codes],
    records: int,
    dtype: Any = np.uint64,
) -> Array:
    """The same where each cell lies at any one party; a code of -1 stands for another party's."""
    channel = transfers.channel
    cells = cells_of(axes)
    total = np.zeros((records, width), dtype)
    places = np.unravel_index(np.arange(cells), [axis.size for axis in axes])
    with channel.step("look up"):
        for part in _chunks(records, cells * width):
            fits = np.ones((part.stop - part.start, cells), np.uint8)
            for axis, values in zip(axes, places, strict=True):
                own = codes[axis.name][part, None]
                fits &= (own == values) | (own < 0)
            for server in servers:
                rows = None
                if server == channel.me and share is not None:
                    table = share.astype(dtype).reshape(cells, width)
                    rows = (fits[:, :, None] * table).reshape(-1, width)
                others = [(name, 1) for name in names if name != server]
                pieces = masked_rows(
                    transfers, server, others, fits.size, width, rows, fits.reshape(-1, 1), dtype
                )
                found = np.concatenate([piece for _, piece in pieces])
                total[part] += found.reshape(*fits.shape, width).sum(axis=1, dtype=dtype)
            channel.progress(part.stop, records)
    return total


def _turns(server: str, holders: Sequence[str]) -> list[str]:
    """The holders that choose in a server's share, one after the other."""
    return [name for name in holders if name != server]


def _places(axes: Sequence[Axis], holder: str) -> list[int]:
    """Which axes are the holder's."""
    return [at for at, axis in enumerate(axes) if axis.owner == holder]


def _chunks(records: int, elements: int) -> Iterator[slice]:
    """Few enough records for memory, each of which has so many elements of the table."""
    step = max(1, _ELEMENTS // max(1, elements))
    for start in range(0, records, step):
        yield slice(start, min(start + step, records))
