"""Sums over records by compiled loops, against plain matrix products."""

import numpy as np

from coterie.base.record_sums import pair_counts, scores, weighted_sums


def random_records(records, columns):
    draw = np.random.default_rng(records)
    slopes, weights = draw.normal(size=records), draw.random(records)
    slopes[::3], weights[::3] = 0, 0
    weights[1::3] = 0
    return draw.normal(size=(records, columns)), slopes, weights


def test_scores_and_sums_are_those_of_matrix_products():
    for records, columns in ((0, 2), (1, 1), (500, 7)):
        x, slopes, weights = random_records(records, columns)
        at = np.arange(columns) - 1.5
        first, second = weighted_sums(x, slopes, weights)
        whole = (x.T @ (x * weights[:, None]))[np.tril_indices(columns)]
        assert np.allclose(scores(x, at), x @ at)
        assert np.allclose(first, [x.T @ slopes])
        assert np.allclose(second, [whole])


def test_the_sums_of_each_part_are_over_its_own_records():
    x, slopes, weights = random_records(400, 3)
    parts = np.arange(400) % 5
    first, second = weighted_sums(x, slopes, weights, parts, 6)
    for part in range(6):
        inside = parts == part
        alone = weighted_sums(x[inside], slopes[inside], weights[inside])
        assert np.allclose(first[part], alone[0][0])
        assert np.allclose(second[part], alone[1][0])
    assert not first[5].any()


def test_pairs_of_columns_are_counted_where_both_are_true():
    alike = np.random.default_rng(1).random((300, 6)) < [0, 0.1, 0.4, 0.6, 0.9, 1]
    ones = alike.astype(int)
    assert pair_counts(alike).tolist() == (ones.T @ ones).tolist()
