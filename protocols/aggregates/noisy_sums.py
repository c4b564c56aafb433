"""Sums by group with noise for differential privacy, which no coalition without both servers knows.

In: at the two servers shares modulo 2^64 of every group's number of records and other sums
(`shared_tables`); None at the others; all parties call. Out, at every party: which groups are shown,
and the noisy numbers of these.

Each server draws noise that is enough by itself (`noise`), and adds it to its own shares before
anything is decided or opened. So the numbers have the noise of both. Against everybody outside, and
any coalition without a server, both draws stand; against a coalition with one server the draw of the
other one does, which alone gives the whole (epsilon, delta), because all else that the coalition
sees is computed from it. Both servers together hold the sums themselves; that these two do not
collude is what every job of this kind asks for. (Shares of noise that only together have the wanted
distribution, such as differences of Pólya numbers, would leave a coalition with one server too
little. The price of two whole draws is a standard deviation that is larger by the square root of 2.)

A group is shown if its noisy number of records is at least `minimum`, which the servers decide on
shares: since that is computed from the noisy numbers, it costs no more privacy, and the noisy
numbers of the other groups stay hidden besides. The only group of a table is always shown: its number
of records is known.

Noise is drawn once in a job (`Channel.drawn`), on the disk before anything depends on it, and what
is opened is kept (`Channel.once`): an attempt that goes on after an interruption opens the same
numbers again. Another job draws anew, and is charged anew to every party's budget.

Adversary: semi-honest. A server that leaves its noise out harms nobody who trusts the other one.
Messages: one run of `garbling` between the servers with 31 AND gates a group, and the shown groups'
numbers from each server to everybody.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from coterie.base.arrays import Array, Ints
from coterie.protocols.aggregates.aggregate_circuits import bit_circuit
from coterie.protocols.aggregates.discrete_noise import Scale
from coterie.protocols.aggregates.noise import Noise
from coterie.protocols.messaging.opening import declare
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.hidden_counts import HiddenCounts

GROUPS = declare(
    "aggregate: which groups are shown with noise",
    what="With `noise`, a bit for each group: whether its number of records, with the noise of both servers, is at least `minimum`.",
    to="every party",
    why="All parties must know which numbers to open.",
)
NOISY = declare(
    "aggregate: numbers with noise",
    what="With `noise`, the number of records of each shown group and the sums that the measures need, each with the noise of both servers.",
    to="every party",
    why="They are the result, or the measures are computed from them.",
)


def noisy_sums(
    group: HiddenCounts,
    shares: Sequence[Array | None],
    noise: Noise,
    scales: Sequence[Scale],
    groups: int,
    minimum: int,
    rng: Random,
) -> tuple[Ints, list[Ints]]:
    """The numbers of the shown groups, and a column of their noisy sums for each query.

    The first of `shares` are the numbers of records, if there is more than one group.
    """
    with group.channel.step("noise"):

        def reveal() -> list[Array]:
            columns = list(shares)
            if group.is_server:
                mine = draw_noise(group, noise, scales, groups, rng)
                columns = [None if c is None else c + n for c, n in zip(shares, mine, strict=True)]
            shown = np.arange(groups) if groups == 1 else _large(group, columns[0], groups, minimum)
            opened = [
                np.asarray(group.added(None if c is None else c[shown], len(shown), np.uint64))
                for c in columns
                if len(shown)
            ]
            return [shown, *group.channel.open(NOISY, opened)]

        shown, *found = group.channel.once("numbers with noise", lambda: list(reveal()))
    return shown, list(found)


def draw_noise(
    group: HiddenCounts, noise: Noise, scales: Sequence[Scale], groups: int, rng: Random
) -> list[Array]:
    """This server's own noise for every query and group, as ring elements: drawn once in a job."""

    def draw() -> Array:
        return np.stack([noise.draw(scale, groups, rng) for scale in scales])

    drawn: Array = group.channel.drawn("noise", draw)
    return list(drawn.astype(np.uint64))


def _large(group: HiddenCounts, counts: Array | None, groups: int, minimum: int) -> Ints:
    """The groups whose noisy numbers of records are large enough."""
    share = None if counts is None else counts.astype(np.uint32)
    large = group.large(share, groups, minimum, zeros=False)
    inputs = {"bit": None if large is None else large.reshape(-1, 1)}
    bits, _ = group.decided(bit_circuit(), groups, inputs, "bit")
    return np.flatnonzero(group.channel.open(GROUPS, bits)[:, 0]).astype(np.int64)
