"""`coterie experiment noise` on small inputs."""

import numpy as np

from coterie.experiments.randomization.noise import attacked, reconstructed, turned


def test_the_estimate_is_nearer_than_the_noisy_values_and_than_an_overfit():
    rng = np.random.default_rng(1)
    ages = np.clip(17 + rng.gamma(4, 6, 6_000), 17, 90).round()
    rows = reconstructed(ages, 1)
    assert [row["noise"] for row in rows][:2] == ["normal 25%", "normal 50%"]
    assert all(row["estimate"] < row["z itself"] for row in rows[1:])
    assert sum(row["estimate"] for row in rows) < sum(row["1,000 iterations"] for row in rows)


def test_guesses_are_better_than_the_noise_and_known_records_undo_a_rotation():
    rng = np.random.default_rng(2)
    points = rng.normal(size=(200, 2)) @ rng.normal(size=(2, 30))
    points = (points - points.mean(axis=0)) / points.std(axis=0)
    assert all(row["linear guess"] < row["z itself"] / 2 for row in attacked(points, 1))
    assert turned(points, 1)[-1]["error"] < 0.01
