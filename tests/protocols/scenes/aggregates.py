"""Scenes of sums by group."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from coterie.anonymity.counts.hidden_cells import Component, Lines
from coterie.protocols.aggregates.aggregate_circuits import Spread
from coterie.protocols.aggregates.aggregates import Aggregates, Dominance, Rank
from coterie.protocols.aggregates.discrete_noise import scale_of
from coterie.protocols.aggregates.noise import Noise
from coterie.protocols.aggregates.noisy_sums import noisy_sums
from coterie.protocols.statistics.hidden_counts import HiddenCounts
from coterie.protocols.statistics.shared_counts import Transfers
from coterie.protocols.statistics.shared_tables import (
    Axis,
    JointTable,
    group_shares,
    horizontal_shares,
)
from tests.protocols.scenes.form import SERVERS, THREE, scene, secret
from tests.protocols.scenes.statistics import halves


@scene("statistics/grouped_sums statistics/shared_tables", THREE, shares=True, runs=4)
def sums_by_group(watched, world):
    """The watched party's numbers and groups are the same; those of the others far apart."""

    def party(channel, rng):
        axes = [Axis("v", "bob", 4), Axis("w", "cat", 9)]
        group = {"bob": {"v": np.full(60, secret(watched, "bob", world, 0, 3, 1))}}
        group["cat"] = {"w": np.full(60, secret(watched, "cat", world, 0, 7, 2))}
        number = secret(watched, "ann", world, 0, 2**64 - 1, 5)
        rows = np.full((60, 2), number, np.uint64) if channel.me == "ann" else None
        own = group.get(channel.me, {})
        transfers = Transfers(channel, rng.fork("transfers"))
        table = JointTable(THREE, SERVERS, axes, own, 60)
        return group_shares(transfers, table, "ann", rows, 2, rng)

    return dict.fromkeys(THREE, party)


@scene("statistics/shared_tables", THREE, shares=True)
def sums_by_group_of_divided_records(watched, world):
    def party(channel, rng):
        rows = np.full((9, 200), secret(watched, channel.me, world, 0, 2**60, 9), np.uint64)
        axes, codes = [Axis("w", None, 2)], {"w": np.zeros(9, int)}
        table = JointTable(THREE, SERVERS, axes, codes, 9)
        return horizontal_shares(channel, table, rng.fork("out"), rows, np.uint64)

    return dict.fromkeys(THREE, party)


def wide_halves(values, watched, me):
    """As `halves`, of 64 bits."""
    if me not in SERVERS:
        return None
    fixed = SERVERS[0] if watched == SERVERS[0] else SERVERS[1]
    mask = np.random.default_rng(3).integers(0, 2**64, np.shape(values), np.uint64)
    return mask if me == fixed else np.asarray(values, np.uint64) - mask


@scene("aggregates/aggregates", THREE)
def sums_of_squares(watched, world):
    """One sum of squares, of parts that are as different as can be."""
    parts = ({"high": 0, "both": 0, "low": 2**16}, {"high": 2**8, "both": 0, "low": 0})[world]

    def party(channel, rng):
        servers = Aggregates(HiddenCounts(channel, THREE, SERVERS, rng))
        shares = {n: wide_halves([v] * 40, watched, channel.me) for n, v in parts.items()}
        return servers.squares(shares, 4, 40)

    return dict.fromkeys(THREE, party)


@scene("aggregates/aggregates", THREE)
def numbers_that_are_rounded(watched, world):
    """Sums and means that differ, but not when they are rounded."""

    def party(channel, rng):
        servers = Aggregates(HiddenCounts(channel, THREE, SERVERS, rng))
        sums = wide_halves([(960, 1040)[world]] * 30, watched, channel.me)
        counts = wide_halves([(10, 11)[world]] * 30, watched, channel.me)
        return [servers.rounded(sums, 100, 5000, 30),
                servers.rounded_means(sums, counts, 100, 500, 30)]  # fmt: skip

    return dict.fromkeys(THREE, party)


