"""Linear, logistic and support vector models of records that several parties hold, from sums.

Horizontal partition: every party has the same columns of different people. Paper 2, fifth article,
for the purpose; for the models, textbook formulas. With eta = b + w'x for each record:

    linear, ridge   sum (y - eta)² / 2                        + penalty/2 |w|²
    logistic        sum log(1 + exp(eta)) - y eta, y in 0, 1   + penalty/2 |w|²
    svm             sum max(0, 1 - s eta)², s in -1, 1         + penalty/2 (|w|² + b²)

which is scikit-learn's `Ridge(alpha=penalty)`, `LogisticRegression(C=1/penalty)` and
`LinearSVC(loss="squared_hinge", C=1/penalty)`.

In: at every party the matrix of its features and its outcomes. Out, at every party: coefficients,
their standard errors, and measures of fit. The features are first moved and scaled by the mean and
the standard deviation of all records: sums of squares of dates or of incomes would otherwise lose
all their digits. Opening these reveals nothing more, since the second derivatives at the first point
give the same means and deviations.

Standard errors are the square roots of the diagonal of A^-1 S A^-1, where S is the information of
the records and A = S + penalty; without penalty that is S^-1. For linear models S is divided by the
variance of the residuals, of n - p - 1 degrees of freedom. A support vector machine has no
likelihood, hence no standard errors.

The sums of a support vector machine are over the records on the wrong side of their margin only.
Between two iterations a single record may change sides, and the difference of the sums would be
that record. So the sums of an iteration are opened only if, compared with each earlier one, none or
at least `minimum` records have changed sides, which two servers decide on shares. Otherwise the
search ends with the step that has been computed, and the result says that it is not `settled`.

Adversary, messages and cost: those of `pooled_newton`; two more sums of p numbers for the scale.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from coterie.base.arrays import Floats, Mask, UInt32s
from coterie.base.errors import DataError
from coterie.base.record_sums import scores, weighted_sums
from coterie.protocols.models.concordance import (
    Rank,
    bounds_of_classes,
    classes_for,
    counted,
    measured,
)
from coterie.protocols.models.exact_sums import ExactSums
from coterie.protocols.models.pooled_newton import Optimum, Slope, minimise
from coterie.protocols.models.scale import Scale, in_rows, pooled_scale
from coterie.protocols.models.symmetric import Matrix, Vector, applied, dot, product

Model = Literal["linear", "ridge", "logistic", "svm", "cox"]


@dataclass(frozen=True)
class Fit:
    """A model in the features' own units. A model without intercept or errors has None there."""

    intercept: float | None
    intercept_error: float | None
    values: Vector
    errors: list[float | None]
    iterations: int
    measures: dict[str, float]
    settled: bool = True


