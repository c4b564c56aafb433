"""Randomized response: its chances, its guarantee, and what a guess finds."""

import math

import numpy as np

from coterie.anonymity.randomization.response import (
    epsilon,
    guessed_right,
    respond,
    response_matrix,
)


def test_answers_are_as_frequent_as_the_matrix_says():
    codes = np.repeat([0, 1, 2], [6_000, 3_000, 1_000])
    said = respond(codes, 3, 0.4, np.random.default_rng(1).bytes)
    for true in range(3):
        shares = np.bincount(said[codes == true], minlength=3) / (codes == true).sum()
        assert np.allclose(shares, response_matrix(3, 0.4)[:, true], atol=0.06)


def test_the_matrix_has_columns_of_one():
    assert np.allclose(response_matrix(5, 0.3).sum(axis=0), 1)


def test_epsilon_is_the_largest_ratio_of_chances():
    matrix = response_matrix(4, 0.5)
    ratios = matrix[:, :, None] / matrix[:, None, :]
    assert math.isclose(epsilon(4, 0.5), math.log(ratios.max()))
    assert epsilon(2, 1.0) == math.inf


def test_a_guess_is_right_as_often_as_the_posterior_says():
    codes = np.repeat([0, 1], [700, 300])
    said = respond(codes, 2, 0.8, np.random.default_rng(2).bytes)
    # With 0.9 and 0.1 as chances, the answer itself is the best guess for these shares.
    assert guessed_right(codes, said, 2, 0.8) == (said == codes).mean()
    # With little kept, the most frequent value is.
    said = respond(codes, 2, 0.1, np.random.default_rng(3).bytes)
    assert guessed_right(codes, said, 2, 0.1) == 0.7
