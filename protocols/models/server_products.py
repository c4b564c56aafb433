"""Products of the columns that parties hold by numbers that two servers hold as shares.

Vertical partition. A party P has columns x of its own; the servers have shares of a number y for each
record, modulo 2^64 or a smaller power of two. Since x y = x y0 + x y1, P multiplies with each server
by oblivious transfer (`multiplication`), or alone where P is the server. Then every one of the
parties has a share.

`columns_by_shares`  for each record the products of each column by y. Out: shares at the servers;
                     with `summed` of their sums over the records, otherwise of each.
`rows_by_weights`    for each record the sum of its columns by shared weights, modulo 2^40 or less.

A party that is no server splits its share into two random parts, one for each server
(`shared_counts.share_out`), so that both servers' shares are uniform.

In: columns at their holders, shares at the servers. Out: shares at the servers, None elsewhere;
nobody learns anything. Adversary: semi-honest; the servers must not collude. Messages and cost for n
records and p columns of a party: 64 n transfers, 16 + 8 p bytes each, with each server that is not
the party itself; and for `rows_by_weights` modulo 2^l l p transfers of l n / 8 bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from coterie.base.arrays import Array, Words
from coterie.protocols.numbers.multiplication import receive_products, send_products
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.shared_counts import Transfers, share_out

_RING = 1 << 64
_RECORDS = 1 << 14  # of which products are made together


class ServerProducts:
    """The group and its two servers, at one party; `held` are the numbers of columns of each."""

    def __init__(
        self,
        transfers: Transfers,
        names: Sequence[str],
        servers: tuple[str, str],
        held: Mapping[str, int],
        rng: Random,
    ) -> None:
        self._transfers, self._names, self._servers = transfers, names, servers
        self._held, self._rng = held, rng
        self._turns = 0

    @property
    def _me(self) -> str:
        return self._transfers.channel.me

    def columns_by_shares(
        self,
        holder: str,
        width: int,
        columns: Array | None,
        share: Words | None,
        summed: bool,
        modulus: int = _RING,
    ) -> Words | None:
        """Of one holder's columns, of shape (records, width), as flat shares at the servers.

        The shares are modulo `modulus`, a power of two up to 2^64, to be reduced by the caller.
        """
        found = None
        low, bits = np.uint64(modulus - 1), (modulus - 1).bit_length()
        own = None if columns is None else _words(columns) & low
        kept = None if share is None else share & low
        with self._transfers.channel.step("products"):
            for server in self._servers:
                part = None
                if self._me == holder == server and own is not None and kept is not None:
                    part = own * kept[:, None]
                elif self._me == holder and own is not None:
                    part = send_products(self._transfers.sender(server), own, modulus, bits)
                elif self._me == server and kept is not None:
                    session = self._transfers.receiver(holder)
                    part = receive_products(session, kept, modulus, bits, width)
                if part is not None:
                    part = part.sum(axis=0, dtype=np.uint64) if summed else part
                    found = part if found is None else found + part
        return self._at_servers(holder, None if found is None else found.reshape(-1))

    def rows_by_weights(
        self, columns: Array, weights: Words | None, records: int, modulus: int
    ) -> Words | None:
        """For each record the sum of all parties' columns by their weights, modulo a power of two.

        The servers have shares of the weights, of the parties' columns one after the other.
        """
        total = None if weights is None else np.zeros(records, np.uint64)
        mine = _words(columns) & np.uint64(modulus - 1)
        place = 0
        for holder in self._names:
            width = self._held[holder]
            if not width:
                continue
            part = None if weights is None else weights[place : place + width]
            found = self._weighted(holder, mine, part, records, modulus)
            shared = self._at_servers(holder, found, records)
            if total is not None and shared is not None:
                total += shared
            place += width
        return None if total is None else total & np.uint64(modulus - 1)

    def _weighted(
        self, holder: str, mine: Words, weights: Words | None, records: int, modulus: int
    ) -> Words | None:
        bits = (modulus - 1).bit_length()
        low = None if weights is None else weights & np.uint64(modulus - 1)
        found = None
        with self._transfers.channel.step("scores"):
            for server in self._servers:
                parts = []
                for start in range(0, records, _RECORDS):
                    rows = slice(start, min(start + _RECORDS, records))
                    several = rows.stop - rows.start
                    part = None
                    if self._me == holder == server and low is not None:
                        part = mine[rows] @ low
                    elif self._me == holder:
                        turned = np.ascontiguousarray(mine[rows].T)
                        session = self._transfers.sender(server)
                        part = send_products(session, turned, modulus, bits).sum(axis=0)
                    elif self._me == server and low is not None:
                        session_ = self._transfers.receiver(holder)
                        pads = receive_products(session_, low, modulus, bits, several)
                        part = pads.sum(axis=0)
                    if part is not None:
                        parts.append(part)
                if parts:
                    whole = np.concatenate(parts)
                    found = whole if found is None else found + whole
        return found

    def _at_servers(
        self, holder: str, found: Words | None, count: int | None = None
    ) -> Words | None:
        """The shares of a holder that is no server, moved to the servers."""
        if holder in self._servers:
            return found
        self._turns += 1
        size = len(found) if found is not None else count
        if size is None:
            return None  # neither the holder nor a server
        own = found if self._me == holder else None
        fork = self._rng.fork(f"moved {self._turns}")
        moved = share_out(
            self._transfers.channel, self._servers, [holder], size, own, fork, np.uint64
        )
        if moved is None or found is None:
            return None
        return moved + found


def _words(columns: Array) -> Words:
    """Signed numbers as elements modulo 2^64."""
    return np.ascontiguousarray(columns, np.int64).view(np.uint64)
