"""Separation ratios on jointly drawn pairs, and what their levels do not tell."""

from functools import partial
from itertools import combinations

import numpy as np
import pytest

from coterie.protocols.messaging.memory import run_same
from coterie.protocols.patterns.separation import (
    LEAST_STEP,
    _levels,
    draw_pairs,
    separation,
    step_for,
)
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.hidden_counts import HiddenCounts
from coterie.protocols.statistics.shared_counts import Transfers
from tests.views import assert_alike

NAMES = ("ann", "bob", "cat")
SERVERS = ("ann", "bob")
OWNERS = {"x": "ann", "y": "bob", "z": "cat", "w": "bob"}
SETS = [("x",), ("x", "y"), ("y", "w"), ("x", "y", "z"), ("y", "z", "w"), ("x", "z")]


def measured(columns, records, pairs=4096, sets=SETS, seed="1"):
    def party(channel):
        rng = Random(f"{seed}{channel.me}")
        own = {name: codes for name, codes in columns.items() if OWNERS[name] == channel.me}
        group = HiddenCounts(channel, NAMES, SERVERS, rng.fork("decide"))
        return separation(
            Transfers(channel, rng.fork("transfers")), group, sets, OWNERS, own, records, pairs,
            0.001, rng,
        )  # fmt: skip

    found = run_same(NAMES, party)
    assert all((found[name].levels == found["ann"].levels).all() for name in NAMES)
    return found["ann"]


def plain_alike(columns, names, records):
    return sum(
        all(columns[n][i] == columns[n][j] for n in names)
        for i, j in combinations(range(records), 2)
    )


def test_levels_are_within_a_step_or_two_of_the_pairs_that_are_alike():
    draw = np.random.default_rng(2)
    columns = {
        name: draw.integers(0, size, 60) for name, size in zip("xyzw", (2, 3, 2, 5), strict=True)
    }
    found = measured(columns, 60)
    assert found.pairs == 60 * 59 // 2
    assert found.step == LEAST_STEP
    for names, level in zip(SETS, found.levels, strict=True):
        assert abs(int(level) * found.step - plain_alike(columns, names, 60)) < 2 * found.step


def test_of_many_records_a_sample_of_pairs_is_enough():
    draw = np.random.default_rng(4)
    columns = {
        name: draw.integers(0, size, 5000) for name, size in zip("xyzw", (2, 3, 2, 5), strict=True)
    }
    found = measured(columns, 5000, sets=[("x", "y"), ("y", "z", "w")])
    assert found.pairs == 4096
    assert found.ratios == pytest.approx([1 - 1 / 6, 1 - 1 / 30], abs=0.03)


def test_pairs_are_different_records_and_come_once():
    for records, count in ((5, 100), (40, 300), (1000, 2000)):
        first, second = draw_pairs(Random("1"), records, count)
        assert len(first) == min(count, records * (records - 1) // 2)
        assert (first < second).all()
        assert second.max() < records
        assert len(set(zip(first.tolist(), second.tolist(), strict=True))) == len(first)


def test_every_pair_is_as_likely_as_any_other():
    counts = np.zeros((30, 30), int)
    for seed in range(400):
        np.add.at(counts, draw_pairs(Random(seed), 30, 20), 1)
    drawn = counts[np.triu_indices(30, 1)]
    expected = 400 * 20 / len(drawn)
    assert ((drawn - expected) ** 2 / expected).sum() < len(drawn) + 5 * np.sqrt(2 * len(drawn))


def test_a_step_is_a_power_of_two_of_at_least_eight_pairs():
    assert [step_for(n, r) for n, r in ((16384, 0.001), (100, 0.001), (1000, 0.5))] == [16, 8, 256]


def levels_of(counts, others, step, seeds):
    """The levels of counts beside what one coalition knows, the servers' offsets from `seeds`."""

    def party(channel):
        group = HiddenCounts(channel, NAMES, SERVERS, Random(channel.me))
        share = np.array([*counts, *others], np.uint32) if channel.me == "ann" else None
        share = np.zeros(2 * len(counts), np.uint32) if channel.me == "bob" else share
        rows = [[len(counts) + at] for at in range(len(counts))]
        rng = Random(seeds.get(channel.me, "cat"))
        return _levels(group, share, len(counts), rows, 1000, step, rng)

    return run_same(NAMES, party)["cat"]


def test_no_level_tells_that_all_or_none_of_the_pairs_a_coalition_knows_are_alike():
    """All counts and numbers of known pairs: each level that is possible leaves both open."""
    step = 8
    cases = [(count, known) for known in range(1, 30) for count in range(known + 1)]
    reached: dict[tuple[int, int], set[int]] = {}
    for seed in range(12):
        found = levels_of(*zip(*cases, strict=True), step, {"ann": seed, "bob": seed + 100})
        for (count, known), level in zip(cases, found, strict=True):
            reached.setdefault((known, int(level)), set()).add(count)
    for (known, level), counts in reached.items():
        assert counts != {known}, f"level {level} tells that all {known} pairs are alike"
        assert counts != {0}, f"level {level} tells that none of {known} pairs is alike"


@pytest.mark.parametrize("server", SERVERS)
def test_neither_server_knows_the_offset(server):
    counts, others = [12] * 200, [100] * 200
    one = levels_of(counts, others, 8, {"ann": "1", "bob": "2"})
    other = levels_of(counts, others, 8, {"ann": "1", "bob": "2", server: "3"})
    assert set(one.tolist()) == {1, 2}
    assert 60 < int((one == 2).sum()) < 140
    assert (one != other).any()


def alike_at_the_others(watched, world):
    """All of the 64 pairs that somebody knows are alike for the others, too, or eight are not."""

    def party(channel, rng):
        group = HiddenCounts(channel, NAMES, SERVERS, rng.fork("decide"))
        counts = np.array([(64, 56)[world]] * 50 + [64] * 50, np.uint32)
        mask = np.random.default_rng(3).integers(0, 2**32, 100, np.uint32)
        fixed = SERVERS[0] if watched == SERVERS[0] else SERVERS[1]
        share = mask if channel.me == fixed else counts - mask
        rows = [[50 + at] for at in range(50)]
        mine = share if channel.me in SERVERS else None
        return _levels(group, mine, 50, rows, 1000, 8, rng)

    return dict.fromkeys(NAMES, party)


@pytest.mark.parametrize("watched", NAMES)
def test_nobody_sees_whether_all_pairs_that_it_knows_are_alike(watched):
    assert_alike(partial(alike_at_the_others, watched), watched, 2)
