"""The last message of an intersection: the party that has computed it sends it to the others.

In: the tags of all values at every party, and the common rows at the party that computed them. Out:
the common rows at every party. The message has the digests of the common values, sorted. Every
party holds all common values, so that the digests tell a receiver nothing but the intersection;
each receiver checks that it holds them. The order of the digests is the joint order of the records.

Messages and cost: one message to each peer, 16 bytes for each common value.
"""

from __future__ import annotations

import numpy as np

from coterie.base.arrays import Rows
from coterie.protocols.intersection.matching import Table, Tags, in_tag_order
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.messaging.stream import cut, receive_array

_PIECE = 1 << 16


def announce(channel: Channel, tags: Tags, rows: Rows) -> Rows:
    """Sends the tags of the common rows to every peer; returns the rows in that order."""
    rows = in_tag_order(tags, rows)
    channel.broadcast(len(rows))
    for piece in cut(tags[rows], _PIECE):
        channel.broadcast(piece)
    return rows


def confirm(channel: Channel, peer: str, tags: Tags, most: int) -> Rows:
    """The rows of the tags that the peer sends: all must be this party's, each once, in order."""
    count = channel.recv_int(peer, 0, min(most, len(tags)), "possible number of common records")
    named: Tags = receive_array(channel, peer, count, 2, np.uint64)
    rows = Table(tags).find(named)
    if (rows < 0).any():
        raise channel.fault(peer, "names a common record that this party does not have")
    high, low = named[:-1], named[1:]
    rising = (high[:, 0] < low[:, 0]) | ((high[:, 0] == low[:, 0]) & (high[:, 1] < low[:, 1]))
    if not rising.all():
        raise channel.fault(peer, "names the common records out of order, or twice")
    return rows