@scene("aggregates/aggregates", THREE)
def buckets_of_quantiles(watched, world):
    """Different records around the same median; and one that is hidden, of few or of many."""
    rows = ([[2, 2, 9, 1], [1, 0, 0, 1]], [[5, 0, 7, 6], [0, 3, 0, 1]])[world]

    def party(channel, rng):
        servers = Aggregates(HiddenCounts(channel, THREE, SERVERS, rng))
        share = halves(np.array(rows * 10).reshape(20, 4), watched, channel.me, world)
        return servers.places(share, 4, Rank(Fraction(1, 2)), 4, 20)

    return dict.fromkeys(THREE, party)


@scene("aggregates/aggregates", SERVERS, shares=True)
def groups_that_somebody_dominates(watched, world):
    """One record has nearly all of the sum, or all have the same; nothing is opened."""
    buckets = ([9, 0, 1], [10, 0, 0])[world]

    def party(channel, rng):
        servers = Aggregates(HiddenCounts(channel, THREE, SERVERS, rng))
        table = halves(np.array(buckets * 100).reshape(100, 3), watched, channel.me, world)
        sums = wide_halves([(1009, 10)[world]] * 100, watched, channel.me)
        servers.judge_dominance(Dominance(1, Fraction(1, 2)), table, sums, [1, 10, 1000], 100)
        return servers._safe[0]

    return dict.fromkeys(THREE, party)


@scene("aggregates/aggregates", THREE)
def groups_that_are_hidden_whole(watched, world):
    """A line with one large group shows as little as a line with none."""
    line = Component(np.arange(4), (Lines(np.arange(4)[None]),))

    def party(channel, rng):
        servers = Aggregates(HiddenCounts(channel, THREE, SERVERS, rng))
        counts = wide_halves([0, (0, 900)[world], 2, 0], watched, channel.me)
        return servers.shown([line], counts, 4, 5)

    return dict.fromkeys(THREE, party)


@scene("aggregates/aggregates", SERVERS)
def one_group_that_nobody_dominates_and_that_is_large(watched, world):
    """A line with one group of many records, of whom nobody has much, shows as little as a line of none."""
    groups = np.arange(160)
    lines = Component(groups, (Lines(groups.reshape(40, 4)),))

    def party(channel, rng):
        servers = Aggregates(HiddenCounts(channel, THREE, SERVERS, rng))
        records = np.where(groups % 4 == 3, (4, 900)[world], 4)
        buckets = np.stack([records, 0 * records], axis=1)
        table = halves(buckets, watched, channel.me, world)
        sums = wide_halves(records, watched, channel.me)
        servers.judge_dominance(Dominance(1, Fraction(1, 2)), table, sums, [1, 10], 160)
        return servers.shown([lines], sums, 160, 5)

    return dict.fromkeys(THREE, party)


@scene("aggregates/aggregates", THREE)
def variances_that_are_rounded(watched, world):
    """Two numbers that are further apart, or less, with the same rounded variance."""
    apart = (30, 31)[world]

    def party(channel, rng):
        servers = Aggregates(HiddenCounts(channel, THREE, SERVERS, rng))
        numbers = {"high": 0, "both": 0, "low": 2 * apart**2, "distance": 0, "records": 2}
        shares = {n: wide_halves([v] * 30, watched, channel.me) for n, v in numbers.items()}
        distance, records = shares.pop("distance"), shares.pop("records")
        form = Spread(half=7, records=2, longest=100, step=1000)
        return servers.rounded_variances(form, shares, distance, records, 30)

    return dict.fromkeys(THREE, party)


@scene(
    "aggregates/noisy_sums", THREE, shares=True,
    drawn=("aggregate: numbers with noise", "aggregate: which groups are shown with noise"),
)  # fmt: skip
def sums_with_noise(watched, world):
    """Sums that are far apart, and whose noise is still wider; all groups are shown."""
    scales = [scale_of(Fraction(1)), scale_of(Fraction(1 << 49))]

    def party(channel, rng):
        group = HiddenCounts(channel, THREE, SERVERS, rng.fork("decide"))
        counts = wide_halves([900] * 60, watched, channel.me)
        sums = wide_halves([(0, 0x5555555555)[world]] * 60, watched, channel.me)
        promise = Noise(Fraction(1), Fraction(0))
        found = noisy_sums(group, [counts, sums], promise, scales, 60, 5, rng.fork("noise"))
        return found[1]

    return dict.fromkeys(THREE, party)
