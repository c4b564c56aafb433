"""Cox models from sums beside statsmodels on the same joined times."""

import numpy as np
import pytest

from coterie.protocols.messaging.memory import run_parties
from coterie.protocols.models.concordance import ranked
from coterie.protocols.models.cox import fit_cox
from coterie.protocols.models.exact_sums import ExactSums
from coterie.protocols.primitives.randomness import Random

statsmodels = pytest.importorskip("statsmodels.api", reason="statsmodels is not installed")
NAMES = ("a", "b", "c")
N = 150


def records(seed=3):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(N, 3)) * [1, 30, 0.1] + [0, 400, 1]
    due = rng.exponential(np.exp(-0.5 * x[:, 0] - 0.02 * (x[:, 1] - 400))) * 50
    end = rng.uniform(5, 120, N)
    return x, np.minimum(due, end), (due <= end).astype(float)


def fitted(x, times, events, grid, ends, penalty=0.0):
    parts = dict(zip(NAMES, np.array_split(np.arange(len(x)), 3), strict=True))

    def party(name):
        def run(channel):
            sums, mine = ExactSums(channel, NAMES, Random(name)), parts[name]
            return fit_cox(
                sums, x[mine], times[mine], events[mine], len(x), grid, lambda e: ends, "uvw", penalty,
                25, lambda *counts: ranked(channel, NAMES, ("a", "b"), *counts, Random(f"{name} r")),
            )  # fmt: skip

        return run

    found = run_parties({name: party(name) for name in NAMES})
    assert found["a"] == found["b"] == found["c"]
    return found["a"]


GRID = list(range(5, 101, 5))
ENDS = np.array([True] * 10 + [False, True] * 5)


def reference(x, times, events, grid):
    cell = np.searchsorted(grid, times)
    happened = events * (cell < len(grid))
    return cell, happened, statsmodels.PHReg(cell.astype(float), x, happened, ties="breslow").fit(disp=0)  # fmt: skip


def test_the_model_is_that_of_statsmodels_with_ties_and_people_beyond_the_grid():
    x, times, events = records()
    events[np.argmax(times)] = 1  # an event beyond the last time is not seen
    fit, curve = fitted(x, times, events, GRID, ENDS)
    cell, happened, due = reference(x, times, events, np.array(GRID)[ENDS])
    np.testing.assert_allclose(fit.values, due.params, rtol=1e-6)
    np.testing.assert_allclose(fit.errors, due.bse, rtol=1e-6)
    assert fit.measures["log_likelihood"] == pytest.approx(due.llf)
    assert fit.intercept is None
    assert [step.at_risk for step in curve] == [(cell >= j).sum() for j in range(15)]
    assert [step.events for step in curve] == [happened[cell == j].sum() for j in range(15)]
    hazard, weight = 0.0, np.exp((x - x.mean(0)) @ due.params)
    for j, step in enumerate(curve):
        hazard += step.events / weight[cell >= j].sum()
        assert step.survival == pytest.approx(np.exp(-hazard), rel=1e-6)


def test_the_concordance_is_that_of_all_pairs_within_the_ties():
    x, times, events = records()
    fit, _ = fitted(x, times, events, GRID, ENDS)
    cell, happened, due = reference(x, times, events, np.array(GRID)[ENDS])
    score = x @ due.params
    right = pairs = 0.0
    for i in np.flatnonzero(happened):
        later = cell > cell[i]
        right += (score[i] > score[later]).sum()
        pairs += later.sum()
    assert abs(fit.measures["concordance"] - right / pairs) <= fit.measures["concordance_error"]
    assert fit.measures["concordance_error"] < 0.01


def test_all_censored_at_the_last_time_is_no_trouble():
    x, times, events = records()
    events[times > 95] = 0
    times = np.minimum(times, 100.0)
    fit, _ = fitted(x, times, events, GRID, ENDS)
    np.testing.assert_allclose(
        fit.values, reference(x, times, events, np.array(GRID)[ENDS])[2].params, rtol=1e-6
    )


def test_a_penalty_draws_the_coefficients_to_zero():
    x, times, events = records()
    sizes = [abs(fitted(x, times, events, GRID, ENDS, p)[0].values[0]) for p in (0.0, 10.0, 1000.0)]
    assert sizes[0] > sizes[1] > sizes[2]
