"""`kind: regress`: a model of an outcome by features of several parties, from sums.

`regress_job` has the keys. All parties learn the coefficients, their standard errors, and the sums
on the way.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from coterie.base.arrays import Mask, UInt32s, Words
from coterie.base.text import numbered
from coterie.jobs.data.workspace import Workspace
from coterie.jobs.file.document import Section
from coterie.jobs.file.job import Common
from coterie.jobs.file.result_file import Claim
from coterie.jobs.kinds.kind import Verdict
from coterie.jobs.kinds.models.common import (
    JoinedNumbers,
    ModelKind,
    PreparedNumbers,
    begin,
    check_records,
    few_records,
    rounded,
)
from coterie.jobs.kinds.models.noisy import noise_unchecked
from coterie.jobs.kinds.models.regress_job import RegressJob, read_regress
from coterie.jobs.kinds.models.regress_report import report_model
from coterie.jobs.kinds.models.verify_regress import ModelPromise, measures_of, verify_model
from coterie.jobs.kinds.models.vertical_regress import fit_vertically
from coterie.jobs.kinds.statistics.common import UNCHECKED, reported
from coterie.jobs.pages.page import Part
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.models.concordance import ranked
from coterie.protocols.models.cox import Step, fit_cox
from coterie.protocols.models.exact_sums import ExactSums
from coterie.protocols.models.regression import Fit, fit_pooled
from coterie.protocols.models.small_support import all_large, support_counts
from coterie.protocols.models.time_grid import even_grid, longest_power, merged_cells
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.hidden_counts import HiddenCounts

COEFFICIENTS = "coefficients.csv"
_NAMES = {"svm": "support vector", "cox": "survival"}  # of models, where the key does not say it
CELLS = 64  # of the grid if the job names none; the times fill more than half of them


class Regress(ModelKind[RegressJob]):
    about = "A linear, logistic, support vector or survival model, from sums over all records."
    leaves = (COEFFICIENTS,)
    job_type = RegressJob

    def parse(self, section: Section, common: Common) -> RegressJob:
        return read_regress(section, common)

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
            f"a model of {numbered(len(job.columns), 'coefficient')} needs {job.least} of them",
        )
        curve: list[Step] = []
        more: dict[str, Any] = {}
        if job.horizontal:
            fit, curve = _fit_horizontally(job, joined, channel, rng)
        else:
            fit, more = fit_vertically(job, joined, channel, rng)
        return {"records": joined.records, **_as_result(job, fit, curve), **more}

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

    def check(self, job: RegressJob, result: Claim) -> None:
        verify_model(promise_of(job), result)

    def verify(self, job: RegressJob, result: Claim, folder: Path) -> Verdict:
        found = verify_model(promise_of(job), result)
        found.verify_file(folder / COEFFICIENTS)
        unchecked, facts = noise_unchecked(job.noise)
        return Verdict(
            [
                f"a {_NAMES.get(job.model, job.model)} model of "
                f"{numbered(len(job.columns), 'coefficient')} from {found.records:,} records, of "
                f"which the job asks for at least {job.minimum}"
            ],
            [UNCHECKED, *unchecked],
            {"records": found.records, "minimum": job.minimum, **facts},
        )


def _fit_horizontally(
    job: RegressJob, joined: JoinedNumbers, channel: Channel, rng: Random
) -> tuple[Fit, list[Step]]:
    whole = joined.matrix([*job.features, job.outcome])
    features, outcome = whole[:, :-1], whole[:, -1]
    hidden = HiddenCounts(channel, job.party_names, job.servers, rng.fork("decide"))
    turns = iter(range(1 << 30))

    def large(counts: UInt32s) -> bool:
        """Whether each number of records is 0 or at least `minimum`, counted over all parties."""
        with channel.step("small sums"):
            fork = rng.fork(f"counts {next(turns)}")
            return all_large(hidden, job.party_names, counts, job.minimum, fork)

    if not large(support_counts(whole)):
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
                outcome,
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
            outcome,
            joined.records,
            grid,
            merged,
            job.columns,
            job.penalty,
            job.iterations,
            rank,
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
    values = job.attributes[job.outcome].values or ("0", "1")
    return ModelPromise(
        model=job.model,
        outcome=job.outcome,
        columns=tuple(job.columns),
        least=job.least,
        minimum=job.minimum,
        iterations=job.iterations,
        measures=measures_of(job.model, job.horizontal),
        outcomes=(values[0], values[1]) if job.binary else None,
        first_categories={
            name: listed[0] for name in job.features if (listed := job.attributes[name].values)
        },
        time=job.time,
        noise=job.noise,
    )


REGRESS = Regress()
