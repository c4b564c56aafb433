"""Whole tables, condensed class by class."""

import numpy as np
import pytest

from coterie.anonymity.condensation.static import condense, covariance_correlation


def test_every_class_is_condensed_for_itself():
    rng = np.random.default_rng(1)
    points = rng.normal(size=(90, 2))
    classes = np.repeat([0, 2], [50, 40])
    points[classes == 2] += 100
    found = condense(points, classes, 6, rng.bytes)
    assert np.bincount(found.classes).tolist() == [50, 0, 40]
    assert sorted(found.sizes) == [0, 2]
    assert all(6 <= sizes.min() <= sizes.max() < 12 for sizes in found.sizes.values())
    # No group has people of both classes: nothing lies between them.
    assert (found.points[found.classes == 0] < 50).all()
    assert (found.points[found.classes == 2] > 50).all()


def test_a_class_below_k_is_refused():
    with pytest.raises(ValueError, match="class 1 has 3 records, fewer than k = 5"):
        condense(np.zeros((13, 1)), np.repeat([0, 1], [10, 3]), 5)


def test_one_group_of_all_records_keeps_mean_and_covariance():
    rng = np.random.default_rng(2)
    points = rng.normal(size=(3_000, 3)) * [1, 100, 0.01] + [0, 1e6, 5]
    found = condense(points, np.zeros(3_000, int), 1_600, rng.bytes)
    scale = points.std(axis=0)
    assert np.abs((found.points - points).mean(axis=0) / scale).max() < 0.1
    assert covariance_correlation(points, found.points) > 0.99


def test_the_correlation_of_covariances_is_that_of_their_entries():
    rng = np.random.default_rng(3)
    one, other = rng.normal(size=(2, 200, 3)) @ rng.normal(size=(3, 3))
    scale = one.std(axis=0)
    entries = [
        [np.mean((t[:, i] - t[:, i].mean()) * (t[:, j] - t[:, j].mean())) / scale[i] / scale[j]
         for i in range(3) for j in range(i, 3)]
        for t in (one, other)
    ]  # fmt: skip
    assert np.isclose(covariance_correlation(one, other), np.corrcoef(*entries)[0, 1])


def test_constant_columns_have_no_covariance_to_compare():
    assert covariance_correlation(np.ones((5, 2)), np.ones((5, 2))) == 1.0
