"""Logistic models of columns that several parties hold of the same people, by steps on shares.

Vertical partition, after the intersection and the sums of products (`joint_products`), which give
everybody means and deviations of all columns, X'X and X'y of the columns so scaled. What is left of
the gradient X'(y - s(Xw)) is X's(Xw), with s the sigmoid. Two servers hold shares of the weights w:

1. Start: the public w = M (X'y - X'1/2), where M is the inverse of X'X/4 and the penalty, a bound of
   the second derivatives everywhere (Böhning and Lindsay, 1988).
2. A fixed number of steps w + 1.5 M X'(y - s(Xw)), as shares: the scores Xw by products of each
   party's columns with the shares of its weights (`server_products`), the sigmoid by a series of
   sines (`periodic`, to 0.0073), the gradient by products of each party's columns with the shares
   of the sigmoid, and the step scaled by a garbled circuit for each weight (`scaling`).
3. The weights are opened. At these public weights the servers get shares of each score from the
   parties' own parts; a garbled circuit tells one bit, whether all scores lie within 12 of zero,
   where the series (now to 3e-5) are close; then gradient, second derivatives and the value are
   computed as shares, summed over the records, and opened. Everybody takes one Newton step from
   them, which makes the error of the steps on shares quadratically smaller.
4. Scores at the coefficients are put into classes on shares, and the number of pairs of records
   that they rank rightly is opened (`joint_concordance`).

The computation on shares is `shared_logistic`.

In: at every party its own columns. Out, at every party: the coefficients of the model, their standard
errors, the log likelihood, the area under the ROC curve, and a bound of how far a coefficient is from
that of the exact model of the columns (in standard errors): the error of the series and of roundings
times the inverse of the second derivatives, and what a Newton step of its size leaves.

What each party learns: the sums of `joint_products`, and the openings of `shared_logistic` and
`concordance`; nothing of a single step or record. The opened values are kept answers
(`Channel.once`): after an interruption none of them is computed or opened again. Adversary:
semi-honest; the servers must not collude.

Messages and cost for n records and p columns: in each step some 160 n transfers of 24 bytes for the
sigmoid, 64 n with 8 p bytes each for the gradient, and 40 p with 5 n bytes each for the scores; at the
end 370 n of 40 bytes and 64 n p with 8 p bytes each, and some 20 kB for each record for the ranking.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from coterie.base.errors import DataError
from coterie.protocols.models.concordance import measured
from coterie.protocols.models.joint_products import Moments
from coterie.protocols.models.pooled_newton import NoOptimumError, Optimum, Slope
from coterie.protocols.models.regression import Fit, in_units
from coterie.protocols.models.shared_logistic import FAR, FINE, WEIGHT, Columns, SharedLogistic
from coterie.protocols.models.symmetric import (
    Factored,
    SingularError,
    Vector,
    added,
    applied,
    dot,
)
from coterie.protocols.numbers import periodic
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.hidden_counts import HiddenCounts
from coterie.protocols.statistics.shared_counts import Transfers

MOST_RECORDS = 500_000  # so that sums stay below 2^63


def fit_logistic(
    transfers: Transfers,
    hidden: HiddenCounts,
    names: Sequence[str],
    columns: Columns,
    moments: Moments,
    column_names: Sequence[str],
    penalty: float,
    steps: int,
    rng: Random,
) -> Fit:
    """The model of the last column of `moments`, which is 0 or 1, by those before it."""
    if moments.records > MOST_RECORDS:
        raise DataError(
            f"{moments.records:,} records are more than the {MOST_RECORDS:,} that a logistic model of "
            "columns at different parties takes"
        )
    work = SharedLogistic(transfers, hidden, names, columns, moments, penalty, rng)
    _check_start(moments, work, column_names)
    channel = transfers.channel
    with channel.step("steps"):
        found = channel.once("coefficients", lambda: work.steps(steps))
    weights = [whole / WEIGHT for whole in found.tolist()]
    with channel.step("last step"):
        inside = channel.once("range", lambda: work.inside(weights))
        if not inside:
            raise NoOptimumError(
                "the scores of some records are beyond what the sigmoid is computed for, because "
                "the features separate the outcomes (or nearly), or a value is far from all others: "
                "leave out the feature that does, or set a 'penalty'"
            )
        sums = channel.once("slope", lambda: work.slope(weights))
        return _finish(work, moments, weights, work.read(weights, sums.tolist()), steps)


def _check_start(moments: Moments, work: SharedLogistic, names: Sequence[str]) -> None:
    *_, outcome = names
    if not 0 < moments.means[-1] < 1:
        raise DataError(f"the column '{outcome}' has the same value in all records")
    try:
        work.start()
    except SingularError as error:
        raise NoOptimumError(
            f"the column '{names[error.at - 1]}' follows from the other columns: leave it out, or "
            "set a 'penalty'"
        ) from None


def _finish(
    work: SharedLogistic, moments: Moments, weights: Vector, here: Slope, steps: int
) -> Fit:
    """The last step, in plain arithmetic that is the same at every party."""
    second = here.second
    down = [-g - p * w for g, p, w in zip(here.gradient, work.pull, weights, strict=True)]
    pulled = [[p if i == j else 0.0 for j in range(len(down))] for i, p in enumerate(work.pull)]
    try:
        factored = Factored(added(second, pulled))
    except SingularError:
        raise _unsettled(steps, any(work.pull)) from None
    step = factored.solve(down)
    reaches = [1.0, *moments.reaches()]
    change = sum(abs(s) * reach for s, reach in zip(step, reaches, strict=True))
    if change > FAR:
        change = FAR
        near = work.channel.once("near", lambda: work.near(step))
        if not near:
            raise _unsettled(steps, any(work.pull))
    at = [a + b for a, b in zip(weights, step, strict=True)]
    loss = here.loss + dot(here.gradient, step) + dot(step, applied(second, step)) / 2
    best = Optimum(at, loss, second, factored, second, steps)
    fit = in_units("logistic", best, work.scale, 0.0, 1.0, work.records)
    wrong = periodic.SIGMOID.error + 6 * periodic.NOISE / math.sqrt(work.records) + 0.5 / FINE
    wrong += periodic.SLOPE.error * sum(map(abs, step))
    left = math.expm1(change) * math.sqrt(max(dot(step, down), 0.0))
    spread = best.spread()
    bounds = [
        (wrong * work.records * sum(map(abs, row)) + left * math.sqrt(row[i]))
        / math.sqrt(spread[i][i])
        for i, row in enumerate(factored.inverse())
    ]
    fit.measures["approximation"] = max(bounds[1:])
    with work.channel.step("rank"):
        right, ties, pairs = work.channel.once("ranked", lambda: list(work.ranked(at)))
    fit.measures.update(measured("auc", (right, ties, pairs)))
    return fit


def _unsettled(steps: int, pulled: bool) -> NoOptimumError:
    if pulled:
        return NoOptimumError(
            f"no optimum after {steps} steps on shares: more steps are needed ('iterations'), or a "
            "larger 'penalty'"
        )
    return NoOptimumError(
        f"no optimum after {steps} steps on shares: the features separate the outcomes (or nearly; "
        "leave out the feature that does, or set a 'penalty'), or more steps are needed "
        "('iterations')"
    )
