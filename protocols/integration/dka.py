"""Distributed k-anonymity (DkA): the earlier two-party framework, as a baseline for benchmarks.

Jiang and Clifton, "A secure distributed framework for achieving k-anonymity" (VLDBJ 2006), as
paper 1 §3 describes it. Both parties hold columns on the same records, in the same order.

    in    each party its own columns with their levels; k
    out   each party the levels of its own columns at which the join is k-anonymous
    adversary  semi-honest

1. Each party makes its own columns k-anonymous (Datafly). That splits the records into subsets.
2. The parties test whether some subset of one and some subset of the other have more than none and
   fewer than k records in common. If so both generalize by one more step and test again.

The test is a set intersection by commutative encryption (multiplication in ristretto255 by secret
scalars). n records and subsets of at least k of them make at most m = floor(n / k) subsets: each
party prepares a table of m rows and n places. A row is one of its subsets: the hashed number of
each record that is in it, and random elements in all other places, so that neither the number nor
the sizes of the subsets show. Keys are fresh in each round.

    each -> other       number of records, k, number of levels      once; bounds the rounds
    comparer -> other   its table under its key                                m n elements
    other -> comparer   its table under its key, and the comparer's table       2 m n elements
                        under both, rows and places shuffled
    comparer -> other   the verdict, after it put its key on the other's table  a flag

Operations: each party does n multiplications on its own table (random elements need none) and m n
on the other's: 2 n (m + 1) in a round, which is quadratic in n. Bytes: 96 m n and two words per
round. Rounds: 2 message exchanges per step of generalization.

What is learned: each learns how many levels the other's columns have, and the verdicts. The
comparer learns, besides, how many records the subsets have in common, as a table whose rows and
columns are shuffled afresh in every round; if its own subsets have different sizes, it can find out
which row belongs to which subset. Jiang and Clifton hide these numbers, too. This module exists to
be measured; no kind of job uses it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from coterie.anonymity.algorithms.datafly import datafly, raised
from coterie.anonymity.table.levels import Ladder, groups
from coterie.base.arrays import Ints
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.messaging.wire import same_value
from coterie.protocols.primitives.group import (
    ELEMENT_BYTES,
    Elements,
    InvalidElementError,
    derive,
    hash_to_group,
    multiply,
    random_scalar,
)
from coterie.protocols.primitives.randomness import Random

_MOST_STEPS = 1 << 20


@dataclass(frozen=True)
class Outcome:
    """The result of one party: its levels, and the cost at this party."""

    levels: tuple[int, ...]
    rounds: int
    encryptions: int


def encryptions(records: int, k: int, rounds: int) -> int:
    """The number of encryptions of both parties together."""
    return 2 * rounds * records * (records // k + 1)


def dka(channel: Channel, comparer: str, ladders: Sequence[Ladder], k: int, rng: Random) -> Outcome:
    """Levels for this party's columns such that the join with the peer's is k-anonymous."""
    [peer] = channel.peers
    records = len(ladders[0].codes)
    levels = datafly(ladders, k)
    with channel.step("dka"):
        with channel.step("size"):
            steps = sum(len(column.levels) - 1 for column in ladders)
            channel.send(peer, records, k, steps)
            told = channel.recv_list(peer, 3, "numbers of records, k and levels")
            if not same_value(told[:2], [records, k]):
                raise channel.fault(peer, "has another number of records, or another k")
            its_steps = channel.check_int(peer, told[2], 0, _MOST_STEPS, "possible levels")
            most = max(steps, its_steps) + 1
        rounds = done = 0
        while True:
            rounds += 1
            with channel.step(f"round-{rounds}"):
                table, key = _subsets(groups(ladders, levels), k, rng)
                done += records + table.shape[0] * records
                if channel.me == comparer:
                    good = _compare(channel, peer, table, key, k)
                else:
                    good = _answer(channel, peer, table, key, rng)
            if good:
                return Outcome(levels, rounds, done)
            if rounds == most:  # all columns of both are at the top: one group
                raise channel.fault(peer, "finds that the topmost table is not k-anonymous")
            levels = raised(ladders, levels) or levels


def _subsets(group: Ints, k: int, rng: Random) -> tuple[Elements, bytes]:
    """This party's table, rows and places in random order, under a fresh key."""
    records = len(group)
    rows = records // k
    key = random_scalar(rng)
    numbers = np.arange(records, dtype="<u8").view(np.uint8).reshape(records, 8)
    own = multiply(key, hash_to_group(numbers))
    table = derive(rng.array((rows * records, 64), np.uint8)).reshape(rows, records, ELEMENT_BYTES)
    table[rng.permutation(rows)[group], np.arange(records)] = own
    return _shuffled(table, rng), key


def _shuffled(table: Elements, rng: Random) -> Elements:
    """The rows in a random order, and the places of each row in another random order."""
    rows, places, _ = table.shape
    order = np.argsort(rng.array((rows, places)), axis=1)
    shuffled: Elements = np.take_along_axis(table, order[:, :, None], axis=1)
    return np.asarray(shuffled[rng.permutation(rows)])


def _encrypt(channel: Channel, peer: str, key: bytes, table: Elements) -> Elements:
    try:
        elements = multiply(key, table.reshape(-1, ELEMENT_BYTES))
    except InvalidElementError as error:
        raise channel.fault(peer, f"sent a table whose {error}") from None
    return elements.reshape(table.shape)


def _receive(channel: Channel, peer: str, shape: tuple[int, ...]) -> Elements:
    return channel.recv_array(peer, np.uint8, shape, f"table of {shape} bytes")


def _compare(channel: Channel, peer: str, table: Elements, key: bytes, k: int) -> bool:
    channel.send(peer, table)
    theirs = _encrypt(channel, peer, key, _receive(channel, peer, table.shape))
    ours = _receive(channel, peer, table.shape)
    common = _common_counts(ours, theirs)
    if common.sum() != table.shape[1]:
        raise channel.fault(peer, "has other records than this party")
    good = bool(common.min() >= k)
    channel.send(peer, int(good))
    return good


def _answer(channel: Channel, peer: str, table: Elements, key: bytes, rng: Random) -> bool:
    theirs = _encrypt(channel, peer, key, _receive(channel, peer, table.shape))
    channel.send(peer, table)
    channel.send(peer, _shuffled(theirs, rng))
    return channel.recv_flag(peer, "verdict")


def _common_counts(ours: Elements, theirs: Elements) -> Ints:
    """The numbers of common elements of a row of one and a row of the other, without zeros."""
    rows, places, _ = ours.shape
    words = np.concatenate([ours, theirs]).reshape(-1, ELEMENT_BYTES).copy().view("<u8")
    order = np.lexsort(words.T)
    same = (words[order[1:]] == words[order[:-1]]).all(axis=1)
    row = order // places  # a row below `rows` is this party's
    pairs = np.stack([row[:-1][same], row[1:][same]])
    across = pairs[:, (pairs.min(axis=0) < rows) & (pairs.max(axis=0) >= rows)]
    _, counts = np.unique(across.min(axis=0) * rows + across.max(axis=0), return_counts=True)
    return np.asarray(counts, np.int64)
