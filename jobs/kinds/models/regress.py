"""`kind: regress`: a model of an outcome by features of several parties, from sums.

    model: logistic             or linear, ridge, svm, cox
    outcome: Readmitted         the column to be explained; of cox two of them:
    time: Days                  how long a person was observed, and
    event: Died                 whether the event ended it
    grid: {step: 30, end: 720}  the cells by which times are told, or a list of their ends
    features: [Age, Sex]        the columns that explain it
    penalty: 0                  on the squares of the coefficients
    iterations: 25              the most points at which sums are opened
    minimum: 5                  the least records that a sum may be over

All parties learn the coefficients, their standard errors, and the sums on the way.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, get_args

import numpy as np

from coterie.base.arrays import Mask, UInt32s, Words
from coterie.base.errors import DataError
from coterie.jobs.data.numbers import LARGEST, read_number_attributes
from coterie.jobs.data.workspace import Workspace
from coterie.jobs.file.document import Node, Section
from coterie.jobs.file.job import Common
from coterie.jobs.file.result_file import Claim
from coterie.jobs.kinds.kind import Verdict
from coterie.jobs.kinds.models.common import (
    MOST_COLUMNS,
    JoinedNumbers,
    ModelJob,
    ModelKind,
    PreparedNumbers,
    begin,
    check_records,
    fields,
    read_partition,
    rounded,
)
from coterie.jobs.kinds.models.regress_report import report_model
from coterie.jobs.kinds.models.verify_regress import ModelPromise, verify_model
from coterie.jobs.kinds.statistics.common import UNCHECKED, reported
from coterie.jobs.kinds.statistics.count import read_minimum
from coterie.jobs.pages.page import Part
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.models.concordance import ranked
from coterie.protocols.models.cox import Step, fit_cox
from coterie.protocols.models.exact_sums import ExactSums
from coterie.protocols.models.joint_products import fit_linear, in_steps, joint_sums
from coterie.protocols.models.regression import Fit, Model, fit_pooled
from coterie.protocols.models.small_support import all_large, support_counts
from coterie.protocols.models.time_grid import even_grid, longest_power, merged_cells
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.hidden_counts import HiddenCounts
from coterie.protocols.statistics.shared_counts import Transfers

MODELS: tuple[Model, ...] = get_args(Model)
COEFFICIENTS = "coefficients.csv"
TWO_VALUED = ("logistic", "svm", "cox")
PENALTY = {"ridge": 1.0, "svm": 1.0}  # as scikit-learn has them; no penalty elsewhere
RECORDS_PER_COEFFICIENT = 3
CELLS = 64  # of the grid that a job does not name: of them the times fill more than half
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
    def outcomes(self) -> tuple[str, ...]:
        return (self.outcome,) if self.time is None else (self.outcome, self.time)

    @property
    def least(self) -> int:
        """The least records that the job may be about."""
        parameters = len(self.columns) + (self.time is None)
        return max(self.minimum, RECORDS_PER_COEFFICIENT * parameters)

    @property
    def columns(self) -> list[str]:
        """The names of the coefficients, in their order."""
        return [column for name in self.features for column in self.attributes[name].columns]


class Regress(ModelKind[RegressJob]):
    about = "A linear, logistic, support vector or survival model, from sums over all records."
    leaves = (COEFFICIENTS,)
    job_type = RegressJob

    def parse(self, section: Section, common: Common) -> RegressJob:
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
            model=model,
            outcome=outcome,
            time=time,
            grid=section.read("grid", _read_grid, None) if survival else None,
            features=features,
            penalty=_read_penalty(section, model),
            iterations=section.read("iterations", lambda n: n.integer(2, 200), 25),
        )
        if len(set(job.columns)) != len(job.columns) or len(job.columns) > MOST_COLUMNS:
            raise node.error(f"must give at most {MOST_COLUMNS} columns of different names")
        if matching is not None:
            _check_vertical(job, model_node)
        return job

    def run(
        self,
        job: RegressJob,
        prepared: PreparedNumbers,
        channel: Channel,
        rng: Random,
        workspace: Workspace,
    ) -> dict[str, Any]:
        joined = begin(job, prepared, channel, rng, workspace)
        check_records(
            joined.records,
            job.least,
            f"a model of {len(job.columns)} coefficients needs {job.least} of them",
        )
        if job.horizontal:
            fit, curve = _fit_horizontally(job, joined, channel, rng)
        else:
            fit, curve = _fit_vertically(job, joined, channel, rng), []
        return {"records": joined.records, **_as_result(job, fit, curve)}

    def assemble(self, job: RegressJob, released: Mapping[str, Path], out: Path) -> Sequence[str]:
        """Writes the coefficients as a table, beside `result.json`."""
        found = verify_model(promise_of(job), Claim(reported(released)))
        with (out / COEFFICIENTS).open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows(found.table)
        return [COEFFICIENTS]

    def summary(self, job: RegressJob, result: Claim) -> Sequence[str]:
        return verify_model(promise_of(job), result).lines()

    def report(self, job: RegressJob, result: Claim, folder: Path) -> Sequence[Part]:
        return report_model(verify_model(promise_of(job), result))

    def verify(self, job: RegressJob, result: Claim, folder: Path) -> Verdict:
        found = verify_model(promise_of(job), result)
        found.verify_file(folder / COEFFICIENTS)
        return Verdict(
            [
                f"a {job.model} model of {len(job.columns)} coefficients and {found.records:,} records, "
                f"of which there must be {job.minimum}"
            ],
            [UNCHECKED],
            {"records": found.records, "minimum": job.minimum},
        )


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


def _fit_horizontally(
    job: RegressJob, joined: JoinedNumbers, channel: Channel, rng: Random
) -> tuple[Fit, list[Step]]:
    features = joined.matrix(job.features)
    outcome = joined.numbers[job.outcome]
    hidden = HiddenCounts(channel, job.party_names, job.servers, rng.fork("decide"))
    turns = iter(range(1 << 30))

    def large(counts: UInt32s) -> bool:
        """Whether each number of records is 0 or at least `minimum`, counted over all parties."""
        with channel.step("small sums"):
            fork = rng.fork(f"counts {next(turns)}")
            return all_large(hidden, job.party_names, counts, job.minimum, fork)

    if not large(support_counts(np.concatenate([features, outcome], axis=1))):
        raise few_records(job.minimum)

    def rank(high: Words, low: Words) -> tuple[int, int, int]:
        with channel.step("rank"):
            return ranked(channel, job.party_names, job.servers, high, low, rng.fork("rank"))

    sums = ExactSums(channel, job.party_names, rng.fork("sums"))
    if job.time is None:
        with channel.step("fit"):
            fit = fit_pooled(
                sums,
                job.model,
                features,
                outcome[:, 0],
                joined.records,
                [*job.columns, job.outcome],
                job.penalty,
                job.iterations,
                large,
                rank,
            )
        return fit, []
    times = joined.numbers[job.time][:, 0]
    grid = job.grid
    if grid is None:
        longest = float(times.max(initial=0.0))
        end = longest_power(channel, job.party_names, longest, rng.fork("longest"))
        grid = tuple(even_grid(end / CELLS, end))

    def merged(events: UInt32s) -> Mask:
        with channel.step("times"):
            return merged_cells(hidden, job.party_names, events, job.minimum, rng.fork("events"))

    with channel.step("fit"):
        return fit_cox(
            sums,
            features,
            times,
            outcome[:, 0],
            joined.records,
            grid,
            merged,
            job.columns,
            job.penalty,
            job.iterations,
            rank,
        )


def _check_vertical(job: RegressJob, node: Node) -> None:
    if job.model not in ("linear", "ridge"):
        raise node.error(
            f"'{job.model}' needs 'partition: horizontal': with vertical partition only 'linear' and "
            "'ridge' models are computed"
        )
    for name, item in job.attributes.items():
        if item.values is None and item.limits is None:
            raise node.error(f"with vertical partition the attribute '{name}' needs a 'range'")


def _fit_vertically(job: RegressJob, joined: JoinedNumbers, channel: Channel, rng: Random) -> Fit:
    """From scalar products of the parties' columns."""
    limits: list[tuple[float, float]] = []
    held: dict[str, list[int]] = {name: [] for name in job.party_names}
    own: list[str] = []
    for name in [*job.features, job.outcome]:
        item = job.attributes[name]
        for _ in item.columns:
            held[item.party or ""].append(len(limits))
            limits.append(item.limits or (0.0, 1.0))
        if item.party == channel.me:
            own.append(name)
    mine = joined.matrix(own) if own else np.zeros((joined.records, 0))
    ranges = [limits[place] for place in held[channel.me]]
    steps = in_steps(mine, ranges) if own else np.zeros((joined.records, 0), np.int64)
    hidden = HiddenCounts(channel, job.party_names, job.servers, rng.fork("decide"))

    def large(counts: UInt32s) -> bool:
        with channel.step("small sums"):
            return all_large(hidden, job.party_names, counts, job.minimum, rng.fork("counts"))

    with channel.step("products"):
        sums = joint_sums(
            Transfers(channel, rng.fork("transfers")),
            job.party_names,
            held,
            mine,
            steps,
            joined.records,
            large,
            lambda: few_records(job.minimum),
            rng.fork("products"),
        )
    return fit_linear(sums, limits, [*job.columns, job.outcome], job.penalty)


