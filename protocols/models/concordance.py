"""How often a model ranks two records rightly, over the records of all parties: AUC, concordance.

For logistic models and support vector machines: the share of pairs of a record of each class in
which the one of class 1 has the greater score, a tie counting half (the area under the ROC curve).
For survival models, after Harrell: the share of pairs in which the record whose event came first
has the greater score, among pairs of which that is known.

Scores are put into classes by public bounds. Each party counts, for each row r and class b, its
`high` records (which should have the greater score) and its `low` ones. With all parties' counts

    right = sum_r sum_b high[r,b] (2 sum_{c<b} low[r,c] + low[r,b])      ties = sum_r sum_b high low
    pairs = sum_r (sum_b high[r,b]) (sum_b low[r,b])

the measure is right / (2 pairs), and differs by at most ties / (2 pairs) from that of the scores
themselves. A row stands for a joined time of a survival model; other models have one row.

In: each party's counts. Out, at every party: right, ties and pairs; nobody sees a count. Parties
share their counts out to two servers modulo 2^64; what a server's own shares do not give comes from
inner products by oblivious transfer (`numbers.inner_product`).

Adversary: semi-honest; the servers must not collude. Messages: 16 bytes for each row and class from
each party to each server; between the servers 128 transfers of 24 bytes for each row and class, three
times; and one message of 24 bytes from each server to every party.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import NormalDist
from typing import TypeAlias

import numpy as np

from coterie.base.arrays import Floats, Words
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.messaging.opening import declare
from coterie.protocols.numbers.inner_product import TransferEngine
from coterie.protocols.numbers.shares import Ring
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.shared_counts import share_out

CLASSES = 1024  # of the scores of a model with one row
_RING = Ring(1 << 64)

RANKED = declare(
    "regress: pairs that are ranked rightly",
    what="Over all records of all parties (with vertical partition: all common records), the number of pairs that can be compared, of those that the model ranks rightly, and of those whose scores are too close to tell.",
    to="every party",
    why="They give the area under the ROC curve, or the concordance, which is part of the result.",
)


Rank: TypeAlias = "Callable[[Words, Words], tuple[int, int, int]]"  # `ranked`, of counts alone


def measured(name: str, found: tuple[int, int, int]) -> dict[str, float]:
    """The measure, and by how much it may differ from that of the scores themselves."""
    right, ties, pairs = found
    if not pairs:
        return {name: 0.5, f"{name}_error": 0.5}
    return {name: right / (2 * pairs), f"{name}_error": ties / (2 * pairs)}


def classes_for(rows: int) -> int:
    """The number of classes of scores, fewer where there are many rows."""
    return min(CLASSES, max(16, 4 * CLASSES // rows))


def bounds_of_classes(centre: float, deviation: float, classes: int) -> Floats:
    """The bounds between classes of scores, each of which has as many records if these are normal."""
    law = NormalDist(centre, max(deviation, 1e-12))
    return np.array([law.inv_cdf((at + 1) / classes) for at in range(classes - 1)])


def counted(rows: Floats, scores: Floats, bounds: Floats, number: int) -> Words:
    """How many scores of each row fall into each class; a negative row is not counted."""
    size = len(bounds) + 1
    inside = rows >= 0
    place = rows[inside].astype(np.int64) * size + np.searchsorted(bounds, scores[inside])
    return np.bincount(place, minlength=number * size).astype(np.uint64).reshape(number, size)


def ranked(
    channel: Channel,
    names: Sequence[str],
    servers: tuple[str, str],
    high: Words,
    low: Words,
    rng: Random,
) -> tuple[int, int, int]:
    """Right (twice over), ties and pairs, from this party's counts by row and class."""
    mine = np.concatenate([high.reshape(-1), low.reshape(-1)])
    share = share_out(channel, servers, names, len(mine), mine, rng.fork("counts"), np.uint64)
    both = None if share is None else share.reshape(2, *high.shape)
    return ranked_shares(channel, servers, both, rng)


def ranked_shares(
    channel: Channel, servers: tuple[str, str], share: Words | None, rng: Random
) -> tuple[int, int, int]:
    """What `ranked` returns, from the servers' shares of all counts.

    They have the shape (2, rows, classes), the high ones first.
    """
    answer = None
    if share is not None:
        first = channel.me == servers[0]
        peer = servers[1] if first else servers[0]
        engine = TransferEngine(channel, peer, first, rng.fork("transfers"))
        ups, downs = share
        before = np.cumsum(downs, axis=1, dtype=np.uint64)
        sides = (
            (ups, 2 * before - downs),
            (ups, downs),
            (ups.sum(axis=1, dtype=np.uint64), downs.sum(axis=1, dtype=np.uint64)),
        )
        parts = []
        for up, down in sides:
            up, down = up.reshape(-1), down.reshape(-1)
            own = (up * down).sum(dtype=np.uint64, keepdims=True)
            across = np.concatenate([up, down] if first else [down, up])
            parts.append(own + engine.inner_products(_RING, across[None], rng))
        answer = np.concatenate(parts)
    with channel.step("ranked"):
        if answer is not None:
            channel.broadcast(answer)
        found = [
            answer
            if server == channel.me and answer is not None
            else channel.recv_array(server, np.uint64, (3,), "three shares")
            for server in servers
        ]
        right, ties, pairs = channel.open(RANKED, (found[0] + found[1]).tolist())
    return right, ties, pairs
