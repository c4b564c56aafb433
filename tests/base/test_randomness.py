"""Random numbers from bytes."""

import numpy as np

from coterie.base.randomness import normal, uniform


def test_uniform_numbers_fill_the_open_interval_evenly():
    found = uniform((50_000, 2), np.random.default_rng(1).bytes)
    assert found.shape == (50_000, 2)
    assert 0 < found.min() < found.max() < 1
    counts, _ = np.histogram(found, 20, (0, 1))
    assert abs(counts - 5_000).max() < 6 * np.sqrt(5_000)


def test_the_ends_of_the_bytes_are_not_the_ends_of_the_interval():
    low, high = (float(uniform((1,), lambda n, b=b: b * n)[0]) for b in (b"\0", b"\xff"))
    assert 0 < low < 1e-15
    assert 1 - 1e-15 < high < 1


def test_normal_numbers_have_the_normal_distribution():
    found = np.sort(normal((40_001,), np.random.default_rng(2).bytes))
    assert abs(found.mean()) < 0.03
    assert abs(found.var() - 1) < 0.05
    shares = [(found < edge).mean() for edge in (-1.959964, 0, 1.959964)]
    assert np.allclose(shares, [0.025, 0.5, 0.975], atol=0.01)


def test_two_draws_from_the_system_differ():
    assert (uniform((4,)) != uniform((4,))).all()
