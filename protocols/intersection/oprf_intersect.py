"""Private set intersection of two parties by oblivious transfer extension.

Kolesnikov, Kumaresan, Rosulek and Trieu (CCS 2016), section 5, without a stash
(protocols.intersection.cuckoo), and with a last message by which the second party learns the
intersection too.

In: a set of 128-bit digests at each party. Out, at each party: its values that both hold, in one
order.

Adversary: semi-honest, under the assumptions of protocols.intersection.oprf. Each party learns the
size of the other's set and the intersection. A malicious receiver can name too few common values,
or values that the sender does not hold (refused); a malicious sender can use values of its choice.
It has three places for each value that it announced, and a fault is found where it puts two values
of the receiver into the places of one.

Messages:
    the oblivious function (protocols.intersection.oprf), the party with the smaller set as receiver
    sender -> receiver    F(y, h) for its values y in secret order, for h = 0, 1, 2: 16 bytes each
    receiver -> sender    the digests of the common values, sorted, preceded by their number
Two sets of a million have a false match with a chance of 3 * 2^40 / 2^128.
Cost beside the function: 48 bytes for each of the sender's values, 16 for each common one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from coterie.base.arrays import Bytes, Rows
from coterie.protocols.intersection import cuckoo
from coterie.protocols.intersection.confirm import announce, confirm
from coterie.protocols.intersection.cuckoo import HASHES
from coterie.protocols.intersection.matching import RepeatedTagError, Table, as_tags
from coterie.protocols.intersection.oprf import OprfReceiver, OprfSender
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.messaging.stream import receive_pieces
from coterie.protocols.primitives.randomness import Random


def smallest(names: Sequence[str], sizes: Mapping[str, int]) -> str:
    """The party with the fewest elements, the first in the ring among equals."""
    return min(names, key=lambda name: sizes[name])


def oprf_intersect(
    channel: Channel,
    names: Sequence[str],
    values: Bytes,
    sizes: Mapping[str, int],
    rng: Random,
) -> Rows:
    """The rows of `values` that both parties hold, in the order both share."""
    tags = as_tags(values)
    [peer] = channel.peers
    if smallest(names, sizes) == channel.me:
        return _receive(channel, peer, tags, sizes[peer], rng)
    return _send(channel, peer, tags, sizes[peer], rng)


def _receive(channel: Channel, peer: str, tags: Any, count: int, rng: Random) -> Rows:
    oprf = OprfReceiver(channel, peer, count, rng)
    with channel.step("transfers"):
        oprf.set_up()
    with channel.step("function"):
        table = cuckoo.build(tags, rng)
        outputs = oprf.extend(tags, table)
    with channel.step("compare"):
        try:
            mine = Table(outputs)
        except RepeatedTagError:  # an honest sender's outputs repeat with a probability of 2^-80
            raise channel.fault(peer, "made two outputs of the function agree") from None
        held = np.zeros(len(tags), np.bool_)
        done, total = 0, HASHES * count
        taken = np.zeros(count, np.bool_)  # an honest sender's value meets one output alone
        for piece in receive_pieces(channel, peer, total, 2, np.uint64):
            found = mine.find(piece)
            held[found[found >= 0]] = True
            places = (done + np.flatnonzero(found >= 0)) % count
            if len(piece) > count or taken[places].any():
                raise channel.fault(peer, f"sent more values than the {count} that it announced")
            taken[places] = True
            done += len(piece)
            channel.progress(done, total)
    with channel.step("confirm"):
        return announce(channel, tags, np.flatnonzero(held))


def _send(channel: Channel, peer: str, tags: Any, count: int, rng: Random) -> Rows:
    oprf = OprfSender(channel, peer, len(tags), rng)
    with channel.step("transfers"):
        oprf.set_up()
    with channel.step("function"):
        oprf.extend(count)
    with channel.step("compare"):
        done = 0
        for _, _, outputs in oprf.evaluate(tags):
            channel.send(peer, outputs)
            done += len(outputs)
            channel.progress(done, HASHES * len(tags))
    with channel.step("confirm"):
        return confirm(channel, peer, tags, count)
