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
    with pytest.raises(DataError, match="few"):
        jointly(columns(), lambda counts: False)


def told_of_few(table, minimum):
    """Whether a value, or two values of two columns, are held by some records, but few."""
    kept = []
    for column in in_steps(table, LIMITS).T:
        values, counts = np.unique(column, return_counts=True)
        sets = [column == value for value in values]
        if len(values) > 4:
            often = values[counts.argmax()] if counts.max() >= N / 2 else None
            sets = [] if len(values) > 16 else sets
            rest = column != (in_steps(np.zeros((1, 5)), LIMITS)[0, len(kept)] if often is None else often)  # fmt: skip
            kept.append(([*sets, rest], [rest]))
        else:
            kept.append((sets, sets))
    sizes = [here.sum() for alone, _ in kept for here in alone]
    sizes += [(x & y).sum() for at, (_, a) in enumerate(kept) for _, b in kept[:at] for x in a for y in b]  # fmt: skip
    return any(0 < size < minimum for size in sizes)


@pytest.mark.parametrize("seed", range(12))
def test_the_decision_is_that_of_a_plain_count_whatever_the_coding(seed):
    """Columns of two to twenty values at any parties, in any coding, beside numbers."""
    rng = np.random.default_rng(seed)
    table = columns(seed)
    low, high = np.array(LIMITS, float).T
    for at in rng.choice(5, 3, replace=False):
        codes = rng.uniform(low[at], high[at], rng.choice([2, 2, 3, 4, 5, 9, 20]))
        chance = rng.dirichlet(np.full(len(codes), 3.0))
        table[:, at] = rng.choice(codes, N, p=chance)
    seen = []
    with pytest.raises(DataError, match="few"):
        jointly(table, lambda counts: bool(seen.append(counts)))
    counts = sum(seen[1:], seen[0])
    for minimum in (2, 3, 5, 9, 14):
        assert ((counts > 0) & (counts < minimum)).any() == told_of_few(table, minimum)
