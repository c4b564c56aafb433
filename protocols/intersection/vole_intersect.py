"""Private set intersection of two parties, of which one may cheat.

Rindal and Schoppmann, "VOLE-PSI" (EUROCRYPT 2021, eprint 2021/266), with the function of
`protocols.intersection.vole_function`, and with a last message of our own, by which the sender learns the
intersection, too.

In: a set of 128-bit digests at each party. Out, at each party: its values that both hold, in one
order. The party with the smaller set is the receiver.

Adversary: malicious, static, under the assumptions of `vole_function`. Each party learns the size of the
other's set and the intersection. Whatever a party does, it can only choose its values:
    receiver    has room for the words of its store: at most 1.34 times the values that it announced and 103
                more (1.28 times at a million, 26 words for two values); it can name fewer matches than there
                are, and none that it lacks, because it must show the second half of F of each; it cannot
                name more than it announced.
    sender      can put in as many values as it announced; it can leave some out, so that matches are missing.
Either can end the run once it has learned the result, before the other has (no fairness).

The last message, judged: the paper ends with the receiver's output. The second half of F(y) is known to the
sender, and to a receiver only if its store holds y, so that a digest of the second halves of all matches proves
them together. We have no published proof of that. The bitmap tells the sender what it computes from its own
result, which of its values are common.

Messages:
    the function (`vole_function`)
    sender -> receiver    the first 128 bits of F(y) for its values y in secret order: 16 bytes each
    receiver -> sender    a bit for each of these, one if it is common; SHA-256 of the second halves of these
Two sets of a million have a false match with a chance of 2^40 / 2^128.
Cost beside the function: 16 bytes and one bit for each of the sender's values.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

import numpy as np

from coterie.base.arrays import Array, Blocks, Bytes, Rows, Words
from coterie.protocols.intersection.matching import Table, as_tags, in_tag_order
from coterie.protocols.intersection.vole_function import (
    FunctionReceiver,
    FunctionSender,
    store_of,
)
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.messaging.stream import receive_pieces
from coterie.protocols.primitives.randomness import Random


def smallest(names: Sequence[str], sizes: Mapping[str, int]) -> str:
    """The party with the fewest elements, the first in the ring among equals."""
    return min(names, key=lambda name: sizes[name])


def vole_intersect(
    channel: Channel,
    names: Sequence[str],
    values: Bytes,
    sizes: Mapping[str, int],
    salt: bytes,
    rng: Random,
) -> Rows:
    """The rows of `values` that both parties hold, in the order both share."""
    tags = as_tags(values)
    [peer] = channel.peers
    if smallest(names, sizes) == channel.me:
        return _receive(channel, peer, tags, sizes[peer], salt, rng)
    return _send(channel, peer, tags, sizes[peer], salt, rng)


def _receive(
    channel: Channel, peer: str, tags: Blocks, count: int, salt: bytes, rng: Random
) -> Rows:
    function = FunctionReceiver(channel, peer, rng)
    function.set_up()
    places, words = store_of(tags, salt, rng)
    function.fix(places, words)
    outputs = function.outputs(tags)
    with channel.step("compare"):
        mine = Table(outputs[:, :2])
        common = np.zeros(count, np.bool_)  # of the sender's values, in the order of their arrival
        rows = []
        done = 0
        for piece in receive_pieces(channel, peer, count, 2, np.uint64):
            found = mine.find(piece)
            common[done : done + len(piece)] = found >= 0
            rows.append(found[found >= 0])
            done += len(piece)
            channel.progress(done, count)
        held: Rows = np.concatenate(rows) if rows else np.empty(0, np.int64)
        if len(np.unique(held)) < len(held):
            raise channel.fault(peer, "sent a value of the function twice")
    with channel.step("confirm"):
        channel.send(peer, np.packbits(common, bitorder="little"), _proof(outputs[held]))
    return in_tag_order(tags, held)


def _send(channel: Channel, peer: str, tags: Blocks, count: int, salt: bytes, rng: Random) -> Rows:
    function = FunctionSender(channel, peer, rng)
    function.set_up()
    function.fix(tags, count)
    outputs = []
    with channel.step("compare"):
        done = 0
        for piece in function.outputs(salt):
            channel.send(peer, np.ascontiguousarray(piece[:, :2]))
            outputs.append(piece)
            done += len(piece)
            channel.progress(done, len(tags))
    with channel.step("confirm"):
        what = "bitmap and proof of the common records"
        bitmap, proof = channel.recv_list(peer, 2, what)
        bitmap = channel.check_array(peer, bitmap, np.uint8, (-(-len(tags) // 8),), what)
        proof = channel.check_bytes(peer, proof, 32, what)
        rows = np.flatnonzero(np.unpackbits(bitmap, count=len(tags), bitorder="little"))
        if len(rows) > count:
            raise channel.fault(peer, f"names {len(rows)} common records, more than its {count}")
        if _proof(_chosen(outputs, rows)) != proof:
            raise channel.fault(peer, "names a common record that it does not hold")
    return in_tag_order(tags, rows)


def _chosen(outputs: list[Words], rows: Array) -> Words:
    return (np.concatenate(outputs) if outputs else np.empty((0, 4), np.uint64))[rows]


def _proof(outputs: Words) -> bytes:
    """What shows that the receiver has F of all common values: a digest of their second halves."""
    return hashlib.sha256(np.ascontiguousarray(outputs[:, 2:]).data).digest()
