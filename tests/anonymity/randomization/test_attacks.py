"""Attacks on noise, against their formulas."""

import numpy as np

from coterie.anonymity.randomization.attacks import (
    linear_guess,
    mean_error,
    narrowed,
    projection,
    unrotated,
)
from coterie.anonymity.randomization.noise import Noise


def correlated(records=4_000, seed=1):
    rng = np.random.default_rng(seed)
    common = rng.normal(size=(records, 1))
    x = common @ np.ones((1, 5)) + 0.2 * rng.normal(size=(records, 5))
    deviations = np.array([1.0, 0.5, 2.0, 1.0, 1.5])
    return x, x + rng.normal(size=x.shape) * deviations, deviations


def test_the_linear_guess_is_near_the_best_there_is():
    x, z, deviations = correlated()
    truth = np.ones((5, 5)) + 0.04 * np.eye(5)  # the covariance that the table was drawn from
    best = z @ np.linalg.solve(truth + np.diag(deviations**2), truth)
    found, limit = (mean_error(x, guess) for guess in (linear_guess(z, deviations), best))
    assert (found < 1.05 * limit).all()
    assert (found < 0.8 * mean_error(x, z)).all()


def test_projection_keeps_the_direction_of_the_data():
    x, z, deviations = correlated()
    assert (mean_error(x, projection(z, deviations))[[0, 2, 4]] < mean_error(x, z)[[0, 2, 4]]).all()


def test_independent_columns_are_guessed_no_better_than_one_alone():
    rng = np.random.default_rng(2)
    x = rng.normal(size=(6_000, 3))
    z = x + rng.normal(size=x.shape)
    assert np.allclose(mean_error(x, linear_guess(z, np.ones(3))), np.sqrt(0.5), atol=0.03)


def test_bounded_noise_leaves_little_near_the_ends():
    noise, limits = Noise("uniform", 10.0), (0.0, 40.0)
    # x lies between z - 10 and z + 10 and in the range; 0.95 of that is below 9.5 where z < 0 or > 40.
    z = np.array([-9.0, -0.1, 0.1, 20.0, 39.9, 40.1])
    assert narrowed(z, noise, limits) == 0.5
    assert narrowed(z, Noise("normal", 10.0), limits) == 0.0


def test_as_many_known_records_as_columns_undo_a_rotation():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(50, 6))
    rotation = np.linalg.qr(rng.normal(size=(6, 6)))[0]
    rows = np.arange(6)
    assert np.allclose(unrotated(x @ rotation, x[rows], rows), x)
    few = unrotated(x @ rotation, x[:2], rows[:2])
    assert mean_error(x, few).mean() > 0.3


def test_one_row_and_one_column_are_no_errors():
    assert linear_guess(np.array([[3.0]]), np.array([1.0])).shape == (1, 1)
    assert projection(np.array([[3.0, 1.0]]), np.ones(2)).shape == (1, 2)
