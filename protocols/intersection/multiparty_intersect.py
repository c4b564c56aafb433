"""Private set intersection of three parties or more that reveals the intersection alone.

Kolesnikov, Matania, Pinkas, Rosulek and Trieu, "Practical Multi-party Private Set Intersection from
Symmetric-Key Techniques" (CCS 2017), the protocol for the augmented semi-honest model: shares of
zero reach one leader through programmed oblivious pseudorandom functions. The function is that of
the group (H(x) times a key, RFC 9497 without the proofs) or that of protocols.intersection.vole_function;
a key-value store (protocols.intersection.binned_store), called the hint, programs it.

In: a set of 128-bit digests at each party. Out, at each: which of its values all hold, in one
order.

How it works. Every two parties share a key; party i gives each value x the share S_i(x), the
exclusive or of AES(k_ij, x) over all others j, so that the shares of all parties on one value add
up to zero. The leader, the party with the smallest set, obtains from each other party i, for each
of its own values x, S_i(x) if i holds x and a random word if not, without i learning x. The words
and its own share add up to zero exactly where everybody holds x (a false zero has a chance of n /
2^128 for n values). The leader sends the common values to the others.

Why nobody learns more. What the leader gets from party i on a value is either S_i(x) or random. As
long as some honest party j lacks x, the sum over the honest parties keeps the term AES(k_ij, x) of
a pair of honest parties, or the random word of the one that lacks it, and looks random: the leader
cannot find out which parties hold x. The hint is a vector of words that look random to the leader,
except at values that the leader holds itself. The others see queries that are blinded or hidden in a
store, no hints, and the intersection. All learn the sizes of the sets (or their padded size).
If the leader colludes with others, they learn which of the leader's values all honest parties hold:
as much as they would by bringing these values themselves. That is the augmented semi-honest model.
A coalition without the leader learns nothing more. A leader that lies is caught when it names a
value that some party lacks, or tells parties different lists. Its stores have room for 1.34 times the
values that it announced and 103 more (`vole_function`), which is all that it can choose by transfers; a hint holds
whatever its sender chooses.

Messages:
    keys       party i -> each later party j     16 bytes
    function   leader <-> each other party       the oblivious function on the leader's values; by
                                                 the group the leader sends all the same points, and
                                                 all compare digests of them (`broadcast_check`)
    hints      party -> leader                   the key-value store: its seed, and 16 bytes for each of
                                                 1.28 words a value at a million
    confirm    leader -> all                     the digests of the common values; the others
                                                 compare a digest of the list
Cost for n parties, m values each, by transfers: 41 m bytes and 2 MB between the leader and each other, and
the operations of protocols.intersection.vole_function; by the group: 64 m + 20.5 m bytes, n m
multiplications for the leader, 2 m for each other.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from coterie.base.arrays import Blocks, Bytes, Rows
from coterie.protocols.intersection.binned_store import SEED_BYTES, Places, encode, shape_for
from coterie.protocols.intersection.confirm import announce, confirm
from coterie.protocols.intersection.matching import as_tags
from coterie.protocols.intersection.vole_function import (
    FunctionReceiver,
    FunctionSender,
    store_of,
)
from coterie.protocols.intersection.vole_intersect import smallest
from coterie.protocols.messaging.broadcast_check import compare_digests
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.messaging.stream import cut, receive_array, receive_pieces, send_array
from coterie.protocols.primitives import group, sodium
from coterie.protocols.primitives.blocks import encrypted
from coterie.protocols.primitives.executor import Executor
from coterie.protocols.primitives.group import InvalidElementError
from coterie.protocols.primitives.randomness import Random

_WORDS_PIECE = 1 << 16


def multiparty_intersect(
    channel: Channel,
    names: Sequence[str],
    values: Bytes,
    sizes: Mapping[str, int],
    salt: bytes,
    rng: Random,
    executor: Executor,
    piece: int,
    by_group: bool,
) -> Rows:
    """The rows of `values` that all parties hold, in the order all parties share."""
    leader = smallest(names, sizes)
    tags = as_tags(values)
    share = _share(channel, names, tags, rng)
    if channel.me == leader:
        if by_group:
            words = _lead_by_group(channel, names, values, sizes, rng, executor, piece)
        else:
            words = _lead_by_transfer(channel, tags, sizes, salt, rng)
        with channel.step("confirm"):
            rows = announce(channel, tags, np.flatnonzero((words == share).all(axis=1)))
            _same_list(channel, leader, tags[rows])
            return rows
    if by_group:
        _help_by_group(channel, names, leader, values, share, sizes[leader], rng, executor, piece)
    else:
        _help_by_transfer(channel, leader, tags, share, sizes[leader], salt, rng)
    with channel.step("confirm"):
        rows = confirm(channel, leader, tags, sizes[leader])
        _same_list(channel, leader, tags[rows])
        return rows


def _share(channel: Channel, names: Sequence[str], tags: Blocks, rng: Random) -> Blocks:
    """This party's share of zero for each of its values."""
    at = list(names).index(channel.me)
    keys: dict[str, bytes] = {}
    with channel.step("keys"):
        for peer in names[at + 1 :]:
            keys[peer] = rng.bytes(16)
            channel.send(peer, keys[peer])
        for peer in names[:at]:
            keys[peer] = channel.recv_bytes(peer, 16, "key of 16 bytes")
    total = np.zeros((len(tags), 2), np.uint64)
    for key in keys.values():
        total ^= encrypted(key, tags)
    return total


