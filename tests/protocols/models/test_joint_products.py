"""Linear models of columns at several parties beside statsmodels and scikit-learn."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from coterie.base.errors import DataError
from coterie.protocols.messaging.memory import run_parties
from coterie.protocols.models.joint_products import (
    STEPS,
    fit_linear,
    in_steps,
    joint_sums,
    moments_of,
)
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.shared_counts import Transfers

statsmodels = pytest.importorskip("statsmodels.api", reason="statsmodels is not installed")
NAMES = ("a", "b", "c")
HELD = {"a": [0, 3], "b": [1, 2], "c": [4]}
LIMITS = [(0, 100), (-5, 5), (0, 1), (0, 1e6), (0, 1000)]
N = 80


def columns(seed=1):
    rng = np.random.default_rng(seed)
    x = [rng.uniform(0, 100, N), rng.normal(0, 1, N).clip(-5, 5), rng.random(N) < 0.4, rng.uniform(1e4, 9e5, N)]  # fmt: skip
    y = 300 + 2 * x[0] + 30 * x[1] - 50 * x[2] + 1e-4 * x[3] + rng.normal(0, 9, N)
    return np.column_stack([*x, y]).astype(float)


def rounded(table):
    """The table as the module says that columns are rounded."""
    low, high = np.array(LIMITS, float).T
    return (low + high) / 2 + np.rint((table - (low + high) / 2) / (high - low) * 2 * STEPS) / STEPS * (high - low) / 2  # fmt: skip


def jointly(table, large=lambda counts: True):
    def party(name):
        def run(channel):
            mine = table[:, HELD[name]]
            steps = in_steps(mine, [LIMITS[at] for at in HELD[name]])
            transfers = Transfers(channel, Random(f"{name} transfers"))
            return joint_sums(
                transfers, NAMES, HELD, mine, steps, N, large, lambda: DataError("few"), Random(name)
            )  # fmt: skip

        return run

    found = run_parties({name: party(name) for name in NAMES})
    assert found["a"] == found["b"] == found["c"]
    return found["a"]


def test_sums_of_products_are_those_of_the_joined_table_to_the_last_step():
    table = columns()
    steps = in_steps(table, LIMITS).astype(object)
    whole = np.column_stack([steps, np.ones(N, int).astype(object)])
    assert jointly(table) == (whole.T @ whole).tolist()


def test_a_linear_model_is_that_of_statsmodels_on_the_rounded_columns():
    table = columns()
    fit = fit_linear(moments_of(jointly(table), LIMITS, "uvwxy"), "uvwxy", 0.0)
    exact = rounded(table)
    due = statsmodels.OLS(exact[:, -1], statsmodels.add_constant(exact[:, :-1])).fit()
    np.testing.assert_allclose([fit.intercept, *fit.values], due.params, rtol=1e-8)
    np.testing.assert_allclose([fit.intercept_error, *fit.errors], due.bse, rtol=1e-8)
    assert fit.measures["r_squared"] == pytest.approx(due.rsquared)
    assert fit.measures["residual_deviation"] == pytest.approx(due.mse_resid**0.5)
    plain = statsmodels.OLS(table[:, -1], statsmodels.add_constant(table[:, :-1])).fit()
    np.testing.assert_allclose(fit.values, plain.params[1:], rtol=1e-4)


def test_a_ridge_model_is_that_of_scikit_learn_on_the_rounded_columns():
    table = columns()
    fit = fit_linear(moments_of(jointly(table), LIMITS, "uvwxy"), "uvwxy", 5.0)
    exact = rounded(table)
    due = Ridge(alpha=5.0).fit(exact[:, :-1], exact[:, -1])
    np.testing.assert_allclose(fit.values, due.coef_, rtol=1e-7)
    assert fit.intercept == pytest.approx(due.intercept_)


def test_a_column_that_is_constant_or_follows_from_others_is_named():
    table = columns()
    table[:, 1] = 2.5
    with pytest.raises(DataError, match="'v' has the same value"):
        fit_linear(moments_of(jointly(table), LIMITS, "uvwxy"), "uvwxy", 0.0)
    table[:, 1] = table[:, 0] / 25 - 2
    table[:, [0, 1]] = np.rint(table[:, [0, 1]])
    table[:, 0] = 10 * table[:, 1] + 50
    with pytest.raises(DataError, match="'v' follows from the other columns"):
        fit_linear(moments_of(jointly(table), LIMITS, "uvwxy"), "uvwxy", 0.0)


def test_no_sum_is_opened_where_one_would_be_over_a_few_records():
    """The counts that the decision is about are those of any two columns, whoever holds them."""
    table = columns()
    seen = []

    def large(counts):
        seen.append(counts)
        return False

    with pytest.raises(DataError, match="few"):
        jointly(table, large)
    apart = np.concatenate([table != 0, np.ones((N, 1)) < 0, table != 1, np.ones((N, 1)) < 0], axis=1)  # fmt: skip
    due = (apart.astype(int).T @ apart.astype(int))[np.tril_indices(12)]
    assert (sum(seen[1:], seen[0]) == due.astype(np.uint32)).all()