def fit_pooled(
    sums: ExactSums,
    model: Model,
    features: Floats,
    outcome: Floats,
    records: int,
    names: Sequence[str],
    penalty: float,
    iterations: int,
    unlike: Callable[[UInt32s], bool],
    rank: Rank,
) -> Fit:
    """The model of all parties' records, `names` those of the features, then that of the outcome.

    The outcome is 0 or 1 unless the model is linear or ridge. `unlike` says whether all parties'
    counts, of which it is given this party's, are each 0 or large; `rank` is `concordance.ranked`.
    """
    *names, outcome_name = names
    scale = pooled_scale(sums, features, records, names)
    linear = model in ("linear", "ridge")
    level, unit = 0.0, 1.0
    if linear:
        by = pooled_scale(sums, outcome[:, None], records, [outcome_name], "column")
        level, unit = by.means[0], by.deviations[0]
    x = np.ones((len(features), 1 + features.shape[1]))
    scale.moved(features, x[:, 1:])
    y = (outcome - level) / unit
    size = x.shape[1]

    def local(at: Floats) -> Floats:
        found = np.zeros(1 + size + size * (size + 1) // 2)
        for rows in in_rows(len(x)):
            part = x[rows]
            loss, slope, weight = _LOSSES[model](scores(part, at), y[rows])
            first, second = weighted_sums(part, slope, weight)
            found += np.concatenate([[loss.sum()], first[0], second[0]])
        return found

    sides: list[Mask] = []

    def may_open(at: Floats) -> bool:
        """Whether no earlier sums are over nearly the same records."""
        sides.append((2 * y - 1) * scores(x, at) < 1)
        changed = [np.count_nonzero(sides[-1] != side) for side in sides[:-1]]
        return not changed or unlike(np.array(changed, np.uint32))

    def check(start: Slope) -> None:
        """Refuses an outcome of one value: half of the records less the ones are half of them."""
        if not linear and abs(start.gradient[0]) >= _EACH[model] * records:
            raise DataError(
                f"the column '{outcome_name}' has the same value in all records of all parties: "
                "there is nothing to explain"
            )

    pull = _penalty(scale, penalty, intercept=model == "svm")
    best = minimise(
        sums,
        local,
        size,
        pull,
        iterations,
        ["intercept", *names],
        may_open if model == "svm" else lambda at: True,
        check=check,
    )
    fit = in_units(model, best, scale, level, unit, records)
    if not linear:
        # At the first point the second derivatives are this multiple of the sum of all x x'.
        times = 0.25 if model == "logistic" else 2.0
        square = dot(best.at, applied(best.start, best.at)) / times / records
        deviation = math.sqrt(max(square - best.at[0] ** 2, 0.0))
        bounds = bounds_of_classes(best.at[0], deviation, classes_for(1))
        found = scores(x, np.array(best.at))
        high, low = (counted(np.where(y == due, 0, -1), found, bounds, 1) for due in (1, 0))
        fit.measures.update(measured("auc", rank(high, low)))
    return fit


def _squares(eta: Floats, y: Floats) -> tuple[Floats, Floats, Floats]:
    rest = eta - y
    return rest * rest / 2, rest, np.ones_like(eta)


def _logistic(eta: Floats, y: Floats) -> tuple[Floats, Floats, Floats]:
    small: Floats = np.exp(-np.abs(eta))
    chance = np.where(eta >= 0, 1, small) / (1 + small)
    loss = np.maximum(eta, 0) + np.log1p(small) - y * eta
    return loss, chance - y, small / (1 + small) ** 2


def _squared_hinge(eta: Floats, y: Floats) -> tuple[Floats, Floats, Floats]:
    sign = 2 * y - 1
    short: Floats = np.maximum(0, 1 - sign * eta)
    return short * short, -2 * sign * short, 2 * (short > 0).astype(np.float64)


_LOSSES = {
    "linear": _squares,
    "ridge": _squares,
    "logistic": _logistic,
    "svm": _squared_hinge,
}
# What a record adds to the first slope, at coefficients of zero: plus or minus this.
_EACH = {"logistic": 0.5, "svm": 2.0}


def raw_parts(scale: Scale) -> Matrix:
    """The matrix from coefficients of the scaled features to those of the features' own units."""
    size = len(scale.means) + 1
    found = [[float(i == j) for j in range(size)] for i in range(size)]
    for at, (mean, deviation) in enumerate(zip(scale.means, scale.deviations, strict=True), 1):
        found[at][at] = 1 / deviation
        found[0][at] = -mean / deviation
    return found


def _penalty(scale: Scale, penalty: float, intercept: bool) -> Matrix:
    """The penalty on coefficients in the features' own units, for those of the scaled features."""
    parts = raw_parts(scale)
    kept = parts if intercept else parts[1:]
    turned = [list(column) for column in zip(*kept, strict=True)]
    return [[penalty * entry for entry in row] for row in product(turned, kept)]


def in_units(
    model: Model, best: Optimum, scale: Scale, level: float, unit: float, records: int
) -> Fit:
    """The optimum in the features' own units, with standard errors and measures of fit."""
    parts = raw_parts(scale)
    values = [unit * value for value in applied(parts, best.at)]
    measures: dict[str, float] = {}
    noise = 1.0
    if model in ("linear", "ridge"):
        left = 2 * best.loss
        measures["r_squared"] = 1 - left / records
        noise = unit * unit * left / (records - len(values))
        measures["residual_deviation"] = math.sqrt(max(noise, 0.0))
    elif model == "logistic":
        measures["log_likelihood"] = -best.loss
    errors: list[float | None] = [None] * len(values)
    if model != "svm":
        spread = product(parts, best.spread())
        for at, (row, part) in enumerate(zip(spread, parts, strict=True)):
            square = noise * sum(a * b for a, b in zip(row, part, strict=True))
            errors[at] = math.sqrt(max(square, 0.0))
    return Fit(
        level + values[0],
        errors[0],
        values[1:],
        errors[1:],
        best.evaluations,
        measures,
        best.settled,
    )
