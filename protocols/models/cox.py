"""Cox's proportional hazards, with Breslow's rule for ties, of records that several parties hold.

Horizontal partition. Cox, "Regression models and life tables" (1972); Breslow's sums for events at
one time; paper 2, fifth article, §4.3, for the purpose. For every joined cell j of the time grid
(`time_grid`), over the records at risk there (whose time lies in j or later), with eta = w'x:

    S0 = sum exp(eta)     S1 = sum x exp(eta)     S2 = sum x x' exp(eta)
    value    = sum_j d_j log S0_j - sum over events of eta
    gradient = sum_j d_j S1_j / S0_j - sum over events of x
    second   = sum_j d_j (S2_j / S0_j - S1_j S1_j' / S0_j²)

where d_j is the number of events in j. That is the model of statsmodels' `PHReg(ties="breslow")` in
which the number of its joined cell stands for each time. The baseline hazard of j is d_j / S0_j.

In: at every party the features, times and events of its own records. Out, at every party:
coefficients with standard errors, and the survival curve of a person whose features are the means.
What each party learns: the joined times, the events of each, the sum of the features of all events,
and S0, S1, S2 of each joined time in every iteration, each over all records at risk. Those at risk
at one time and not at the next are at least `minimum`. Adversary and messages: those of
`pooled_newton` and `time_grid`; (1 + p + p (p + 1) / 2) numbers for each joined cell and iteration.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from coterie.base.arrays import Codes, Floats, Mask, UInt32s
from coterie.base.record_sums import scores, weighted_sums
from coterie.protocols.messaging.opening import declare
from coterie.protocols.models.concordance import (
    Rank,
    bounds_of_classes,
    classes_for,
    counted,
    measured,
)
from coterie.protocols.models.exact_sums import ExactSums
from coterie.protocols.models.pooled_newton import Parts, minimise
from coterie.protocols.models.regression import Fit
from coterie.protocols.models.scale import pooled_scale
from coterie.protocols.models.symmetric import Matrix, Vector, applied, dot, unpacked

EVENTS = declare(
    "regress: events",
    what="The number of events in each joined time, and the sum of each feature over all events.",
    to="every party",
    why="The partial likelihood needs them beside the sums over records at risk.",
)


@dataclass(frozen=True)
class Step:
    """One step of the survival curve of a person whose features are the means."""

    time: float
    events: int
    at_risk: int
    survival: float


def fit_cox(
    sums: ExactSums,
    features: Floats,
    times: Floats,
    events: Floats,
    records: int,
    grid: Sequence[float],
    merged: Callable[[UInt32s], Mask],
    names: Sequence[str],
    penalty: float,
    iterations: int,
    rank: Rank,
) -> tuple[Fit, list[Step]]:
    """The model of all parties' records. `grid` are the ends of cells; later times are cut off.

    `merged` says for each cell whether a joined cell ends with it, from this party's events.
    """
    scale = pooled_scale(sums, features, records, names)
    fine: Codes = np.searchsorted(np.array(grid), times, side="left")
    happened = (events == 1) & (fine < len(grid))
    ends = merged(np.bincount(fine[happened], minlength=len(grid)).astype(np.uint32))
    cell = np.append(np.cumsum(ends) - ends, ends.sum())[fine]  # those cut off come last
    cells = int(ends.sum())
    order = np.argsort(cell, kind="stable")
    x = scale.moved(features)[order]
    ordered = cell[order]
    size = x.shape[1]
    number = np.bincount(cell[happened], minlength=cells)[:cells].astype(np.float64)
    summed = scale.moved(features[happened]).sum(axis=0)
    with sums.channel.step("events"):
        told = sums.channel.open(EVENTS, sums.totals(np.concatenate([number, summed])))
    deaths, pulled = told[:cells], told[cells:]

    def local(at: Floats) -> Floats:
        """S0, S1 and S2 of every joined cell, over this party's records at risk."""
        risk = np.exp(scores(x, at))
        weight = np.bincount(ordered, risk, minlength=cells + 1)
        first, second = weighted_sums(x, risk, risk, ordered, cells + 1)
        found = np.concatenate([weight[:, None], first, second], axis=1)
        return np.cumsum(found[::-1], axis=0)[::-1][:cells].reshape(-1)

    last: list[Vector] = []
    whole: list[Matrix] = []

    def parts(found: Vector, at: Vector) -> Parts:
        width = len(found) // cells
        rows = [found[start : start + width] for start in range(0, len(found), width)]
        last.append([row[0] for row in rows])
        whole.append(unpacked(rows[0][1 + size :], size))
        value = -dot(pulled, at)
        gradient = [-pull for pull in pulled]
        second: Matrix = [[0.0] * size for _ in range(size)]
        for died, row in zip(deaths, rows, strict=True):
            value += died * math.log(row[0])
            mean = [entry / row[0] for entry in row[1 : 1 + size]]
            squares = unpacked(row[1 + size :], size)
            for i in range(size):
                gradient[i] += died * mean[i]
                for j in range(size):
                    second[i][j] += died * (squares[i][j] / row[0] - mean[i] * mean[j])
        return value, gradient, second

    pull: Matrix = [
        [penalty / deviation**2 if i == j else 0.0 for j in range(size)]
        for i, deviation in enumerate(scale.deviations)
    ]
    best = minimise(sums, local, size, pull, iterations, names, parts=parts)
    spread = best.spread()
    fit = Fit(
        None,
        None,
        [value / deviation for value, deviation in zip(best.at, scale.deviations, strict=True)],
        [math.sqrt(max(spread[i][i], 0.0)) / d for i, d in enumerate(scale.deviations)],
        best.evaluations,
        {"log_likelihood": -best.loss},
    )
    # At the first point the sums of the first cell are over all records, each of weight 1.
    square = dot(best.at, applied(whole[0], best.at)) / records
    bounds = bounds_of_classes(0.0, math.sqrt(max(square, 0.0)), classes_for(cells))
    found = scores(x, np.array(best.at))
    high = counted(np.where(happened[order], ordered, -1), found, bounds, cells)
    every = counted(ordered, found, bounds, cells + 1)
    low = np.cumsum(every[::-1], axis=0, dtype=np.uint64)[::-1][1:]
    fit.measures.update(measured("concordance", rank(high, low)))
    return fit, _curve(np.array(grid)[ends].tolist(), deaths, last[0], last[-1])


def _curve(ends: Vector, deaths: Vector, at_risk: Vector, weights: Vector) -> list[Step]:
    """The survival curve, from S0 at the first point, where it counts records, and at the optimum."""
    steps, hazard = [], 0.0
    for end, died, number, weight in zip(ends, deaths, at_risk, weights, strict=True):
        hazard += died / weight
        steps.append(Step(end, round(died), round(number), math.exp(-hazard)))
    return steps
