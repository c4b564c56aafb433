"""Logistic models of columns at several parties beside statsmodels and scikit-learn."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from coterie.base.errors import DataError
from coterie.protocols.messaging.memory import run_same
from coterie.protocols.models.joint_logistic import fit_logistic
from coterie.protocols.models.joint_products import Moments
from coterie.protocols.models.shared_logistic import Columns
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.hidden_counts import HiddenCounts
from coterie.protocols.statistics.shared_counts import Transfers

statsmodels = pytest.importorskip("statsmodels.api", reason="statsmodels is not installed")
LIMITS = [(0.0, 100.0), (-5.0, 5.0), (0.0, 1.0), (0.0, 1.0)]
TWO = {"a": [0, 2], "b": [1]}
THREE = {"a": [0], "b": [], "c": [2, 1]}
N = 120


def people(seed=1):
    rng = np.random.default_rng(seed)
    x = np.column_stack([rng.uniform(0, 100, N), rng.normal(0, 1, N), rng.random(N) < 0.4])
    eta = (x[:, 0] - 50) / 30 + x[:, 1].clip(-5, 5) - x[:, 2]
    return x, (rng.random(N) < 1 / (1 + np.exp(-eta))).astype(float)


def jointly(x, y, held, penalty=0.0, steps=6):
    names = list(held)
    table = np.column_stack([x, y])
    means = table.mean(axis=0)
    centred = (table - means).T @ (table - means)
    moments = Moments(len(y), LIMITS, means.tolist(), centred.tolist())

    def party(channel):
        me = channel.me
        transfers = Transfers(channel, Random(f"{me} transfers"))
        hidden = HiddenCounts(channel, names, ("a", "b"), Random(f"{me} hidden"))
        outcomes = y.astype(np.uint8) if me == names[-1] else None
        columns = Columns(held, x[:, held[me]], names[-1], outcomes)
        return fit_logistic(
            transfers, hidden, names, columns, moments, "uvwy", penalty, steps, Random(me)
        )

    found = run_same(names, party)
    assert len({repr(fit) for fit in found.values()}) == 1
    return found["a"]


@pytest.mark.parametrize("held", [TWO, THREE])
def test_a_model_of_columns_at_parties_is_the_exact_one_up_to_the_bound_it_states(held):
    x, y = people()
    fit = jointly(x, y, held)
    due = statsmodels.Logit(y, statsmodels.add_constant(x)).fit(disp=0, tol=1e-14)
    apart = (np.array(fit.values) - due.params[1:]) / due.bse[1:]
    assert np.abs(apart).max() <= fit.measures["approximation"] < 0.05
    assert fit.intercept == pytest.approx(due.params[0], abs=0.01 * due.bse[0])
    np.testing.assert_allclose([fit.intercept_error, *fit.errors], due.bse, rtol=0.03)
    # Roundings of shares are drawn: their sum has a deviation of some 0.003.
    assert fit.measures["log_likelihood"] == pytest.approx(due.llf, abs=0.018)
    area = roc_auc_score(y, x @ due.params[1:])
    assert abs(fit.measures["auc"] - area) <= fit.measures["auc_error"] < 0.01


def test_a_penalty_is_that_of_scikit_learn():
    x, y = people(2)
    fit = jointly(x, y, TWO, penalty=3.0)
    due = LogisticRegression(C=1 / 3.0, tol=1e-10, max_iter=10_000).fit(x, y)
    apart = (np.array(fit.values) - due.coef_[0]) / np.array(fit.errors)
    assert np.abs(apart).max() <= fit.measures["approximation"] < 0.05


def test_features_that_separate_the_outcomes_are_named_as_the_reason():
    x, y = people()
    x[:, 1] = np.where(y == 1, 1, -1) * (1 + x[:, 0] / 50)
    with pytest.raises(DataError, match="the features separate the outcomes"):
        jointly(x, y, TWO, steps=3)
    with pytest.raises(DataError, match="more steps are needed"):
        jointly(x, y, TWO, penalty=0.5, steps=2)


def test_what_has_no_model_is_named_before_any_step():
    x, y = people()
    x[:, 2] = x[:, 1] / 10 + 0.5
    with pytest.raises(DataError, match="'w' follows from the other columns"):
        jointly(x, y, TWO)
    with pytest.raises(DataError, match="'y' has the same value in all records"):
        jointly(people()[0], np.ones(N), TWO)
