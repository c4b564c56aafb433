"""The keys of `kind: regress`.

model: logistic             or linear, ridge, svm, cox
outcome: Readmitted         the column to be explained; a cox model has two others instead:
time: Days                  how long a person was observed, and
event: Died                 whether the event ended the observation
grid: {step: 30, end: 720}  the cells in which times are shown, or a list of their ends
features: [Age, Sex]        the columns that explain it
penalty: 0                  on the squares of the coefficients
iterations: 25              the most points at which sums are opened; with vertical partition
                            the number of steps of a logistic model
minimum: 5                  the least records that a sum may be over
noise: {epsilon: 1}         noise of differential privacy (`noisy`)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import get_args

from coterie.jobs.data.numbers import LARGEST, read_number_attributes
from coterie.jobs.file.document import Node, Section
from coterie.jobs.file.job import Common
from coterie.jobs.kinds.models.common import MOST_COLUMNS, ModelJob, fields, read_partition
from coterie.jobs.kinds.models.noisy import check_noise_model, read_model_noise
from coterie.jobs.kinds.statistics.count import read_minimum
from coterie.protocols.models.regression import Model
from coterie.protocols.models.time_grid import even_grid

MODELS: tuple[Model, ...] = get_args(Model)
TWO_VALUED = ("logistic", "svm", "cox")
PENALTY = {"ridge": 1.0, "svm": 1.0}  # as scikit-learn has them; no penalty elsewhere
RECORDS_PER_COEFFICIENT = 3
STEPS_ON_SHARES = 10  # iterations of a logistic model of columns at different parties
MOST_CELLS = 512


@dataclass(frozen=True)
class RegressJob(ModelJob):
    """`outcome` is the event of a Cox model, which alone has a `time`, and perhaps a `grid`."""

    model: Model
    outcome: str
    time: str | None
    grid: tuple[float, ...] | None
    features: tuple[str, ...]
    penalty: float
    iterations: int

    @property
    def binary(self) -> Sequence[str]:
        return (self.outcome,) if self.model in TWO_VALUED else ()

    @property
    def decides(self) -> Sequence[str]:
        return ("grid",)

    @property
    def outcomes(self) -> tuple[str, ...]:
        return (self.outcome,) if self.time is None else (self.outcome, self.time)

    @property
    def least(self) -> int:
        """The fewest records that the job needs."""
        parameters = len(self.columns) + (self.time is None)
        return max(self.minimum, RECORDS_PER_COEFFICIENT * parameters)

    @property
    def columns(self) -> list[str]:
        """The names of the coefficients, in their order."""
        return [column for name in self.features for column in self.attributes[name].columns]


def read_regress(section: Section, common: Common) -> RegressJob:
    """The job that the keys describe; every error names its key."""
    model_node = section.required("model")
    model = MODELS[MODELS.index(model_node.choice(*MODELS))]
    matching, servers = read_partition(section, common)
    survival = model == "cox"
    outcome = section.required("event" if survival else "outcome").text()
    time = section.required("time").text() if survival else None
    node = section.required("features")
    features = tuple(node.texts())
    if not features or len(set(features)) != len(features):
        raise node.error("must be a list of different columns")
    outcomes = [outcome] if time is None else [outcome, time]
    for name in outcomes:
        if name in features:
            raise node.error(f"'{name}' is the outcome, and a feature, too")
    if time == outcome:
        raise node.error(f"'{time}' is both the time and the event")
    attributes = read_number_attributes(
        section,
        common,
        [*features, *outcomes],
        matching is None,
        plain=[name for name in outcomes if name == time or model not in TWO_VALUED],
        binary=[name for name in outcomes if name != time and model in TWO_VALUED],
    )
    if time is not None and attributes[time].limits is None:
        attributes[time] = replace(attributes[time], limits=(0.0, LARGEST))
    job = RegressJob(
        **fields(common, matching=matching, servers=servers, attributes=attributes),
        minimum=read_minimum(section),
        noise=read_model_noise(section, matching is not None),
        model=model,
        outcome=outcome,
        time=time,
        grid=section.read("grid", _read_grid, None) if survival else None,
        features=features,
        penalty=_read_penalty(section, model),
        iterations=_read_iterations(section, model, matching is None),
    )
    if len(set(job.columns)) != len(job.columns) or len(job.columns) > MOST_COLUMNS:
        raise node.error(f"must give at most {MOST_COLUMNS} columns of different names")
    check_noise_model(section.optional("noise"), model)
    if matching is not None:
        _check_vertical(job, model_node)
    return job


def _read_penalty(section: Section, model: Model) -> float:
    node = section.optional("penalty")
    if node is None:
        return PENALTY.get(model, 0.0)
    penalty = node.number(0.0, 1e12)
    if model == "linear":
        raise node.error("a linear model has no penalty; one with a penalty is 'model: ridge'")
    if model in PENALTY and not penalty:
        raise node.error(f"must be above 0 for '{model}'")
    return penalty


def _read_grid(node: Node) -> tuple[float, ...]:
    """The ends of the cells of time: a list, or {step, end}."""
    if node.is_list:
        ends = tuple(item.number(0.0) for item in node.items(MOST_CELLS))
        if not ends or any(low >= high for low, high in pairwise((0.0, *ends))):
            raise node.error("must be times above 0 in ascending order")
        return ends
    section = node.section()
    step, end = (section.required(key).number(0.0) for key in ("step", "end"))
    section.close()
    if not 0 < step <= end or end / step > MOST_CELLS:
        raise node.error(f"must have 1 to {MOST_CELLS} steps")
    return tuple(even_grid(step, end))


def _read_iterations(section: Section, model: Model, horizontal: bool) -> int:
    if model == "logistic" and not horizontal:
        return section.read("iterations", lambda n: n.integer(2, 50), STEPS_ON_SHARES)
    return section.read("iterations", lambda n: n.integer(2, 200), 25)


def _check_vertical(job: RegressJob, node: Node) -> None:
    if job.model in ("svm", "cox"):
        raise node.error(
            f"'{job.model}' needs 'partition: horizontal': with vertical partition only 'linear', "
            "'ridge' and 'logistic' models are computed"
        )
    for name, item in job.attributes.items():
        if item.values is None and item.limits is None and name not in job.binary:
            raise node.error(f"with vertical partition the attribute '{name}' needs a 'range'")
