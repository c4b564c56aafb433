"""How many records satisfy a conjunction of conditions of several parties, as shares at two servers.

After Vaidya and Clifton, "Privacy Preserving Association Rule Mining in Vertically Partitioned Data"
(KDD 2002), who count such records by scalar products of 0/1 columns; the products are those of
`shared_counts`. A condition of one party is a column of bits that this party alone has, such as
"these two records are equal in my columns" or "this record has these values". A set names at most
one condition of each party; its count is the number of records that satisfy all of them.

In: the sets, which all parties know, by the names of conditions; at each party the bits of its own
conditions. Out: uniform shares of every set's count modulo 2^32 at the servers, and nothing at the
others. A set of one party's condition is counted by that party, and shared out like the others.

Sets of the same parties are counted together: the party with most conditions is the owner of rows
of `shared_counts`, and one product multiplies all of its conditions that occur beside the same
conditions of the other parties.

Adversary: semi-honest, any number colluding but the two servers together; see `shared_counts`.
Messages and cost: for every combination of the other parties' conditions that occurs beside some of
the owner's, for each record 16 bytes for each transfer and 4 bytes for each set; one round and a half
for about four million products.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from coterie.base.arrays import Bits
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.shared_counts import Ring, Transfers, masked_rows, share_out

Conditions: TypeAlias = Mapping[str, int]  # a set: the number of a condition by its party
_TOGETHER = 1 << 22  # products that are made at once: 16 MB


def conjunction_shares(
    transfers: Transfers,
    names: Sequence[str],
    servers: tuple[str, str],
    sets: Sequence[Conditions],
    records: int,
    bits: Callable[[int], Bits],
    rng: Random,
) -> Ring | None:
    """Shares of the counts in the order of `sets`; None except at the servers.

    `bits` gives the column of one of this party's own conditions.
    """
    channel = transfers.channel
    me = channel.me
    mine = np.zeros(len(sets), np.uint32)
    by_holders: dict[tuple[str, ...], list[int]] = {}
    for at, one in enumerate(sets):
        if not one or not set(one) <= set(names):
            raise ValueError("a set has conditions of the session's parties")
        by_holders.setdefault(tuple(name for name in names if name in one), []).append(at)
    done = 0
    for holders, places in by_holders.items():
        if me in holders and len(holders) == 1:
            counts = {key: int(bits(key).sum()) for key in {sets[at][me] for at in places}}
            for at in places:
                mine[at] = counts[sets[at][me]]
        elif me in holders:
            _multiply(transfers, holders, [(at, sets[at]) for at in places], records, bits, mine)
        done += len(places)
        channel.progress(done, len(sets))
    all_holders = [name for name in names if any(name in group for group in by_holders)]
    own = mine if me in all_holders else None
    return share_out(channel, servers, all_holders, len(sets), own, rng)


def _multiply(
    transfers: Transfers,
    holders: Sequence[str],
    sets: Sequence[tuple[int, Conditions]],
    records: int,
    bits: Callable[[int], Bits],
    mine: Ring,
) -> None:
    """Adds this holder's shares of the counts of sets with these holders to `mine`."""
    owner = max(holders, key=lambda name: len({one[name] for _, one in sets}))
    maskers = [name for name in holders if name != owner]
    groups: dict[tuple[int, ...], list[tuple[int, int]]] = {}
    for at, one in sets:
        groups.setdefault(tuple(one[name] for name in maskers), []).append((at, one[owner]))
    by_width: dict[int, list[tuple[tuple[int, ...], list[tuple[int, int]]]]] = {}
    for keys, members in groups.items():
        by_width.setdefault(len(members), []).append((keys, members))
    for width, alike in sorted(by_width.items()):
        step = max(1, _TOGETHER // (width * records))
        for start in range(0, len(alike), step):
            _batch(transfers, owner, maskers, alike[start : start + step], records, bits, mine)


def _batch(
    transfers: Transfers,
    owner: str,
    maskers: Sequence[str],
    groups: Sequence[tuple[tuple[int, ...], Sequence[tuple[int, int]]]],
    records: int,
    bits: Callable[[int], Bits],
    mine: Ring,
) -> None:
    """Groups of the same width, one after the other as if they were further records."""
    me, width = transfers.channel.me, len(groups[0][1])
    rows = own = None
    if me == owner:
        rows = np.concatenate(
            [np.stack([bits(key) for _, key in members], axis=1) for _, members in groups]
        ).astype(np.uint32)
    else:
        place = maskers.index(me)
        own = np.concatenate([bits(keys[place]) for keys, _ in groups])[:, None].astype(np.uint8)
    sums = np.zeros((len(groups), width), np.uint32)
    factors = [(name, 1) for name in maskers]
    total = len(groups) * records
    for part, share in masked_rows(transfers, owner, factors, total, width, rows, own):
        edges = np.arange(part.start // records, -(-part.stop // records)) * records
        starts = np.maximum(edges - part.start, 0)
        first = part.start // records
        sums[first : first + len(starts)] += np.add.reduceat(share, starts, axis=0)
    for (_, members), row in zip(groups, sums, strict=True):
        for (at, _), count in zip(members, row, strict=True):
            mine[at] = count
