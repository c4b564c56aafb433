"""Checks of a fitted model for `coterie verify`: its form, and what the job promises.

The records stay with the parties, so that nobody can check here whether the coefficients are the
best; what follows from other numbers of the result is computed again.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from coterie.base.errors import VerificationError
from coterie.base.text import numbered
from coterie.jobs.file.result_file import Claim, read_rows
from coterie.jobs.kinds.aggregate.report import promise as noise_in_words
from coterie.jobs.kinds.aggregate.verify_groups import verify_promise
from coterie.protocols.aggregates.noise import Noise

# The measures that each model has.
MEASURES = {
    "linear": ("r_squared", "residual_deviation"),
    "ridge": ("r_squared", "residual_deviation"),
    "logistic": ("log_likelihood", "auc", "auc_error"),
    "svm": ("auc", "auc_error"),
    "cox": ("log_likelihood", "concordance", "concordance_error"),
}
# Those of a logistic model of columns at different parties.
MEASURES_ON_SHARES = ("log_likelihood", "approximation", "auc", "auc_error")


def measures_of(model: str, horizontal: bool) -> tuple[str, ...]:
    """The measures of a model."""
    return MEASURES_ON_SHARES if model == "logistic" and not horizontal else MEASURES[model]


@dataclass(frozen=True)
class ModelPromise:
    """What a job says about its model.

    `outcomes` are the two values of an outcome that has two, the one that counts as 1 second;
    `first_categories` has of each column of categories the value without a coefficient; `time` is
    the column of times of a survival model.
    """

    model: str
    outcome: str
    columns: tuple[str, ...]
    least: int
    minimum: int
    iterations: int
    measures: tuple[str, ...]
    outcomes: tuple[str, str] | None = None
    first_categories: Mapping[str, str] = field(default_factory=dict)
    time: str | None = None
    noise: Noise | None = None


@dataclass(frozen=True)
class ClaimedModel:
    """A model as a result claims it, after its form has been checked."""

    promise: ModelPromise
    records: int
    values: Sequence[float]
    errors: Sequence[float | None]
    intercept: float | None
    intercept_error: float | None
    iterations: int
    measures: dict[str, float]
    settled: bool
    survival: Sequence[tuple[float, float]] = ()  # time and share

    @property
    def rows(self) -> list[tuple[str, float, float | None]]:
        """Name, value and error of each coefficient, the intercept last."""
        rows = list(zip(self.promise.columns, self.values, self.errors, strict=True))
        if self.intercept is not None:
            rows.append(("intercept", self.intercept, self.intercept_error))
        return rows

    @property
    def table(self) -> list[list[str]]:
        """The rows of the file of coefficients."""
        head = ["column", "value", "standard error"]
        return [head, *([n, str(v), "" if e is None else str(e)] for n, v, e in self.rows)]

    def verify_file(self, path: Path) -> None:
        """Checks that the file has what the result has."""
        if read_rows(path) != self.table:
            raise VerificationError(f"{path}: has other coefficients than result.json")

    def coarsened(self) -> str:
        """How coarse the times of a survival model are, by the classes of its curve."""
        starts = [0.0, *(time for time, _ in self.survival)]
        widest = max(itertools.pairwise(starts), key=lambda ends: ends[1] - ends[0])
        return (
            f"Times were joined into {numbered(len(self.survival), 'cell')}, the widest "
            f"from {widest[0]:g} to {widest[1]:g}: coefficients differ from those of exact times. A "
            "'grid' with finer steps changes the cells, as far as each keeps the minimum of events."
        )

    def lines(self) -> list[str]:
        """The model in a few lines for a person."""
        fit = ", ".join(
            f"{name.replace('_', ' ')} {value:.4g}" for name, value in self.measures.items()
        )
        first = (
            f"{self.promise.model} model of {self.promise.outcome}, {self.iterations} iterations"
        )
        if not self.settled:
            first += ", not settled: stopped one step early, since fewer than `minimum` records would have decided it"
        return [
            f"{first}: {fit}" if fit else first,
            *([self.coarsened()] if self.survival else []),
            *([noise_in_words(self.promise.noise)] if self.promise.noise else []),
            *(
                f"  {name}: {value:.6g}"
                + ("" if error is None else f" (standard error {error:.3g})")
                for name, value, error in self.rows
            ),
        ]


def verify_model(promise: ModelPromise, result: Claim) -> ClaimedModel:
    """The model of a result; raises if it is not one that the job asks for."""
    records = result.entry("records").integer(minimum=promise.least)
    model = result.entry("model")
    if model.text() != promise.model:
        raise model.error(f"must be {promise.model}")
    claim = result.entry("coefficients")
    given = claim.entries()
    if list(given) != list(promise.columns):
        raise claim.error(f"must be those of {', '.join(promise.columns)}, in this order")
    certain = promise.model != "svm" and promise.noise is None
    if promise.noise is not None:
        verify_promise(promise.noise, result.entry("noise"))
    values = [entry.entry("value").number() for entry in given.values()]
    errors = [_error(entry.entry("error"), certain) for entry in given.values()]
    intercept = intercept_error = None
    if promise.model == "cox":
        _absent(result.entry("intercept"))
    else:
        intercept = result.entry("intercept").number()
        intercept_error = _error(result.entry("intercept_error"), certain)
    iterations = result.entry("iterations").integer(minimum=1)
    if iterations > promise.iterations:
        raise result.entry("iterations").error(f"the job allows {promise.iterations}")
    measures = {name: result.entry("measures").entry(name).number() for name in promise.measures}
    _check_measures(result.entry("measures"), measures)
    settled = result.entry("settled")
    if settled.value is not True and (settled.value is not False or promise.model != "svm"):
        raise settled.error("must be true")
    return ClaimedModel(
        promise,
        records,
        values,
        errors,
        intercept,
        intercept_error,
        iterations,
        measures,
        bool(settled.value),
        _survival(promise, records, result) if promise.model == "cox" else (),
    )


def _survival(promise: ModelPromise, records: int, result: Claim) -> list[tuple[float, float]]:
    """The survival curve: times grow, numbers at risk and shares fall, events are never few."""
    curve: list[tuple[float, float]] = []
    before, last_risk, last_time = 1.0, records, 0.0
    for step in result.entry("survival").items():
        time, share = step.entry("time").number(), step.entry("survival").number()
        events = step.entry("events").integer(minimum=promise.minimum)
        at_risk = step.entry("at_risk").integer(minimum=events)
        if not time > last_time or at_risk > last_risk or not 0 <= share <= before:
            raise step.error("must come after the steps before it, with no more people")
        before, last_risk, last_time = share, at_risk - events, time
        curve.append((time, share))
    if not curve:
        raise result.entry("survival").error("has no step")
    return curve


def _error(claim: Claim, certain: bool) -> float | None:
    if not certain:
        _absent(claim)
        return None
    error = claim.number()
    if error < 0:
        raise claim.error("a standard error is not below zero")
    return error


def _absent(claim: Claim) -> None:
    if claim.value is not None:
        raise claim.error("this model has none")


def _check_measures(claim: Claim, measures: dict[str, float]) -> None:
    for name, low, high in (
        ("r_squared", -math.inf, 1 + 1e-9),
        ("residual_deviation", 0, math.inf),
        ("log_likelihood", -math.inf, 1e-9),
        ("auc", 0, 1),
        ("auc_error", 0, 0.5),
        ("approximation", 0, math.inf),
        ("concordance", 0, 1),
        ("concordance_error", 0, 0.5),
    ):
        if name in measures and not low <= measures[name] <= high:
            raise claim.entry(name).error(f"must be between {low:g} and {high:g}")