def _same_list(channel: Channel, leader: str, named: Blocks) -> None:
    """Checks that the leader has sent the same list to all other parties."""
    digest = hashlib.sha256(np.ascontiguousarray(named).view(np.uint8).tobytes()).digest()
    others = [peer for peer in channel.peers if peer != leader]
    if channel.me == leader:
        return
    for peer in others:
        channel.send(peer, digest)
    for peer in others:
        theirs = channel.recv_bytes(peer, len(digest), "digest of the common records")
        if theirs != digest:
            raise channel.fault(leader, f"named other common records to {peer} than to this party")


def _send_hint(channel: Channel, leader: str, tags: Blocks, values: Blocks, rng: Random) -> None:
    places, words = encode(shape_for(len(tags)), tags, values, rng)
    with channel.step("hints"):
        channel.send(leader, places.seed)
        send_array(channel, leader, words, _WORDS_PIECE)


def _given(channel: Channel, peer: str, count: int, tags: Blocks, outputs: Blocks) -> Blocks:
    """What a party gives the leader for each of the leader's values: a share of zero, or random."""
    shape = shape_for(count)
    seed = channel.recv_bytes(peer, SEED_BYTES, "seed of a hint")
    words = receive_array(channel, peer, shape.words, 2, np.uint64)
    return Places(shape, seed, tags).decode(words) ^ outputs


def _lead_by_transfer(
    channel: Channel, tags: Blocks, sizes: Mapping[str, int], salt: bytes, rng: Random
) -> Blocks:
    """The exclusive or of the values that the hints of all others give, for each own value."""
    functions = {peer: FunctionReceiver(channel, peer, rng) for peer in channel.peers}
    for function in functions.values():
        function.set_up()
    places, words = store_of(tags, salt, rng)
    for function in functions.values():
        function.fix(places, words)
    outputs = {peer: function.outputs(tags)[:, :2].copy() for peer, function in functions.items()}
    return _summed(channel, sizes, tags, outputs)


def _summed(
    channel: Channel, sizes: Mapping[str, int], tags: Blocks, outputs: Mapping[str, Blocks]
) -> Blocks:
    total = np.zeros_like(tags)
    with channel.step("hints"):
        for number, peer in enumerate(channel.peers):
            total ^= _given(channel, peer, sizes[peer], tags, outputs[peer])
            channel.progress(number + 1, len(channel.peers))
    return total


def _help_by_transfer(
    channel: Channel,
    leader: str,
    tags: Blocks,
    share: Blocks,
    count: int,
    salt: bytes,
    rng: Random,
) -> None:
    function = FunctionSender(channel, leader, rng)
    function.set_up()
    function.fix(tags, count)
    masked, done = share.copy(), 0
    for outputs in function.outputs(salt):
        masked[done : done + len(outputs)] ^= outputs[:, :2]
        done += len(outputs)
    _send_hint(channel, leader, tags, masked, rng)


def _noted(pieces: Iterable[Bytes], state: Any) -> Iterator[Bytes]:
    """The pieces as they come, each added to the state of a hash."""
    for piece in pieces:
        state.update(np.ascontiguousarray(piece).data)
        yield piece


def _lead_by_group(
    channel: Channel,
    names: Sequence[str],
    values: Bytes,
    sizes: Mapping[str, int],
    rng: Random,
    executor: Executor,
    piece: int,
) -> Blocks:
    blind = group.random_scalar(rng)
    sent = hashlib.sha256()
    done, total = 0, len(values) * (1 + len(channel.peers))
    outputs = {}
    with channel.step("function"):
        for elements in executor.map(group.hash_and_multiply, blind, cut(values, piece)):
            channel.broadcast(elements)
            sent.update(np.ascontiguousarray(elements).data)
            done += len(elements)
            channel.progress(done, total)
        unblind = group.invert_scalar(blind)
        for peer in channel.peers:
            incoming = receive_pieces(channel, peer, len(values), group.ELEMENT_BYTES)
            parts = []
            try:
                for elements in executor.map(group.multiply, unblind, incoming):
                    parts.append(as_tags(sodium.row_digests(elements)))
                    done += len(elements)
                    channel.progress(done, total)
            except InvalidElementError:
                raise channel.fault(
                    peer, "sent an element that is not in the group, or its identity"
                ) from None
            outputs[peer] = np.concatenate(parts) if parts else np.empty((0, 2), np.uint64)
        compare_digests(channel, names, {channel.me: sent.digest()}, "its blinded points")
    return _summed(channel, sizes, as_tags(values), outputs)


def _help_by_group(
    channel: Channel,
    names: Sequence[str],
    leader: str,
    values: Bytes,
    share: Blocks,
    count: int,
    rng: Random,
    executor: Executor,
    piece: int,
) -> None:
    key = group.random_scalar(rng)
    done, total = 0, count + len(values)
    with channel.step("function"):
        heard = hashlib.sha256()
        incoming = _noted(receive_pieces(channel, leader, count, group.ELEMENT_BYTES), heard)
        try:
            for elements in executor.map(group.multiply, key, incoming):
                channel.send(leader, elements)
                done += len(elements)
                channel.progress(done, total)
        except InvalidElementError:
            raise channel.fault(
                leader, "sent an element that is not in the group, or its identity"
            ) from None
        compare_digests(channel, names, {leader: heard.digest()}, "its blinded points")
    parts = []
    with channel.step("hints"):
        for elements in executor.map(group.hash_and_multiply, key, cut(values, piece)):
            parts.append(as_tags(sodium.row_digests(elements)))
            done += len(elements)
            channel.progress(done, total)
    outputs = np.concatenate(parts) if parts else np.empty((0, 2), np.uint64)
    _send_hint(channel, leader, as_tags(values), share ^ outputs, rng)
