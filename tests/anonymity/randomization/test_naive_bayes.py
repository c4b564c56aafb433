"""Naive Bayes from shares, against products of Python's own numbers."""

import numpy as np

from coterie.anonymity.randomization.naive_bayes import NaiveBayes, bin_numbers


def test_the_class_has_the_largest_product():
    rng = np.random.default_rng(1)
    shares = [rng.dirichlet(np.ones(size), 3) for size in (4, 2)]
    records = np.array([50, 30, 20])
    codes = [rng.integers(0, size, 40) for size in (4, 2)]
    found = NaiveBayes(records, shares).predict(codes)
    for i in range(40):
        products = [
            (records[c] / 100 + 0.01)
            * (shares[0][c, codes[0][i]] + 0.01)
            * (shares[1][c, codes[1][i]] + 0.01)
            for c in range(3)
        ]
        assert found[i] == int(np.argmax(products))


def test_an_empty_bin_does_not_decide_alone():
    shares = [np.array([[0.0, 1.0], [0.001, 0.999]]), np.array([[1.0, 0.0], [0.0, 1.0]])]
    model = NaiveBayes(np.array([500, 500]), shares)
    assert model.predict([np.array([0]), np.array([0])]).tolist() == [0]


def test_both_ends_of_the_range_are_in_a_bin():
    assert bin_numbers(np.array([0.0, 0.5, 1.0, 2.0]), np.array([0.0, 1.0, 2.0])).tolist() == [
        0,
        0,
        1,
        1,
    ]
