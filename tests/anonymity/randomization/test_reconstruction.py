"""Reconstruction: against its formula, the chapter's exercises, and truths that are known."""

import numpy as np
import pytest

from coterie.anonymity.randomization.noise import Noise
from coterie.anonymity.randomization.reconstruction import (
    cell_chances,
    maximise,
    reconstruct,
)
from coterie.anonymity.randomization.response import response_matrix


def bytes_of(seed):
    return np.random.default_rng(seed).bytes


@pytest.mark.parametrize("noise", [Noise("normal", 0.7), Noise("uniform", 1.1)], ids=str)
def test_the_chance_of_a_cell_is_the_double_integral(noise):
    cells, edges = np.linspace(-3, 5, 9), np.array([0.0, 0.8, 2.0])
    found = cell_chances(noise, cells, edges)
    assert np.allclose(found.sum(axis=0), 1)
    fine = np.linspace(0, 1, 801)
    middles = (fine[1:] + fine[:-1]) / 2
    for i in range(1, 7):
        for b in range(2):
            x = edges[b] + middles * (edges[b + 1] - edges[b])
            z = cells[i] + middles * (cells[i + 1] - cells[i])
            mean = noise.density(z[:, None] - x[None, :]).mean() * (cells[i + 1] - cells[i])
            assert np.isclose(found[i, b], mean, atol=2e-3)


@pytest.mark.parametrize("method", ["em", "bayes"])
def test_a_step_is_that_of_the_formula(method):
    """Two steps of (20.5), record by record, with values at the middles of the cells."""
    noise, edges = Noise("normal", 1.0), np.linspace(0, 4, 5)
    low, high = edges[0] - noise.reach, edges[-1] + noise.reach
    middles = low + (np.arange(400) + 0.5) * (high - low) / 400
    z = middles[[150, 180, 180, 200, 230, 260]]
    found = reconstruct(z, noise, edges, method, most=2, stop=False)
    theta = np.full(4, 0.25)
    for _ in range(found.iterations):
        new = np.zeros(4)
        for value in z:
            if method == "bayes":
                f = noise.density(value - (edges[1:] + edges[:-1]) / 2)
            else:  # the mean of the density over the bin, by small steps
                x = (np.arange(2_000) + 0.5) / 2_000
                f = np.array([noise.density(value - (a + x)).mean() for a in edges[:-1]])
            new += theta * f / (theta @ f)
        theta = new / len(z)
    assert found.iterations == 2
    assert np.allclose(found.shares, theta, atol=1e-3)


@pytest.mark.parametrize("noise", [Noise("normal", 8.0), Noise("uniform", 15.0)], ids=str)
@pytest.mark.parametrize("method", ["em", "bayes"])
def test_the_likelihood_never_falls(noise, method):
    rng = np.random.default_rng(1)
    x = np.clip(rng.normal(40, 10, 3_000), 17, 89)
    z = x + noise.draw(len(x), rng.bytes)
    kernel_steps = reconstruct(z, noise, np.linspace(17, 90, 38), method, most=60)
    rises = np.diff(kernel_steps.likelihoods)
    assert (rises >= -1e-9 * np.abs(kernel_steps.likelihoods[0])).all()


def test_counts_of_many_steps_tend_to_the_maximum_of_the_likelihood():
    """Randomized response of two values has its maximum where the moments agree."""
    kernel, counts = response_matrix(2, 0.5), np.array([600, 400])
    found = maximise(kernel, counts, most=1_000)
    # P(answer 0) = 0.75 θ + 0.25 (1 - θ) = 0.6
    assert np.isclose(found.shares[0], 0.7, atol=0.05)
    likelihood = lambda t: 600 * np.log(0.25 + t / 2) + 400 * np.log(0.75 - t / 2)  # noqa: E731
    assert found.likelihoods[-1] <= likelihood(0.7) + 1e-9


def test_the_iteration_ends_when_the_counts_agree_with_the_model():
    rng = np.random.default_rng(2)
    noise = Noise("normal", 5.0)
    x = rng.normal(50, 8, 20_000).clip(0, 100)
    found = reconstruct(x + noise.draw(20_000, rng.bytes), noise, np.linspace(0, 100, 41))
    assert found.agrees
    assert 0 < found.iterations < 1_000
    true = np.histogram(x, np.linspace(0, 100, 41))[0] / 20_000
    z = np.histogram(x + noise.draw(20_000, rng.bytes), np.linspace(0, 100, 41))[0] / 20_000
    assert np.abs(found.shares - true).sum() < 0.6 * np.abs(z - true).sum()


def test_a_uniform_sum_is_a_uniform_and_a_uniform():
    """Exercise 1 of the chapter: with x and y uniform on (0, 1), z is triangular."""
    rng = np.random.default_rng(3)
    noise = Noise("uniform", 0.5)
    z = rng.random(30_000) + noise.draw(30_000, rng.bytes)
    shares, _ = np.histogram(z, [-0.5, 0, 0.5, 1, 1.5])
    assert np.allclose(shares / 30_000, [0.125, 0.375, 0.375, 0.125], atol=0.015)
    found = reconstruct(z, noise, np.linspace(0, 1, 11))
    assert np.allclose(found.shares, 0.1, atol=0.05)


def test_uniform_noise_alone_is_a_constant():
    """Exercise 2: z and y uniform on (0, 1), so x is 0; here y is on (-1/2, 1/2) and x is 0.5."""
    rng = np.random.default_rng(4)
    noise = Noise("uniform", 0.5)
    z = 0.02 + noise.draw(50_000, rng.bytes)
    found = reconstruct(z, noise, np.linspace(0, 1, 21))
    assert found.shares[0] > 0.9


def test_no_value_and_impossible_values_are_errors():
    with pytest.raises(ValueError, match="no values"):
        reconstruct(np.array([]), Noise("normal", 1.0), np.linspace(0, 1, 3))
    with pytest.raises(ValueError, match="the noise allows"):
        maximise(np.array([[0.0], [1.0]]), np.array([5, 0]))


def test_one_value_gives_an_estimate():
    found = reconstruct(np.array([0.5]), Noise("normal", 1.0), np.linspace(0, 1, 3))
    assert np.isclose(found.shares.sum(), 1)
