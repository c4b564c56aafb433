"""`kind: intersect`: each party learns which of its own records all parties hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv

from coterie.jobs.data.workspace import Workspace
from coterie.jobs.file.document import Section
from coterie.jobs.file.job import Common, Job
from coterie.jobs.kinds.kind import Columns
from coterie.jobs.matching.common_records import line_up
from coterie.jobs.matching.identifiers import (
    Matching,
    PreparedIdentifiers,
    prepare_identifiers,
    read_matching,
)
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.primitives.randomness import Random


@dataclass(frozen=True)
class IntersectJob(Job):
    matching: Matching


@dataclass(frozen=True)
class Prepared:
    columns: pa.Table
    identifiers: PreparedIdentifiers

    def __len__(self) -> int:
        return len(self.identifiers)


class Intersect:
    def parse(self, section: Section, common: Common) -> IntersectJob:
        return IntersectJob(**vars(common), matching=read_matching(section))

    def columns(self, job: IntersectJob, party: str) -> Columns:
        return Columns(used=job.matching.columns)

    def smallest_k(self, job: IntersectJob) -> int | None:
        return None

    def prepare(self, job: IntersectJob, party: str, table: pa.Table, source: str) -> Prepared:
        # In one piece, which the identifiers then share instead of copying.
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
        common = line_up(job, job.matching, prepared.identifiers, channel, rng, workspace)
        # In the order of the party's own table: the joint order is of no use to a reader.
        table = prepared.columns.take(pa.array(np.sort(common)))
        pacsv.write_csv(table, workspace.kept / "common.csv")
        return {"records": len(common)}

    def assemble(self, job: IntersectJob, released: Mapping[str, Path], out: Path) -> None:
        """Nothing is released but the size."""


INTERSECT = Intersect()
