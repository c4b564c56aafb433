"""Noise, reconstruction and attacks, beside the reference values of the specification.

The chapter prints no figures. The references are one run each of another implementation: the L1 distance
of the reconstructed histogram of Adult's ages (37 bins of two years) from the true one, and the errors
of attacks on breast cancer (30 standardised columns).
"""

import numpy as np
import pytest

from coterie.anonymity.randomization.attacks import (
    linear_guess,
    mean_error,
    projection,
    unrotated,
)
from coterie.anonymity.randomization.noise import noise_for
from coterie.anonymity.randomization.reconstruction import reconstruct
from coterie.experiments.randomization.noise import classified, column
from coterie.experiments.secure_data_integration.adult_data import load_adult
from tests import ROOT

ADULT = ROOT.parent / "shared" / "data" / "adult"
EDGES = np.linspace(17, 91, 38)


@pytest.fixture(scope="module")
def adult():
    if not ADULT.exists():
        pytest.skip("needs the Adult table in ../shared/data/adult")
    return load_adult(ADULT)


@pytest.fixture(scope="module")
def ages(adult):
    return column(adult, "age")[: adult.training]


def test_naive_bayes_learns_from_reconstructed_distributions(adult):
    right = {row["noise"]: row["right"] for row in classified(adult, 1)}
    most = right.pop("always the most frequent class")
    assert most == pytest.approx(0.754, abs=0.001)
    assert right.pop("none") == pytest.approx(0.823, abs=0.005)
    assert all(most + 0.01 < share < 0.825 for share in right.values())


@pytest.fixture(scope="module")
def cancer():
    datasets = pytest.importorskip("sklearn.datasets")
    points, _ = datasets.load_breast_cancer(return_X_y=True)
    return (points - points.mean(axis=0)) / points.std(axis=0)


# Noise, its 95 % interval as a share of the range, and L1 of z itself and after 10, 200 steps of EM.
PRINTED = [
    ("normal", 0.25, 0.09, 0.047, 0.071),
    ("normal", 0.5, 0.24, 0.057, 0.080),
    ("normal", 1.0, 0.57, 0.117, 0.051),
    ("uniform", 0.5, 0.33, 0.051, 0.172),
    ("uniform", 1.0, 0.79, 0.090, 0.126),
]


@pytest.mark.parametrize(("law", "share", "raw", "ten", "many"), PRINTED)
def test_reconstruction_of_adult_ages(ages, law, share, raw, ten, many):
    rng = np.random.default_rng(int(share * 100))
    noise = noise_for(law, share, 73)
    z = ages + noise.draw(len(ages), rng.bytes)
    true = np.histogram(ages, EDGES)[0] / len(ages)

    def apart(shares):
        return np.abs(shares - true).sum()

    assert len(ages) == 30_162
    noisy = np.histogram(z, EDGES)[0] / len(z)
    assert apart(noisy) + 1 - noisy.sum() == pytest.approx(raw, abs=0.05)
    found = reconstruct(z, noise, EDGES)
    # The stop is near the better of the two, and far better than the noisy values themselves.
    assert apart(found.shares) < max(ten, many) + 0.03
    assert apart(found.shares) < raw
    assert found.iterations < 1_000


@pytest.mark.parametrize(
    ("deviation", "by_projection", "by_guess"),
    [(0.5, 0.39, 0.32), (1.0, 0.65, 0.51), (2.0, 1.01, 0.76)],
)
def test_correlated_columns_halve_the_noise(cancer, deviation, by_projection, by_guess):
    rng = np.random.default_rng(1)
    z = cancer + deviation * rng.normal(size=cancer.shape)
    deviations = np.full(30, deviation)
    errors = [
        np.sqrt((mean_error(cancer, guess) ** 2).mean())
        for guess in (z, projection(z, deviations), linear_guess(z, deviations))
    ]
    assert errors == pytest.approx([deviation, by_projection, by_guess], rel=0.1)


def test_thirty_known_records_undo_a_rotation_of_thirty_columns(cancer):
    rng = np.random.default_rng(2)
    rotation = np.linalg.qr(rng.normal(size=(30, 30)))[0]
    rotated = cancer @ rotation
    errors = []
    for known in (10, 20, 30):
        rows = rng.choice(len(cancer), known, replace=False)
        guess = unrotated(rotated, cancer[rows], rows)
        errors.append(np.sqrt((mean_error(cancer, guess) ** 2).mean()))
    assert errors[0] == pytest.approx(0.50, abs=0.15)
    assert errors[1] == pytest.approx(0.24, abs=0.1)
    assert errors[2] < 1e-6
