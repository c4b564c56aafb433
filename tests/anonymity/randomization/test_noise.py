"""The laws of noise, against SciPy and against numerical integrals."""

import numpy as np
import pytest

from coterie.anonymity.randomization.noise import Noise, noise_for

stats = pytest.importorskip("scipy.stats")
LAWS = [Noise("normal", 2.5), Noise("uniform", 3.0)]


def reference(noise):
    return (
        stats.norm(0, noise.size)
        if noise.law == "normal"
        else stats.uniform(-noise.size, 2 * noise.size)
    )


@pytest.mark.parametrize("noise", LAWS, ids=lambda noise: noise.law)
def test_densities_and_their_integrals_are_those_of_the_law(noise):
    at = np.linspace(-12, 12, 481)
    law = reference(noise)
    assert np.allclose(noise.density(at), law.pdf(at))
    assert np.isclose(noise.deviation, law.std())
    # The integral of the distribution function, by small steps.
    fine = np.linspace(-40, 12, 520_001)
    total = np.append(0, np.cumsum((law.cdf(fine)[1:] + law.cdf(fine)[:-1]) / 2 * np.diff(fine)))
    assert np.allclose(noise.summed_distribution(at), np.interp(at, fine, total), atol=1e-5)


@pytest.mark.parametrize("law", ["normal", "uniform"])
def test_a_wished_interval_has_x_for_95_percent(law):
    noise = noise_for(law, 0.5, 80)
    assert np.isclose(noise.interval, 40)
    inside = reference(noise).cdf(20) - reference(noise).cdf(-20)
    assert np.isclose(inside, 0.95, atol=1e-4)


@pytest.mark.parametrize("noise", LAWS, ids=lambda noise: noise.law)
def test_drawn_noise_has_the_law(noise):
    drawn = noise.draw(20_000, np.random.default_rng(1).bytes)
    assert stats.kstest(drawn, reference(noise).cdf).pvalue > 0.001
    assert np.abs(drawn).max() <= noise.reach
