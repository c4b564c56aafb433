"""Noisy sums through the whole protocol: their distribution, and what each coalition is left with."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chisquare

from coterie.protocols.aggregates.noise import Noise, Query
from coterie.protocols.aggregates.noisy_sums import draw_noise, noisy_sums
from coterie.protocols.messaging.memory import run_same
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.hidden_counts import HiddenCounts

NAMES, SERVERS = ("a", "b", "c"), ("a", "b")
LAPLACE = Noise(Fraction(2), Fraction(0))
GAUSSIAN = Noise(Fraction(2), Fraction(1, 1000))


def run(noise, columns, minimum, seed="x", one_group=False):
    """What every party finds, and the servers' own noise."""
    groups = len(columns[0])
    masks = [np.random.default_rng(at).integers(0, 2**64, groups, np.uint64) for at in (1, 2)]
    scales = noise.scales([Query(1, 1), Query(-50, 50)][-len(columns) :], groups)

    def party(channel):
        rng = Random(f"{seed} {channel.me}")
        group = HiddenCounts(channel, NAMES, SERVERS, rng.fork("decide"))
        shares = [None] * len(columns)
        if channel.me == "a":
            shares = masks[: len(columns)]
        elif channel.me == "b":
            shares = [
                np.array(c).astype(np.uint64) - m for c, m in zip(columns, masks, strict=False)
            ]
        found = noisy_sums(group, shares, noise, scales, groups, minimum, rng.fork("noise"))
        own = draw_noise(group, noise, scales, groups, rng.fork("noise"))
        return found, [n.astype(np.int64) for n in own]

    return run_same(NAMES, party), scales


def of_one_draw(noise, scale, reach):
    y = np.arange(-reach, reach + 1)
    size = scale.top / scale.bottom
    weights = np.exp(-(y**2) / (2 * size**2)) if noise.delta else np.exp(-np.abs(y) / size)
    return weights / weights.sum()


def fits(numbers, chances):
    reach = len(chances) // 2
    kept = [y for y in range(-reach, reach + 1) if chances[y + reach] * len(numbers) > 8]
    counts = [int((numbers == y).sum()) for y in kept]
    expected = [chances[y + reach] * len(numbers) for y in kept]
    counts.append(len(numbers) - sum(counts))
    expected.append(len(numbers) - math.fsum(expected))
    return chisquare(counts, expected).pvalue > 1e-4


@pytest.mark.parametrize("noise", [LAPLACE, GAUSSIAN], ids=["laplace", "gaussian"])
def test_opened_numbers_have_both_draws_and_one_server_faces_a_whole_one(noise):
    groups = 6000
    counts = np.full(groups, 1000)
    found, [scale, _] = run(noise, [counts, counts * 3], minimum=5)
    (shown, [numbers, sums]), _ = found["c"]
    assert len(shown) == groups
    assert all(np.array_equal(found[n][0][1][0], numbers) for n in NAMES)
    one = of_one_draw(noise, scale, 200)
    assert fits(numbers - counts, np.convolve(one, one)[200:-200])
    left = numbers - counts - found["a"][1][0]  # what server a does not know
    assert fits(left, one)
    assert np.array_equal(left, found["b"][1][0])
    assert np.abs(sums - 3 * counts).max() > 0


def test_groups_are_shown_by_their_noisy_numbers_and_the_rest_is_not_opened():
    counts = np.array([0, 4, 5, 6, 300] * 40)
    found, _ = run(LAPLACE, [counts, counts], minimum=5)
    (shown, [numbers, _]), mine = found["a"]
    noisy = counts + mine[0] + found["b"][1][0]
    assert shown.tolist() == np.flatnonzero(noisy >= 5).tolist()
    assert np.array_equal(numbers, noisy[shown])
    assert (counts[shown] < 5).any()
    assert not (noisy[counts == 300] < 5).any()


def test_a_single_group_has_noise_in_its_sums_alone():
    found, _ = run(LAPLACE, [np.array([-70])], minimum=5)
    (shown, [sums]), mine = found["c"][0], found["a"][1]
    assert shown.tolist() == [0]
    assert sums[0] == -70 + mine[0][0] + found["b"][1][0][0]


def test_another_run_draws_other_noise():
    counts = np.full(50, 1000)
    first, second = (run(LAPLACE, [counts, counts], 5, seed)[0]["c"][0][1][0] for seed in "xy")
    assert (first != second).any()
