"""Models from sums beside statsmodels and scikit-learn on all records."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import roc_auc_score
from sklearn.svm import LinearSVC

from coterie.base.errors import DataError
from coterie.protocols.messaging.memory import run_parties
from coterie.protocols.models.concordance import ranked
from coterie.protocols.models.exact_sums import ExactSums
from coterie.protocols.models.regression import fit_pooled
from coterie.protocols.primitives.randomness import Random

statsmodels = pytest.importorskip("statsmodels.api", reason="statsmodels is not installed")
NAMES = ("a", "b", "c")
N = 240


def records(seed=1):
    """Features of very different sizes, one of them a date as a number, and both outcomes."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(N, 4)) * [1, 20, 0.001, 300] + [0, 50, 3, 1.7e9]
    eta = 0.6 * x[:, 0] + 0.05 * (x[:, 1] - 50) + 400 * (x[:, 2] - 3)
    return x, eta + rng.normal(size=N), (rng.random(N) < 1 / (1 + np.exp(-eta))).astype(float)


def fitted(model, x, y, penalty=0.0, minimum=1, iterations=25):
    parts = dict(zip(NAMES, np.array_split(np.arange(len(x)), 3), strict=True))
    names = [*(f"x{i}" for i in range(x.shape[1])), "y"]

    def party(name):
        def run(channel):
            sums = ExactSums(channel, NAMES, Random(name))
            mine = parts[name]
            return fit_pooled(
                sums, model, x[mine], y[mine], len(x), names, penalty, iterations,
                lambda counts: minimum == 1,
                lambda *counts: ranked(channel, NAMES, ("a", "b"), *counts, Random(f"{name} rank")),
            )  # fmt: skip

        return run

    found = run_parties({name: party(name) for name in NAMES})
    assert found["a"] == found["b"] == found["c"]
    return found["a"]


def coefficients(fit):
    return [fit.intercept, *fit.values], [fit.intercept_error, *fit.errors]


def test_a_linear_model_has_the_coefficients_and_errors_of_statsmodels():
    x, y, _ = records()
    fit = fitted("linear", x, y)
    centred = statsmodels.OLS(y, statsmodels.add_constant(x - x.mean(0))).fit()
    values, errors = coefficients(fit)
    np.testing.assert_allclose(values[1:], centred.params[1:], rtol=1e-8)
    np.testing.assert_allclose(errors[1:], centred.bse[1:], rtol=1e-8)
    assert fit.intercept == pytest.approx(centred.params[0] - x.mean(0) @ centred.params[1:])
    assert fit.measures["r_squared"] == pytest.approx(centred.rsquared, abs=1e-10)
    assert fit.measures["residual_deviation"] == pytest.approx(centred.mse_resid**0.5)


def test_a_ridge_model_is_that_of_scikit_learn():
    x, y, _ = records()
    for penalty in (0.01, 30.0):
        fit = fitted("ridge", x[:, :3], y, penalty)
        due = Ridge(alpha=penalty, solver="cholesky").fit(x[:, :3], y)
        np.testing.assert_allclose(fit.values, due.coef_, atol=1e-9, rtol=1e-8)
        assert fit.intercept == pytest.approx(due.intercept_, rel=1e-8)


def test_a_logistic_model_has_the_coefficients_and_errors_of_statsmodels():
    x, _, y = records()
    x = x[:, :3]
    fit = fitted("logistic", x, y)
    scaled = (x - x.mean(0)) / x.std(0)  # statsmodels itself loses digits otherwise
    due = statsmodels.Logit(y, statsmodels.add_constant(scaled)).fit(disp=0, tol=1e-14)
    np.testing.assert_allclose(fit.values, due.params[1:] / x.std(0), rtol=1e-7)
    np.testing.assert_allclose(fit.errors, due.bse[1:] / x.std(0), rtol=1e-7)
    assert fit.measures["log_likelihood"] == pytest.approx(due.llf)
    auc = roc_auc_score(y, x @ np.array(fit.values))
    assert abs(fit.measures["auc"] - auc) <= fit.measures["auc_error"] < 0.01


def test_a_logistic_model_with_a_penalty_is_that_of_scikit_learn():
    x, _, y = records()
    x = x[:, :2]
    fit = fitted("logistic", x, y, penalty=2.0)
    due = LogisticRegression(C=0.5, tol=1e-12, solver="newton-cholesky").fit(x, y)
    np.testing.assert_allclose(fit.values, due.coef_[0], atol=1e-7)
    assert fit.intercept == pytest.approx(due.intercept_[0], abs=1e-6)


def test_a_support_vector_machine_is_that_of_scikit_learn():
    x, _, y = records()
    x = x[:, :2] / [1, 20]
    for penalty in (1.0, 20.0):
        fit = fitted("svm", x, y, penalty)
        due = LinearSVC(dual=False, tol=1e-13, C=1 / penalty, max_iter=100_000).fit(x, y)
        np.testing.assert_allclose(fit.values, due.coef_[0], atol=1e-6)
        assert fit.intercept == pytest.approx(due.intercept_[0], abs=1e-6)
        assert fit.errors == [None, None]
        assert fit.settled


def test_a_support_vector_machine_opens_no_second_sum_over_nearly_the_same_records():
    x, _, y = records()
    fit = fitted("svm", x[:, :2] / [1, 20], y, 1.0, minimum=5)
    assert not fit.settled
    assert fit.iterations == 1


def test_a_constant_feature_and_one_that_follows_from_others_are_named():
    x, y, _ = records()
    with pytest.raises(DataError, match="the feature 'x1' has the same value"):
        fitted("linear", np.column_stack([x[:, 0], np.full(N, 7.1)]), y)
    with pytest.raises(DataError, match="the column 'x2' follows from the other columns"):
        fitted("linear", np.column_stack([x[:, :2], x[:, 0] + x[:, 1] / 3]), y)
    with pytest.raises(DataError, match="the column 'y' has the same value"):
        fitted("linear", x[:, :2], np.ones(N))


@pytest.mark.parametrize("model", ["logistic", "svm"])
@pytest.mark.parametrize("outcome", [0.0, 1.0])
def test_an_outcome_of_one_value_is_named_whatever_the_penalty(model, outcome):
    x, _, _ = records()
    with pytest.raises(DataError, match="the column 'y' has the same value in all records of all"):
        fitted(model, x[:, :2] / [1, 20], np.full(N, outcome), 1.0)


@pytest.mark.parametrize("wholly", [True, False])
def test_separable_outcomes_have_no_logistic_model_but_one_with_a_penalty(wholly):
    x, _, y = records()
    y = (x[:, 0] > 0).astype(float) if wholly else np.where(x[:, 0] > 0.5, 1.0, y)
    x = x[:, :1] if wholly else (x[:, :1] > 0.5).astype(float)
    with pytest.raises(DataError, match="separate the outcomes"):
        fitted("logistic", x, y)
    assert np.isfinite(fitted("logistic", x, y, penalty=0.1).values).all()
