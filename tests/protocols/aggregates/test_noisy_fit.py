"""Linear models from noisy sums: near the exact one where noise is small, usable where it is not."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from coterie.protocols.aggregates.noisy_fit import fit_noisy

statsmodels = pytest.importorskip("statsmodels.api", reason="statsmodels is not installed")
LIMITS = [(0.0, 100.0), (-5.0, 5.0), (0.0, 1.0), (-200.0, 900.0)]
REACH = 1 << 12
N = 500


def columns(seed=1):
    rng = np.random.default_rng(seed)
    x = [rng.uniform(0, 100, N), rng.normal(0, 1, N).clip(-5, 5), rng.random(N) < 0.4]
    y = 300 + 2 * x[0] + 30 * x[1] - 50 * x[2] + rng.normal(0, 9, N)
    low, high = np.array(LIMITS).T
    table = np.column_stack([*x, y]).astype(float)
    steps = np.rint((table - (low + high) / 2) / (high - low) * 2 * REACH)
    return (low + high) / 2 + steps / REACH * (high - low) / 2, steps.astype(int)


def sums_of(steps, noise=0.0, seed=1):
    whole = np.column_stack([steps, np.ones(N, int)])
    rough = np.random.default_rng(seed).normal(0, noise * REACH**2, (5, 5))
    rough[-1] /= REACH
    rough[-1, -1] = 0
    both = np.tril(np.rint(rough)) + np.tril(np.rint(rough), -1).T
    return (whole.T @ whole + both.astype(int)).tolist()


def test_without_noise_to_speak_of_the_models_are_those_of_statsmodels_and_scikit_learn():
    table, steps = columns()
    fit, added = fit_noisy(sums_of(steps), LIMITS, 0.0, REACH, 1e-6)
    due = statsmodels.OLS(table[:, -1], statsmodels.add_constant(table[:, :-1])).fit()
    np.testing.assert_allclose([fit.intercept, *fit.values], due.params, rtol=1e-8)
    assert fit.measures["r_squared"] == pytest.approx(due.rsquared)
    assert fit.measures["residual_deviation"] == pytest.approx(due.mse_resid**0.5)
    assert (added, fit.errors, fit.intercept_error) == (0.0, [None] * 3, None)
    fit, _ = fit_noisy(sums_of(steps), LIMITS, 7.0, REACH, 1e-6)
    ridge = Ridge(alpha=7.0).fit(table[:, :-1], table[:, -1])
    np.testing.assert_allclose([fit.intercept, *fit.values], [ridge.intercept_, *ridge.coef_], rtol=1e-8)  # fmt: skip


@pytest.mark.parametrize("deviation", [3.0, 100.0, 1e6])
@pytest.mark.parametrize("seed", range(5))
def test_noise_that_leaves_no_inverse_still_leaves_a_model_of_numbers(deviation, seed):
    _, steps = columns()
    sums = sums_of(steps, deviation, seed)
    fit, added = fit_noisy(sums, LIMITS, 0.0, REACH, deviation)
    assert np.isfinite([fit.intercept, *fit.values]).all()
    assert 0 <= fit.measures["r_squared"] <= 1
    assert fit.measures["residual_deviation"] >= 0
    means = np.array([row[-1] / REACH / N for row in sums[:3]]).clip(-1, 1)
    inside = np.array([row[:3] for row in sums[:3]]) / REACH**2 - N * np.outer(means, means)
    least = np.linalg.eigvalsh(inside)[0] + added
    assert least > 2 * deviation * 3**0.5 * (1 - 1e-6)  # larger than what noise does to it
