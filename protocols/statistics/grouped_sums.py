"""Sums of one party's numbers by groups that other parties know, as additive shares.

An owner holds a vector of `width` ring elements for every record (such as 1, the value, and its
square). Each grouper q knows the group j_q of every record, one of s_q. The result are the sums

    sums[j_m, …, j_1, column] = sum of rows[i, column] over records i in the groups j_1, …, j_m

modulo 2^32 or 2^64 as additive shares at the owner and the groupers: each a uniform vector, and
nobody learns anything but the number of records and the sizes.

One grouper: for every record the owner grows a tree of pseudorandom pads, one pad for each group
(`protocols.primitives.punctured_trees`), and the grouper gets, by oblivious transfer, all pads but
that of the record's group. The owner sends the vector plus the sum of *all* pads, from which the
grouper gets the vector plus the one pad that it lacks. So the owner's share is minus the pad in each
group, the grouper's the pad, and in the record's group the vector plus the pad: the shares add up to
the vector there and to zero elsewhere. That is the "one-hot" product of a secret position with a
secret value of Heath and Kolesnikov ("One hot garbling", CCS 2021), with two parties' secrets in
place of garbled ones; the transfers of a punctured function are those of Boyle and others (CCS
2019). A further grouper does the same with the shares of each party before it, which are vectors of
width * s_1 elements for each record. The owner may be a grouper as well; its own share it puts into
the right place itself.

Adversary: semi-honest, any number colluding. The owner sees the transfers alone. A
grouper sees, of each tree, one of two sums on each level, from which the pad of its record's group
looks random, and the vector under that pad.

`offer`, `receive` and `place` are the turns of one grouper, for tables that are made otherwise
(`shared_tables`).

Messages, for each chunk of records, grouper, and party before it: the transfers (4 bytes
for each record and level, from the grouper), both sums of each level, sealed (32 bytes), and the
vector under its pads. Cost for one grouper and a group of s: log2 s transfers and 36 log2 s +
8 width bytes a record, and 2 s + s width / 2 hashed blocks at either party; products of 0/1 columns
(`shared_counts`) need s transfers and (4 + 4 width) s bytes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from coterie.base.arrays import Array, Codes
from coterie.protocols.primitives.punctured_trees import depth, grow, regrow
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.shared_counts import Transfers
from coterie.protocols.transfer.oblivious_transfer import CHUNK

Unsigned = type[np.uint32] | type[np.uint64]
_ELEMENTS = 1 << 22  # ring elements that are held together, where records are kept apart


@dataclass(frozen=True)
class Grouper:
    """A party that knows the group of every record, and the number of groups."""

    name: str
    size: int


def grouped_sums(
    transfers: Transfers,
    owner: str,
    groupers: Sequence[Grouper],
    records: int,
    rows: Array | None,
    width: int,
    codes: Codes | None,
    rng: Random,
    dtype: Unsigned = np.uint64,
) -> Array | None:
    """This party's share, flat in the module docstring's order; None at other parties.

    The owner passes `rows` of shape (records, width), a grouper its `codes` below its size.
    """
    me = transfers.channel.me
    names = [grouper.name for grouper in groupers]
    if len(set(names)) != len(names):
        raise ValueError("a party groups once: join its codes first")
    if me != owner and me not in names:
        return None
    total: Array = np.zeros(_width(width, groupers), dtype)
    with transfers.channel.step("sums"):
        for part in chunks(records, width, [one.size for one in groupers], _ELEMENTS):
            mine = None
            if me == owner and rows is not None:
                mine = np.ascontiguousarray(rows[part], dtype)
            own = None if codes is None else codes[part]
            mine = _chunk(transfers, owner, groupers, part, mine, width, own, rng, dtype)
            total += mine if mine.ndim == 1 else mine.sum(axis=0, dtype=dtype)
            transfers.channel.progress(part.stop, records)
    return total


def _chunk(
    transfers: Transfers,
    owner: str,
    groupers: Sequence[Grouper],
    part: slice,
    mine: Array | None,
    width: int,
    codes: Codes | None,
    rng: Random,
    dtype: Unsigned,
) -> Array:
    """This party's share of a chunk's sums; by record if there is nobody to group them."""
    me = transfers.channel.me
    records = part.stop - part.start
    holders = [owner]
    for at, grouper in enumerate(groupers):
        each = at + 1 < len(groupers)
        before = _width(width, groupers[:at])
        if me == grouper.name:
            if codes is None:
                raise ValueError("a grouper has a code for every record")
            placed = None if mine is None else place(mine, codes, grouper.size, each)
            for peer in holders:
                if peer != me:
                    theirs = receive(
                        transfers, peer, grouper.size, codes, before, part.start, each, dtype
                    )
                    placed = theirs if placed is None else placed + theirs
            mine = placed
        elif mine is not None:
            mine = offer(transfers, grouper, mine, part.start, each, rng)
        if mine is not None:
            mine = mine.reshape((records, -1) if each else -1)
        if grouper.name not in holders:
            holders.append(grouper.name)
    if mine is None:
        raise AssertionError("every owner and grouper has a share in the end")
    return mine


def chunks(records: int, width: int, sizes: Sequence[int], elements: int) -> Iterator[slice]:
    """Few enough records for one message of transfers, and for memory where vectors are kept.

    `sizes` are the groups of the turns, before the last of which a record's vector is kept; no more
    than so many `elements` are held together.
    """
    levels = max((depth(size) for size in sizes), default=1)
    kept = width * math.prod(sizes[:-1])
    step = max(1, min(CHUNK // max(levels, 1), elements // kept))
    for start in range(0, records, step):
        yield slice(start, min(start + step, records))


def _width(width: int, groupers: Sequence[Grouper]) -> int:
    """The elements of a record's vector once these groupers have had their turns."""
    return width * math.prod(grouper.size for grouper in groupers)


