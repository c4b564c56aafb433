"""What the party does that holds the population of an integrate job: count, and say yes or no.

Its columns have the names of the attributes in entries with `k_map`, and the values that the job
permits these attributes; it has one row for each person. Nothing of its table is released.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from coterie.anonymity.specialization.specialize import warm_up
from coterie.anonymity.specialization.universe import Universe
from coterie.base.errors import DataError
from coterie.jobs.data.missing import Dropped
from coterie.jobs.data.own_columns import qid_column
from coterie.jobs.data.scaled import spelling_of
from coterie.jobs.data.workspace import Workspace
from coterie.jobs.kinds.integrate.job import IntegrateJob
from coterie.jobs.kinds.integrate.prepared import Population
from coterie.protocols.integration.witness import bear_witness
from coterie.protocols.messaging.channel import Channel


def prepared_population(
    job: IntegrateJob, table: pa.Table, source: str, dropped: Dropped
) -> Population:
    """The columns of the population as codes, checked like those of the table."""
    spelling = spelling_of(table)
    columns = {
        attribute.name: qid_column(attribute, table.column(attribute.name), source, spelling)
        for attribute in job.in_population
    }
    largest = max(requirement.k_map or 0 for requirement in job.requirements)
    if table.num_rows < largest:
        raise DataError(
            f"{source}: has {table.num_rows} records, fewer than the k_map = {largest} required"
        )
    warm_up()
    return Population(columns=columns, dropped=dropped)


def run_witness_side(
    job: IntegrateJob, prepared: Population, channel: Channel, workspace: Workspace
) -> dict[str, Any]:
    """The whole run of the witness; its part of the result says no more than the job."""
    prepared.dropped.write(workspace.kept)
    universe = Universe(list(prepared.columns.values()), job.requirements)
    prepared.columns = {}
    kept_before = ["common records"] if job.class_name is None else ["common records", "class"]
    bear_witness(channel, job.record_holders, universe, kept_before)
    return {"universe": job.universe}
