"""The last message of an intersection that one party finds: it tells the others.

The digests of the common values, sorted, are no news to a party that holds the values, and every
party of the intersection holds them. Each receiver checks that it does. Their order is the joint
order of the records.
"""

from __future__ import annotations

import numpy as np

from coterie.base.arrays import Rows
from coterie.protocols.intersection.matching import Table, Tags, in_tag_order
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.messaging.stream import cut, receive_array

_PIECE = 1 << 16


def announce(channel: Channel, tags: Tags, rows: Rows) -> Rows:
    """Tells every peer the tags of the common rows; returns the rows in their order."""
    rows = in_tag_order(tags, rows)
    channel.broadcast(len(rows))
    for piece in cut(tags[rows], _PIECE):
        channel.broadcast(piece)
    return rows


def confirm(channel: Channel, peer: str, tags: Tags, most: int) -> Rows:
    """The rows of the tags that the peer names: all must be ours, each once, in order."""
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