def place(mine: Array, codes: Codes, size: int, each: bool) -> Array:
    """A grouper's own vectors at the groups of their records: added up, or with `each` kept apart."""
    records, width = mine.shape
    if each:
        kept = np.zeros((records, size, width), mine.dtype)
        kept[np.arange(records), codes] = mine
        return kept
    sums = np.zeros((size, width), mine.dtype)
    np.add.at(sums, codes, mine)
    return sums


def offer(
    transfers: Transfers, grouper: Grouper, rows: Array, first: int, each: bool, rng: Random
) -> Array:
    """The side with the vectors: gives pads away, and keeps them negated as its share."""
    channel = transfers.channel
    sender = transfers.sender(grouper.name)
    roots = rng.array((len(rows), 2))
    sums, sealed, mine = grow(roots, grouper.size, rows, first, each)
    if sums.shape[1]:
        # Whose path goes left (a bit of 0) gets the sum of the right side, and the other way round.
        both = sums.reshape(-1, 2, 2).view(np.uint8)
        sender.send(np.ascontiguousarray(both[:, 1]), np.ascontiguousarray(both[:, 0]))
    channel.send(grouper.name, sealed)
    return mine


def receive(
    transfers: Transfers,
    peer: str,
    size: int,
    codes: Codes,
    width: int,
    first: int,
    each: bool,
    dtype: Unsigned,
) -> Array:
    """The side with the groups."""
    records, levels = len(codes), depth(size)
    sums = np.zeros((records, 0, 2), np.uint64)
    receiver = transfers.receiver(peer)
    if levels:
        path = (np.asarray(codes, np.int64)[:, None] >> np.arange(levels) & 1).astype(np.uint8)
        chosen = receiver.receive(path.reshape(-1), 16)
        sums = np.ascontiguousarray(chosen).view(np.uint64).reshape(records, levels, 2)
    due = f"sealed vectors of {records} records"
    sealed = transfers.channel.recv_array(peer, dtype, (records, width), due)
    return regrow(sums, np.asarray(codes, np.int64), size, sealed, first, each)
