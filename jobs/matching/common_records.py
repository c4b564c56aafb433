"""Matches the common records of a job, the first step of every kind on vertical partitions."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing

import pyarrow as pa

from coterie.base.arrays import Ints
from coterie.base.errors import DataError
from coterie.jobs.data.workspace import Workspace
from coterie.jobs.file.job import Job
from coterie.jobs.matching.executors import executor_for
from coterie.jobs.matching.folder_store import FolderStore
from coterie.jobs.matching.identifiers import Matching, PreparedIdentifiers
from coterie.protocols.intersection.intersect import intersect
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.messaging.release_gate import show_people
from coterie.protocols.primitives.randomness import Random

NO_COMMON = (
    "the parties have no common records: does 'id' hold the same numbers or names at every party, "
    "written in the same way? 'coterie party check' shows each data owner how its own are written"
)
HINTS = "identifiers.txt"  # what may keep a party's identifiers from matching


def line_up(
    job: Job,
    matching: Matching,
    prepared: PreparedIdentifiers,
    channel: Channel,
    rng: Random,
    workspace: Workspace,
    names: Sequence[str] | None = None,
    least: int = 1,
) -> Ints:
    """The rows of this party's table that all parties have, in the same order at every party.

    `names` are the parties that have records, if not all of the job do. Fewer rows than `least` are an
    error.
    """
    if prepared.findings:  # for the party's own steward: it stays there
        lines = [finding.line() for finding in prepared.findings]
        (workspace.kept / HINTS).write_text("\n".join(lines) + "\n", encoding="utf-8")
    if workspace.memory is not None:  # the budget counts what reading the table left allocated
        pa.default_memory_pool().release_unused()
    with (
        closing(
            FolderStore(workspace.resume / f"{job.digest[:32]}-{channel.me}", channel.session)
        ) as store,
        executor_for(matching.compute, workspace.compute, channel.me) as executor,
    ):
        common = intersect(
            channel,
            job.party_names if names is None else names,
            prepared.identifiers,
            rng,
            protocol=matching.protocol,
            reveal=matching.reveal,
            pad_to=matching.pad_to,
            executor=executor,
            store=store,
            memory=workspace.memory,
            most=workspace.largest_peer_set,
        )
    rows: Ints = prepared.rows[common]
    show_people(workspace.gate, channel, rows)
    if len(rows) < least:
        raise DataError(NO_COMMON)
    return rows
