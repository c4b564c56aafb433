"""`kind: intersect`: each party learns which of its own records all parties have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv

from coterie.base.errors import VerificationError
from coterie.base.text import numbered
from coterie.jobs.data.workspace import Workspace
from coterie.jobs.file.document import Section
from coterie.jobs.file.job import Common, Job
from coterie.jobs.file.result_file import RESULT, Claim, read_rows
from coterie.jobs.kinds.kind import Json, Kind, Verdict
from coterie.jobs.kinds.needs import Answers, Columns, Groups, Needs, matched
from coterie.jobs.matching.common_records import line_up
from coterie.jobs.matching.identifiers import (
    Matching,
    PreparedIdentifiers,
    prepare_identifiers,
    read_matching,
)
from coterie.jobs.pages.charts import overlap
from coterie.jobs.pages.markup import Content, listed
from coterie.jobs.pages.page import Part, note
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.primitives.randomness import Random

KEPT = "common.csv"  # the party's own list of common records


@dataclass(frozen=True)
class IntersectJob(Job):
    matching: Matching


@dataclass(frozen=True)
class Prepared:
    columns: pa.Table
    identifiers: PreparedIdentifiers

    def __len__(self) -> int:
        return len(self.identifiers)


class Intersect(Kind[IntersectJob, Prepared]):
    about = "Each party learns which of its own records all parties hold."
    leaves = ()
    files = ()
    job_type = IntersectJob
    data_type = Prepared

    def parse(self, section: Section, common: Common) -> IntersectJob:
        return IntersectJob(**vars(common), matching=read_matching(section))

    def needs(self, job: IntersectJob, party: str) -> Needs:
        return Needs(
            columns=Columns(),
            matching=matched(job.matching),
            groups=Groups(),
            answers=Answers(exact=False),
        )

    def prepare(self, job: IntersectJob, party: str, table: pa.Table, source: str) -> Prepared:
        # In one chunk, so that the identifiers share its memory instead of copying it.
        columns = table.select(list(job.matching.columns)).combine_chunks()
        return Prepared(columns, prepare_identifiers(job.matching, columns, source))

    def run(
        self,
        job: IntersectJob,
        prepared: Prepared,
        channel: Channel,
        rng: Random,
        workspace: Workspace,
    ) -> dict[str, Any]:
        common = line_up(job, job.matching, prepared.identifiers, channel, rng, workspace, least=0)
        # In the order of the party's own table, because the joint order is useless to a reader.
        table = prepared.columns.take(pa.array(np.sort(common)))
        pacsv.write_csv(table, workspace.kept / KEPT)
        return {"records": len(common)}

    def assemble(self, job: IntersectJob, released: Mapping[str, Path], out: Path) -> Sequence[str]:
        """Writes no files: only the size is released."""
        return []

    def summary(self, job: IntersectJob, result: Claim) -> Sequence[str]:
        return []

    def report(self, job: IntersectJob, result: Claim, folder: Path) -> Sequence[Part]:
        records = result.entry("records").integer(minimum=0)
        whole = job.matching.reveal == "intersection"
        content: list[Content] = [
            note(
                "Each party has the list of its own records that are common, and nothing else of the "
                "other parties'."
                if whole
                else "Beside the list of its common records, a party learns which of its records it "
                "shares with each single other party, since the job says 'reveal: pairwise'."
            ),
            note("Matched by ", listed(job.matching.columns), "."),
        ]
        size = f"{numbered(records, 'record')} {'is' if records == 1 else 'are'} at all {len(job.party_names)} parties."
        return [
            Part(
                "The common records",
                [note(size), *_picture(job.party_names)],
                public=True,
                instead=[
                    note(size),
                    *_picture([f"party {at}" for at, _ in enumerate(job.party_names, 1)]),
                ],
            ),
            Part("How they were matched", content, public=False),
        ]

    def verify(self, job: IntersectJob, result: Claim, folder: Path) -> Verdict:
        records = result.entry("records").integer(minimum=0)
        holds = [f"the number of common records is {records:,}"]
        facts: dict[str, Json] = {"records": records}
        lists = folder / "parties"
        if not lists.is_dir():
            return Verdict(
                holds, ["the lists of common records, which stay with the parties"], facts
            )
        for party in job.party_names:
            path = lists / party / KEPT
            rows = read_list(path, job.matching.columns)
            if rows != records:
                raise VerificationError(f"{path}: has {rows} rows, but {RESULT} says {records}")
        holds.append("the list of each party has as many rows")
        return Verdict(holds, ["which people the lists name"], facts)


def _picture(parties: Sequence[str]) -> list[Content]:
    """The common records as a part of what each party has."""
    return [
        overlap("The common records as a part of each party's records", parties),
        note(
            "The filled pieces are the common records, equally many at each party. How many further "
            "records a party has is not told here: the open pieces have no end."
        ),
    ]


def read_list(path: Path, columns: Sequence[str]) -> int:
    """The number of rows of a party's list, which must have the id columns and no row twice."""
    header, *rows = read_rows(path)
    if header != list(columns):
        raise VerificationError(f"{path}: has the columns {', '.join(header)}, not the job's 'id'")
    if len(set(map(tuple, rows))) < len(rows):
        raise VerificationError(f"{path}: names a record twice")
    return len(rows)


INTERSECT = Intersect()
