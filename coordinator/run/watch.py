"""`coterie watch`: looks at a job that another command runs, and leaves it and its result alone.

The coordinator that proposed a job looks at all of its parties, by the note that the run left. The
operator of one party looks at its own server, which tells it nothing about the others.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from coterie.base.errors import CancelledError, UsageError
from coterie.coordinator.run.client import PartyClient
from coterie.coordinator.run.collect import read_note
from coterie.coordinator.run.follower import Follower, Patience
from coterie.coordinator.run.interrupts import Check
from coterie.coordinator.run.progress import Board
from coterie.coordinator.run.run_job import cancel_everywhere
from coterie.coordinator.run.runs import folder_of
from coterie.protos import jobs_pb2 as pb
from coterie.trust.identity import Identity

_REPORT_SECONDS = 10.0  # for the command that runs the job to write the report


@dataclass(frozen=True)
class Watched:
    """A job to look at: its parties' addresses, and where its result will be, if that is known."""

    job_id: str
    name: str
    kind: str
    addresses: Mapping[str, str]
    out: Path | None


def known_here(wanted: str) -> Watched:
    """A job that was proposed from here."""
    folder = folder_of(wanted)
    job, job_id, addresses = read_note(folder)
    return Watched(job_id, job.name, job.kind, addresses, folder)


def known_there(wanted: str, server: str, identity: Identity) -> Watched:
    """A job at the operator's own server, `NAME=HOST:PORT`: the newest with this id or name."""
    name, equals, address = server.partition("=")
    if not (name and equals and address):
        raise UsageError(f"--server must be NAME=HOST:PORT, not '{server}'")
    client = PartyClient(name, address, identity)
    try:
        found = [
            job for job in client.jobs() if job.name == wanted or job.job_id.startswith(wanted)
        ]
    finally:
        client.close()
    if not found:
        raise UsageError(f"{name}: no job '{wanted}'; 'coterie party jobs' lists them")
    job = max(found, key=lambda one: one.proposed)
    return Watched(job.job_id, job.name, job.kind, {name: address}, None)


def watch_job(
    job: Watched,
    identity: Identity,
    board: Board,
    patience: Patience,
    check: Check,
    report: Path | None,
) -> None:
    """Follows the job until every party has finished; raises what ended it otherwise.

    The check of a page's button raises `CancelledError`: then the job is cancelled everywhere.
    """
    clients = {
        name: PartyClient(name, address, identity) for name, address in job.addresses.items()
    }
    follower = Follower(clients, job.job_id, board, patience, check)
    try:
        follower.listen()
        follower.start(dict.fromkeys(clients, pb.STATE_UNSPECIFIED))
        follower.until(lambda name, state: state == pb.FINISHED)
    except CancelledError as error:
        cancel_everywhere(clients.values(), job.job_id, error, patience.cancel)
        raise
    finally:
        follower.stop()
        for client in clients.values():
            client.close()
    until = time.monotonic() + _REPORT_SECONDS
    while report is not None and not report.is_file() and time.monotonic() < until:
        check()
        time.sleep(0.1)
