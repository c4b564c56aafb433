"""`kind: intersect`: each party learns which of its own records all parties hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

from coterie.errors import DataError
from jobs.document import Section
from jobs.kind import Columns, Workspace
from jobs.model import Common, Job
from protocols.channel import Channel
from protocols.intersect import intersect
from protocols.randomness import Random


@dataclass(frozen=True)
class IntersectJob(Job):
    id: str


@dataclass(frozen=True)
class Prepared:
    column: pa.ChunkedArray
    identifiers: list[bytes]


class Intersect:
    def parse(self, section: Section, common: Common) -> IntersectJob:
        return IntersectJob(**vars(common), id=section.required("id").text())

    def columns(self, job: IntersectJob, party: str) -> Columns:
        return Columns(used=(job.id,))

    def smallest_k(self, job: IntersectJob) -> int | None:
        return None

    def prepare(self, job: IntersectJob, party: str, table: pa.Table, source: str) -> Prepared:
        column = table.column(job.id)
        if column.null_count:
            row = pc.index(pc.is_null(column), True).as_py()
            raise DataError(f"{source}: row {row + 1}: column '{job.id}' is empty")
        seen: dict[str, int] = {}
        for row, value in enumerate(column.to_pylist()):
            first = seen.setdefault(value, row)
            if first != row:
                raise DataError(
                    f"{source}: row {row + 1}: column '{job.id}' repeats row {first + 1}"
                )
        return Prepared(column, [value.encode() for value in seen])

    def run(
        self,
        job: IntersectJob,
        prepared: Prepared,
        channel: Channel,
        rng: Random,
        workspace: Workspace,
    ) -> dict[str, Any]:
        common = intersect(channel, job.party_names, prepared.identifiers, rng)
        table = pa.table({job.id: prepared.column.take(sorted(common.tolist()))})
        pacsv.write_csv(table, workspace.kept / "common.csv")
        return {"records": len(common)}

    def assemble(self, job: IntersectJob, released: Mapping[str, Path], out: Path) -> None:
        """Nothing is released but the size."""


INTERSECT = Intersect()