def few_records(minimum: int) -> DataError:
    """The error about sums that would be over a few people."""
    return DataError(
        f"fewer than {minimum} records, but some, have a certain value of one column or certain "
        "values of two: the sums would tell of them. Leave out rare categories and columns that are "
        "0 or 1 for nearly all, or join categories"
    )


def _as_result(job: RegressJob, fit: Fit, curve: Sequence[Step]) -> dict[str, Any]:
    """The fit as `result.json` has it."""

    def number(value: float | None) -> float | None:
        return None if value is None else rounded(value)

    survival = [
        {"time": s.time, "events": s.events, "at_risk": s.at_risk, "survival": rounded(s.survival)}
        for s in curve
    ]
    return {
        "model": job.model,
        "coefficients": {
            name: {"value": number(value), "error": number(error)}
            for name, value, error in zip(job.columns, fit.values, fit.errors, strict=True)
        },
        "intercept": number(fit.intercept),
        "intercept_error": number(fit.intercept_error),
        "iterations": fit.iterations,
        "settled": fit.settled,
        "measures": {name: rounded(value) for name, value in fit.measures.items()},
        **({"survival": survival} if job.time is not None else {}),
    }


def promise_of(job: RegressJob) -> ModelPromise:
    return ModelPromise(
        model=job.model,
        outcome=job.outcome,
        columns=tuple(job.columns),
        least=job.least,
        minimum=job.minimum,
        iterations=job.iterations,
    )


REGRESS = Regress()
