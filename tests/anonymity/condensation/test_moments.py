"""Sums of groups, their synthetic records, and the split of a group of which only sums are known."""

import numpy as np

from coterie.anonymity.condensation.moments import Moments, moments_of, split


def some(records=60, width=4, seed=1):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(records, width)) @ rng.normal(size=(width, width)) + 3


def test_means_and_covariances_are_those_of_the_records():
    points, groups = some(), np.random.default_rng(2).permutation(np.arange(60) % 5)
    found = moments_of(points, groups)
    for g in range(5):
        own = points[groups == g]
        assert found.sizes[g] == len(own)
        assert np.allclose(found.means[g], own.mean(axis=0))
        assert np.allclose(found.covariances[g], np.cov(own, rowvar=False, bias=True))


def test_synthetic_records_have_the_means_and_covariances_of_their_group():
    points = some()
    one = moments_of(points, np.zeros(60, int))
    made = one.synthetic(np.random.default_rng(3).bytes, share=1_000)
    assert len(made) == 60_000
    spread = np.cov(points, rowvar=False, bias=True)
    assert np.allclose(made.mean(axis=0), points.mean(axis=0), atol=0.05)
    assert np.allclose(np.cov(made, rowvar=False), spread, atol=0.03 * spread.max())


def test_a_synthetic_record_is_uniform_along_the_eigenvectors():
    one = Moments(np.array([20_000]), np.zeros((1, 2)), np.diag([3.0, 0.0])[None] * 20_000)
    made = one.synthetic(np.random.default_rng(4).bytes)
    assert np.abs(made[:, 1]).max() < 1e-9
    assert np.abs(made[:, 0]).max() <= np.sqrt(12 * 3) / 2
    counts, _ = np.histogram(made[:, 0], 10, (-3, 3))
    assert abs(counts - 2_000).max() < 300


def test_records_that_are_alike_are_reproduced():
    points = np.tile([1.5, -2.0], (6, 1))
    made = moments_of(points, np.zeros(6, int)).synthetic()
    assert np.allclose(made, points)


def test_the_halves_of_a_split_add_up_to_the_group():
    points = some(40)
    whole = moments_of(points, np.zeros(40, int))
    sums, products = split(40, whole.sums[0], whole.products[0])
    assert np.allclose(sums.sum(axis=0), whole.sums[0])
    assert np.allclose(products.sum(axis=0), whole.products[0])


def test_a_quarter_of_the_longest_variance_is_within_and_the_rest_between():
    """Exercise 6 of the chapter."""
    whole = moments_of(some(40), np.zeros(40, int))
    sums, products = split(40, whole.sums[0], whole.products[0])
    halves = Moments(np.array([20, 20]), sums, products)
    before = np.linalg.eigvalsh(whole.covariances[0])
    direction = np.linalg.eigh(whole.covariances[0])[1][:, -1]
    for half in halves.covariances:
        assert np.isclose(direction @ half @ direction, before[-1] / 4)
        assert np.allclose(
            np.sort(np.append(before[:-1], before[-1] / 4)), np.linalg.eigvalsh(half)
        )
    between = np.cov(halves.means, rowvar=False, bias=True)
    assert np.isclose(direction @ between @ direction, before[-1] * 3 / 4)
