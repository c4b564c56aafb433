"""Private set intersection for any number of parties: chooses the protocol, and runs it on buckets.

In: each party's identifiers, different byte strings. Out, at each party: its own records that all
parties hold, in an order that is the same at every party and unrelated to the identifiers.

    ring     protocols.intersection.ring: commutative encryption. With two parties it reveals the
             intersection; with more, pairwise overlaps as well, so that it is used only under
             `reveal: pairwise`.
    oprf     protocols.intersection.vole_intersect: two parties, of which one may cheat; an oblivious
             pseudorandom function from transfers.
    hints    protocols.intersection.multiparty_intersect: three parties or more, intersection alone.
             Its oblivious pseudorandom function is that of the group (`ring`) or of the transfers
             (`oprf`).
`auto` takes the transfers, whatever the sizes: oprf or hints.

Before that, all parties send each other the sizes of their sets (with padding: the padded size) and
their parts of a common salt. From then on only 128-bit digests of the identifiers under that salt
are used, so that nobody can prepare a set for the job in advance.

A party may bound what each peer brings (`most`). The number that a peer announces is binding: each
protocol takes as many elements as were announced, and one more is a fault. Buckets have room for
more than the announced number, in the form of padding, and that room counts against the bound: a
peer with a changed program could fill it. The oblivious function has spare places, too, which the
party with the smallest set could fill: at most 1.34 times the announced number and 103 more
(`protocols.intersection.vole_function`).

Sets that do not fit the memory of some party are cut into buckets by digest, and the protocol runs
once for each. The number of buckets depends on the largest size and the least memory alone. Every
bucket is padded with random digests to a size that no bucket exceeds (except with probability
2^-40), so that the parties do not learn how a set is spread over buckets. Finished buckets are kept
in the store; after an interruption the parties continue from the first bucket that some party
lacks. When all buckets are finished, the rows in common are a kept answer
(`protocols.messaging.kept`), and later steps never ask for the intersection again. Each party keeps
its own rows alone, which it has learned; keys, masks and random paddings are drawn anew for every
bucket and every attempt.

Adversary: that of the chosen protocol, whose module also says what each party learns. Besides, all
parties learn the sizes of the sets and, as a power of two, the smallest room in memory of each.
Messages: one broadcast with size, part of the salt, room in memory and the checkpoint of an earlier
run, whose digests three parties or more compare (`broadcast_check`); then those of the protocol, for
each bucket. Cost: that of the protocol, and one digest for each identifier.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from coterie.base.arrays import Rows
from coterie.base.errors import CoterieError, RefusedError
from coterie.protocols.intersection.buckets import (
    MOST_BUCKETS,
    PADDED_BYTES,
    UNLIMITED,
    BucketPlan,
    Buckets,
    Digests,
    buckets_for,
    read_checkpoint,
    room_for,
)
from coterie.protocols.intersection.identifiers import Identifiers
from coterie.protocols.intersection.multiparty_intersect import multiparty_intersect
from coterie.protocols.intersection.ring import ring_intersect
from coterie.protocols.intersection.vole_intersect import vole_intersect
from coterie.protocols.messaging.broadcast_check import compare_digests, digest_of
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.messaging.opening import declare
from coterie.protocols.messaging.wire import Value, same_value
from coterie.protocols.primitives.executor import Executor, LocalPool
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.primitives.shuffle import shuffled
from coterie.protocols.primitives.store import MemoryStore, Store

PIECE = 2048  # the most points that are computed and sent together: 64 KB, some 80 ms of one core
LARGEST = 1 << 32

SIZES = declare(
    "intersection: sizes",
    what="The number of every party's identifiers, or the number they are padded to; a power of two for its room in memory; and how many buckets of an interrupted run it still has.",
    to="every party",
    why="All parties choose the protocol and the number of buckets alike.",
)
COMMON = declare(
    "intersection: common records",
    what="Which of its own records all parties hold, in an order that is the same at every party, and so their number.",
    to="every party",
    why="It is what an intersection is for, and other jobs compute on the common records.",
)
PAIRWISE = declare(
    "intersection: pairwise overlaps",
    what="Which of its own records each other party holds, and the sizes of all intersections of some of the sets.",
    to="every party",
    why="With three parties or more the ring shows it; only under `reveal: pairwise`, which each party's policy must permit.",
)


def intersect(
    channel: Channel,
    names: Sequence[str],
    identifiers: Identifiers | Sequence[bytes],
    rng: Random,
    *,
    protocol: str = "auto",
    reveal: str = "intersection",
    pad_to: int | None = None,
    executor: Executor | None = None,
    store: Store | None = None,
    memory: int | None = None,
    most: int | None = None,
    piece: int | None = None,
) -> Rows:
    """The rows of this party that all parties hold, in the order all parties share.

    `most` is the number of identifiers that this party permits each peer to bring; None: any.
    """
    if not isinstance(identifiers, Identifiers):
        identifiers = Identifiers.pack(identifiers)
    store = MemoryStore() if store is None else store

    def find() -> Rows:
        plan = _agree(channel, names, identifiers, rng, pad_to, memory, store)
        _bound(channel, plan, most)
        buckets = Buckets(identifiers, plan, channel.me, store)
        results = [buckets.result(number) for number in range(plan.finished)]
        for number in range(plan.finished, plan.buckets):
            digests, rows = buckets.load(number)
            label = "all" if plan.buckets == 1 else f"bucket {number + 1} of {plan.buckets}"
            with channel.step(label):
                found = _run(channel, names, digests, plan, rng, protocol, reveal, executor, piece)
            results.append(rows[found])
            buckets.finish(number, results[-1])
        rows = np.concatenate(results) if results else np.empty(0, np.int64)
        return channel.open(COMMON, rows.astype(np.int64, copy=False))

    with channel.step("intersect"):
        rows: Rows = channel.once("common records", find)
        store.clear()  # the answer is kept instead of the buckets
    return rows


def _run(
    channel: Channel,
    names: Sequence[str],
    digests: Digests,
    plan: BucketPlan,
    rng: Random,
    protocol: str,
    reveal: str,
    executor: Executor | None,
    piece: int | None,
) -> Rows:
    """Runs the protocol on one bucket, padded and in a secret order."""
    sizes = {name: plan.capacity(name) for name in names}
    padding = rng.array((sizes[channel.me] - len(digests), 16), np.uint8)
    order = shuffled(sizes[channel.me], rng)
    values = np.concatenate([digests, padding])[order]
    executor = executor or LocalPool()
    if piece is None:  # small sets are cut too, so that all cores and the peers have work
        piece = min(PIECE, max(64, len(values) // 8))
    chosen = choose(protocol, reveal, len(names))
    if chosen == "ring":
        found = ring_intersect(channel, names, values, sizes, rng, executor, piece)
        if len(names) > 2:
            channel.open(PAIRWISE, found)
    elif chosen == "oprf":
        found = vole_intersect(channel, names, values, sizes, plan.salt, rng)
    else:
        by_group = chosen == "hints by group"
        found = multiparty_intersect(
            channel, names, values, sizes, plan.salt, rng, executor, piece, by_group
        )
    rows: Rows = order[found]
    if len(rows) and rows.max() >= len(digests):
        raise CoterieError("the intersection holds a padding element; run the job again")
    return rows


def choose(protocol: str, reveal: str, parties: int) -> str:
    """The protocol, the same at every party: ring, oprf, hints by group, or hints by transfer."""
    if parties > 2 and reveal == "pairwise":
        return "ring"
    if parties == 2:
        return "ring" if protocol == "ring" else "oprf"
    return "hints by group" if protocol == "ring" else "hints by transfer"


def _agree(
    channel: Channel,
    names: Sequence[str],
    identifiers: Identifiers,
    rng: Random,
    pad_to: int | None,
    memory: int | None,
    store: Store,
) -> BucketPlan:
    """Agrees on sizes, salt and buckets, or on those of an earlier run that all still hold."""
    size = len(identifiers) if pad_to is None else pad_to
    if len(identifiers) > size:
        raise ValueError(f"{len(identifiers)} identifiers do not fit the padding of {size}")
    share = rng.bytes(32)
    # Peers see the room, which must not show the true size of a padded set.
    held = identifiers.nbytes if pad_to is None else pad_to * PADDED_BYTES
    room = room_for(memory, held)
    kept = read_checkpoint(store, identifiers)
    with channel.step("sizes"):
        token, done_before = (kept.token, kept.finished) if kept else (b"", 0)
        told: list[Value] = [size, share, room, token, done_before]
        channel.broadcast(*told)
        channel.open(SIZES, size)
        heard = {channel.me: digest_of(told)}
        sizes, shares, rooms = {channel.me: size}, {channel.me: share}, [room]
        same, finished = kept is not None, [done_before]
        for peer in channel.peers:
            what = "size, salt and room"
            values = channel.recv_list(peer, 5, what)
            heard[peer] = digest_of(values)
            sizes[peer] = channel.check_int(peer, values[0], 0, LARGEST, what)
            shares[peer] = channel.check_bytes(peer, values[1], 32, what)
            its_room = channel.check_int(peer, values[2], 1, UNLIMITED, what)
            its_token = values[3]
            done = channel.check_int(peer, values[4], 0, MOST_BUCKETS, what)
            if pad_to is not None and sizes[peer] != pad_to:
                raise channel.fault(peer, f"brings {sizes[peer]} elements, not the padded {pad_to}")
            rooms.append(its_room)
            same &= kept is not None and same_value(its_token, kept.token)
            finished.append(done)
        compare_digests(channel, names, heard, "its size and its part of the salt")
    if kept is not None and same and kept.sizes == sizes:
        return BucketPlan(kept.salt, kept.sizes, kept.buckets, min(finished))
    salt = hashlib.sha256(b"coterie intersect salt")
    for name in names:
        salt.update(shares[name])
    buckets = buckets_for(max(sizes.values()), min(rooms))
    return BucketPlan(salt.digest(), {name: sizes[name] for name in names}, buckets, 0)


def _bound(channel: Channel, plan: BucketPlan, most: int | None) -> None:
    """Refuses a peer that brings more than `most`, before anything is computed for it."""
    if most is None:
        return
    for peer in channel.peers:
        announced, room = plan.sizes[peer], plan.buckets * plan.capacity(peer)
        if announced > most or room > most:
            spare = "" if announced > most else f", in buckets with room for {room}"
            raise RefusedError(
                f"{peer} brings {announced} identifiers{spare}, and policy.largest_peer_set of "
                f"{channel.me} is {most}"
            )
