"""Counts over columns that several parties hold, as additive shares that nobody can read.

After Yang and Wright, "Privacy-Preserving Computation of Bayesian Networks on Vertically
Partitioned Data" (TKDE 2006), who get counts from scalar products of 0/1 vectors; here a product is
a correlated transfer (Gilboa, CRYPTO 1999, section 4.1), and a third vector is multiplied with the
shares of the first product, so that any number of parties can hold a factor.

`masked_sums`: an owner holds a row of `width` numbers for every record; each masker q holds s_q
bits for every record. The result is the table of sums over the records

    sums[j_m, …, j_1, column] = sum_i rows[i, column] * bits_1[i, j_1] * … * bits_m[i, j_m]

modulo 2^32 as additive shares at the owner and the maskers. Each party gets a uniform share; nobody
learns anything but the number of records and the sizes of the tables.

Adversary: semi-honest, any number colluding: a masker's bits enter as choices of oblivious
transfers and an owner's rows under pads of which a masker knows one of two; see
`oblivious_transfer` for the assumptions.

Messages: for masker t (counted from 1), each of the t earlier parties plays the sender of
records * s_t transfers with it and sends one correction of 4 * w bytes for each, where w is the
width so far. Cost for one masker: records * s * (4 + 4 width) bytes, one round a chunk of records.

`share_out` moves the shares of any holders to two parties, the servers, which go on with them:
logarithms and garbled circuits are two-party protocols.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np

from coterie.base.arrays import Array, Bits, UInt32s
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.messaging.wire import Value
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.transfer.oblivious_transfer import Receiver, Sender

Ring: TypeAlias = UInt32s

RING_BITS = 32
_CHUNK = 1 << 22  # ring elements that are computed together: 16 MB


class Transfers:
    """This party's transfer sessions with each peer, made when first needed.

    Both sides must need a session for the first time at the same point of a protocol, which holds
    because every party follows the same public plan.
    """

    def __init__(self, channel: Channel, rng: Random) -> None:
        self.channel = channel
        self._rng = rng
        self._senders: dict[str, Sender] = {}
        self._receivers: dict[str, Receiver] = {}

    def sender(self, peer: str) -> Sender:
        if peer not in self._senders:
            self._senders[peer] = Sender(self.channel, peer, self._rng.fork(f"to {peer}"))
        return self._senders[peer]

    def receiver(self, peer: str) -> Receiver:
        if peer not in self._receivers:
            self._receivers[peer] = Receiver(self.channel, peer, self._rng.fork(f"from {peer}"))
        return self._receivers[peer]


def masked_sums(
    transfers: Transfers,
    owner: str,
    maskers: Sequence[tuple[str, int]],
    records: int,
    width: int,
    rows: Ring | None = None,
    bits: Bits | None = None,
) -> Ring | None:
    """This party's share of the sums, flat in the module docstring's order; None at other parties.

    The owner passes `rows` of shape (records, width), a masker its `bits` of shape (records, s).
    """
    if transfers.channel.me not in (owner, *(name for name, _ in maskers)):
        return None
    total = np.zeros(width_at(width, maskers), np.uint32)
    for _, mine in masked_rows(transfers, owner, maskers, records, width, rows, bits):
        total += mine.sum(axis=0, dtype=np.uint32)
    return total


def masked_rows(
    transfers: Transfers,
    owner: str,
    maskers: Sequence[tuple[str, int]],
    records: int,
    width: int,
    rows: Array | None = None,
    bits: Bits | None = None,
    dtype: Any = np.uint32,
) -> Iterator[tuple[slice, Array]]:
    """As `masked_sums`, before the records are added up: this party's shares, chunk by chunk.

    The ring is that of the unsigned `dtype`, which is that of the rows.
    """
    me = transfers.channel.me
    order = [owner, *(name for name, _ in maskers)]
    if len(set(order)) != len(order):
        raise ValueError("every party has one factor: join the bits of one party first")
    if me not in order:
        return
    step = max(1, _CHUNK // max(width_at(width, maskers), 1))
    with transfers.channel.step("products"):
        for start in range(0, records, step):
            part = slice(start, min(start + step, records))
            mine = rows[part] if rows is not None and me == owner else None
            for at, (masker, size) in enumerate(maskers):
                if me == masker and bits is not None:
                    before = width_at(width, maskers[:at])
                    mine = _choose(transfers, order[: at + 1], bits[part], before, dtype)
                elif mine is not None:
                    mine = _offer(transfers, masker, size, mine)
            if mine is not None:
                yield part, mine
            transfers.channel.progress(part.stop, records)


def width_at(width: int, maskers: Sequence[tuple[str, int]]) -> int:
    """The number of products per record once these maskers' bits have been multiplied in."""
    for _, size in maskers:
        width *= size
    return width


