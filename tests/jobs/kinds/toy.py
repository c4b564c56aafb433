"""A kind of job from outside the package: the total of one column over all parties.

It is what a stranger would write: one file, which knows nothing but what `jobs.kinds.kind` says.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from coterie.base.errors import DataError
from coterie.jobs.data.workspace import Workspace
from coterie.jobs.file.document import Section
from coterie.jobs.file.job import Common, Job
from coterie.jobs.file.result_file import Claim
from coterie.jobs.kinds.kind import Json, Kind, Verdict
from coterie.jobs.kinds.needs import ANY_CLASSES, Answers, Columns, Groups, Matched, Needs
from coterie.jobs.pages.page import Part, note
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.messaging.opening import Opening
from coterie.protocols.multiparty.secure_sum import SecureSum
from coterie.protocols.primitives.randomness import Random

# A kind in the package would say `declare(...)`; this one is declared while its tests run.
TOTAL = Opening(
    "total: total",
    what="How many records all parties have, and the total of the column.",
    to="every party",
    why="It is the result.",
)


@dataclass(frozen=True)
class TotalJob(Job):
    column: str
    minimum: int
    unit: str


@dataclass(frozen=True)
class Numbers:
    values: tuple[int, ...]


class Total(Kind[TotalJob, Numbers]):
    about = "The total of a column over all parties."
    files = ("unit",)
    leaves = ("total.csv",)
    job_type = TotalJob
    data_type = Numbers

    def parse(self, section: Section, common: Common) -> TotalJob:
        column = section.required("column").text()
        minimum = section.required("minimum").integer(minimum=1)
        unit = common.files[section.required("unit").text()].decode().strip()
        return TotalJob(**vars(common), column=column, minimum=minimum, unit=unit)

    def needs(self, job: TotalJob, party: str) -> Needs:
        return Needs(
            columns=Columns(used=(job.column,), released=(job.column,)),
            matching=Matched(),
            groups=Groups(smallest=job.minimum),
            answers=Answers(counted={job.column: ANY_CLASSES}, exact=False),
        )

    def prepare(self, job: TotalJob, party: str, table: pa.Table, source: str) -> Numbers:
        values = tuple(int(text) for text in table.column(job.column).to_pylist())
        if len(values) < job.minimum:
            raise DataError(f"{source}: has fewer than {job.minimum} records")
        return Numbers(values)

    def run(
        self, job: TotalJob, prepared: Numbers, channel: Channel, rng: Random, workspace: Workspace
    ) -> Mapping[str, Json]:
        own = np.array([len(prepared.values), sum(prepared.values)], np.uint64)
        with channel.step("total"):
            sums = SecureSum(channel, job.party_names, rng.fork("total")).modular(own)
            records, total = channel.open(TOTAL, sums)
        return {"records": int(records), "total": int(total)}

    def assemble(self, job: TotalJob, released: Mapping[str, Path], out: Path) -> Sequence[str]:
        summary = json.loads((next(iter(released.values())) / "summary.json").read_text())
        (out / "total.csv").write_text(f"{job.unit}\n{summary['result']['total']}\n")
        return ["total.csv"]

    def summary(self, job: TotalJob, result: Claim) -> Sequence[str]:
        return [f"{result.entry('total').integer()} {job.unit}"]

    def report(self, job: TotalJob, result: Claim, folder: Path) -> Sequence[Part]:
        return [Part("The total", [note(str(result.entry("total").integer()))], public=True)]

    def verify(self, job: TotalJob, result: Claim, folder: Path) -> Verdict:
        total = result.entry("total").integer(minimum=0)
        with (folder / "total.csv").open() as file:
            if list(csv.reader(file)) != [[job.unit], [str(total)]]:
                raise result.entry("total").error("total.csv says something else")
        least = job.minimum * len(job.party_names)
        records = result.entry("records").integer(minimum=least)
        return Verdict([f"a total of {records} records"], ["the records"], {"records": records})


class Silent(Total):
    """The same kind, which declares nothing of what it needs."""

    def needs(self, job: TotalJob, party: str) -> Needs:
        return None  # type: ignore[return-value]
