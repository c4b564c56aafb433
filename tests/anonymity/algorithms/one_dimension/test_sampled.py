"""Quantiles by a sample: uniform, within the promised ranks, and counted in the second pass."""

import math

import numpy as np

from coterie.anonymity.algorithms.one_dimension.sampled import Reservoir, sample_size, sampled_cuts


def pieces(numbers: np.ndarray, size: int = 700):
    return lambda: (numbers[i : i + size] for i in range(0, len(numbers), size))


def test_the_sample_has_the_printed_size():
    assert sample_size(0.02, 0.05) == 7490
    assert sample_size(0.1, 0.1) == 231
    assert sample_size(0.05, 0.4) == 367


def test_every_number_is_drawn_as_often_as_any_other():
    times = np.zeros(60)
    for seed in range(400):
        reservoir = Reservoir(12, np.random.default_rng(seed))
        for start in range(0, 60, 7):
            reservoir.add(np.arange(start, min(start + 7, 60), dtype=float))
        assert len(reservoir._values) == 12
        times[reservoir._values.astype(int)] += 1
    expected = 400 * 12 / 60
    assert abs(times - expected).max() < 5 * math.sqrt(expected)


def test_a_stream_that_fits_into_the_sample_is_cut_exactly():
    numbers = np.random.default_rng(2).permutation(1000).astype(float)
    cuts, counts = sampled_cuts(pieces(numbers), 100, 0.01, 0.01, np.random.default_rng(0))
    assert cuts.tolist() == list(range(100, 1000, 100))
    assert counts.tolist() == [100] * 10


def test_cuts_lie_within_epsilon_of_their_ranks():
    numbers = np.sort(np.random.default_rng(3).lognormal(size=20_000))
    epsilon, delta = 0.05, 0.05
    failed = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        cuts, counts = sampled_cuts(pieces(numbers, 5000), 2000, epsilon, delta, rng)
        assert counts.sum() == len(numbers)
        ranks = np.searchsorted(numbers, cuts)
        failed += bool((abs(ranks - 2000 * np.arange(1, 10)) > epsilon * len(numbers)).any())
    assert failed <= 2  # 2 delta^2 is one of 200


def test_every_group_has_a_number():
    numbers = np.repeat([3.0, 5.0, 9.0], [500, 1, 600])
    cuts, counts = sampled_cuts(pieces(numbers), 10, 0.2, 0.1, np.random.default_rng(1))
    assert (counts > 0).all()
    assert counts.sum() == 1101
    assert set(cuts) <= {5.0, 9.0}
