"""Private set intersection by commutative encryption in a ring.

Mohammed, Fung and Debbabi, "Anonymity Meets Game Theory: Secure Data Integration with Malicious
Participants" (VLDB Journal), section 2.2, after Agrawal, Evfimievski and Srikant, "Information
Sharing Across Private Databases" (SIGMOD 2003), section 3, for n parties.

In: a set of 128-bit values at each party (digests of identifiers, under a salt that all parties
contributed to). Out, at each party: its values that all parties hold, in an order that is the same
at every party.

Adversary: semi-honest, if the decisional Diffie-Hellman problem is hard on Curve25519 and hashing
to it is a random oracle (protocols.primitives.cipher). A party learns, besides the result:
    two parties            the size of the other's set
    three parties or more  the sizes of all sets, the size of every intersection of some of the
                           sets, and which of its own values are in which other set. Where that is too
                           much, protocols.intersection.multiparty_intersect finds the intersection
                           alone.
The order of a set reveals nothing, because its owner draws a secret one. A malicious party can use
values it does not hold, return wrong points for another's (records are then lost or, if it swaps
points, mistaken), and, with more than two parties, collude to encrypt under fewer keys. It cannot
make others accept an invalid point, the identity, another number of points or repeats: these are
refused with the name of the sender.

Messages, each cut into pieces of a size that its sender chooses:
    hop 0        every party encrypts its own set and sends it to the party after it
    hop 1…n-1    every party encrypts what the party before it sent, and sends that on; the last
                 time, when the set has all keys and returns to its owner, only 16 bytes of each point
    compare      with n > 2: every party broadcasts the tags of its own set, sorted, and all compare
                 digests of what they heard (`broadcast_check`). With two, each party has encrypted
                 the other's set last and knows them.
Cost for n parties with m values each: n m multiplications and m hashes to the curve at each party;
bytes sent by each (32 (n-1) + 16) m, for n > 2 and 16 (n-1) m more; n rounds, two more for n > 2.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from coterie.base.arrays import Bytes, Rows
from coterie.protocols.intersection.matching import (
    RepeatedTagError,
    Table,
    Tags,
    as_tags,
    common,
    in_tag_order,
)
from coterie.protocols.messaging.broadcast_check import compare_digests
from coterie.protocols.messaging.channel import Channel, ring
from coterie.protocols.messaging.stream import cut, receive_array, receive_pieces, send_array
from coterie.protocols.primitives import cipher
from coterie.protocols.primitives.executor import Executor
from coterie.protocols.primitives.group import InvalidElementError
from coterie.protocols.primitives.randomness import Random

TAG_BYTES = 16


def ring_intersect(
    channel: Channel,
    names: Sequence[str],
    values: Bytes,
    sizes: Mapping[str, int],
    rng: Random,
    executor: Executor,
    piece: int,
) -> Rows:
    """The rows of `values` that all parties hold, in the order all parties share.

    `values` has shape (sizes[me], 16); the values are all different, in a secret order.
    """
    before, after = ring(channel, names)
    at = list(names).index(channel.me)
    key = cipher.random_key(rng)
    progress = _counter(channel, sum(sizes.values()))
    travelled: list[Tags] = []

    with channel.step("ring"):
        for points in executor.map(cipher.hash_and_encrypt, key, cut(values, piece)):
            channel.send(after, points)
            progress(len(points))
        for hop in range(1, len(names)):
            owner = names[at - hop]
            incoming = receive_pieces(channel, before, sizes[owner], cipher.POINT_BYTES)
            kept: list[Tags] = []
            try:
                for points in executor.map(cipher.check_and_encrypt, key, incoming):
                    home = hop == len(names) - 1
                    kept.append(as_tags(points))
                    channel.send(after, points[:, :TAG_BYTES] if home else points)
                    progress(len(points))
            except InvalidElementError:
                raise channel.fault(
                    before, "sent an element that is not in the group, or its identity"
                ) from None
            travelled = [np.concatenate(kept)] if kept else [np.empty((0, 2), np.uint64)]
            _refuse_repeats(channel, before, travelled[0], f"in the set of {owner}")
        own = as_tags(receive_array(channel, before, len(values), TAG_BYTES))

    try:
        table = Table(own)
    except RepeatedTagError:
        Table(as_tags(values))  # if this party's own values repeat, the peer is not at fault
        raise channel.fault(before, "sent an element of this party's set twice") from None
    others = travelled if len(names) == 2 else _compare(channel, names, own, sizes, piece)
    rows = np.flatnonzero(common(table, len(own), others))
    return in_tag_order(own, rows)


def _compare(
    channel: Channel, names: Sequence[str], own: Tags, sizes: Mapping[str, int], piece: int
) -> list[Tags]:
    with channel.step("compare"):
        order = np.lexsort((own[:, 1], own[:, 0]))
        data = own[order].view(np.uint8).reshape(-1, TAG_BYTES)
        for peer in channel.peers:
            send_array(channel, peer, data, 4 * piece)
        lists = []
        heard = {channel.me: hashlib.sha256(np.ascontiguousarray(data).data).digest()}
        for peer in channel.peers:
            tags = as_tags(receive_array(channel, peer, sizes[peer], TAG_BYTES))
            heard[peer] = hashlib.sha256(np.ascontiguousarray(tags).data).digest()
            _refuse_repeats(channel, peer, tags, "in its set")
            lists.append(tags)
        compare_digests(channel, names, heard, "its encrypted set")
        return lists


def _refuse_repeats(channel: Channel, peer: str, tags: Tags, where: str) -> None:
    try:
        Table(tags)
    except RepeatedTagError:
        raise channel.fault(peer, f"sent an element twice {where}") from None


def _counter(channel: Channel, total: int) -> Callable[[int], None]:
    done = 0

    def add(count: int) -> None:
        nonlocal done
        done += count
        channel.progress(done, total)

    return add