def _offer(transfers: Transfers, masker: str, size: int, rows: Array) -> Array:
    """The sender's side: shares of every row times every one of the masker's bits for it."""
    records, width = rows.shape
    sender = transfers.sender(masker)
    mine, one = (
        elements_of(pads, width, rows.dtype).reshape(records, size, width)
        for pads in sender.random(records * size, words_for(width, rows.dtype))
    )
    correction = mine - one + rows[:, None, :]
    transfers.channel.send(masker, correction)
    return np.negative(mine).reshape(records, size * width)


def _choose(
    transfers: Transfers, senders: Sequence[str], bits: Bits, width: int, dtype: Any
) -> Array:
    """The masker's side, with each earlier party in turn."""
    records, size = bits.shape
    total = np.zeros((records, size, width), dtype)
    for peer in senders:
        receiver = transfers.receiver(peer)
        pads = receiver.random(bits.reshape(-1), words_for(width, dtype))
        what = f"corrections of shape {total.shape}"
        correction = transfers.channel.recv_array(peer, dtype, total.shape, what)
        total += elements_of(pads, width, dtype).reshape(total.shape)
        total += correction * bits[:, :, None]
    return total.reshape(records, size * width)


def words_for(width: int, dtype: Any) -> int:
    """How many words of 64 bits hold `width` ring elements."""
    return -(-width * int(np.dtype(dtype).itemsize) // 8)


def elements_of(words: Array, width: int, dtype: Any) -> Array:
    """The first `width` ring elements of each row of 64-bit words."""
    elements: Array = np.ascontiguousarray(words).view(dtype)
    return elements[:, :width]


def kept_share(channel: Channel, what: str, compute: Callable[[], Array | None]) -> Array | None:
    """This party's share, as a kept answer; None at a party that has no share.

    A share is a random number by itself. The servers use their shares together only if both come
    from one and the same attempt, which `protocols.messaging.kept` sees to.
    """

    def found() -> Value:
        share = compute()
        return [] if share is None else share

    kept = channel.once(what, found)
    return None if isinstance(kept, list) else kept


def share_out(
    channel: Channel,
    servers: tuple[str, str],
    holders: Sequence[str],
    count: int,
    share: Array | None,
    rng: Random,
    dtype: Any = np.uint32,
) -> Array | None:
    """Shares at the two servers of the sum of the holders' shares; None at other parties.

    Each holder splits its share into two random parts, one for each server, so that a server's
    share is uniform, whoever the holders are. The ring is that of the unsigned `dtype`.
    """
    total = np.zeros(count, dtype) if channel.me in servers else None
    with channel.step("share out"):
        if channel.me in holders:
            if share is None or share.shape != (count,):
                raise ValueError("a holder has a share of every number")
            first = rng.array(count, dtype)
            for server, part in zip(servers, (first, share - first), strict=True):
                if server == channel.me and total is not None:
                    total += part
                else:
                    channel.send(server, part)
        for holder in holders:
            if total is not None and holder != channel.me:
                total += received_ring(channel, holder, count, dtype)
    return total


def received_ring(channel: Channel, peer: str, count: int, dtype: Any = np.uint32) -> Array:
    """The next message from a peer, which must be `count` ring elements."""
    return channel.recv_array(peer, dtype, (count,), f"{count} shares")


def one_hot(codes: Array, size: int, dtype: Any = np.uint32) -> Array:
    """Rows of zeros with a one at the code; the row of a negative code is all zeros."""
    out = np.zeros((len(codes), size), dtype)
    inside = np.flatnonzero(codes >= 0)
    out[inside, codes[inside]] = 1
    return out
