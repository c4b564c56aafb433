"""Collects what the parties release after a job has finished: at once, or later by `coterie fetch`.

Before a run starts the parties, it leaves a note, `run.json`, and the job in its result folder; it
removes the note when it has the result. If the coordinator crashes or loses a party in between,
`coterie fetch DIR` uses the note to collect the same release from the parties.
"""

from __future__ import annotations

import json
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

from coterie.base.errors import EnvironmentFaultError, PeerLostError, UsageError
from coterie.coordinator.run.client import PartyClient
from coterie.coordinator.run.interrupts import Check, never
from coterie.jobs.file.job import Job
from coterie.jobs.kinds.registry import KINDS
from coterie.jobs.run.archive import FOLDER, save_job, saved_job
from coterie.jobs.run.party_run import assemble
from coterie.jobs.run.received import add_recipients, recipients_of
from coterie.protos.jobs_pb2 import Delivered
from coterie.trust.identity import Identity

NOTE = "run.json"
_RETRY_SECONDS = 0.5
Everywhere = Callable[[Callable[[str], None]], Any]


def leave_note(out: Path, job: Job, job_id: str, addresses: Mapping[str, str]) -> None:
    """Writes the note from which a result can be fetched later."""
    try:
        save_job(job, out)
        note = {"job": job_id, "parties": dict(addresses)}
        (out / NOTE).write_text(json.dumps(note, indent=1) + "\n")
    except OSError as error:
        raise EnvironmentFaultError(f"{out}: {error.strerror}") from None


def remove_note(out: Path, job_too: bool) -> None:
    """Removes the note, when the result is complete or there will be none."""
    (out / NOTE).unlink(missing_ok=True)
    if job_too:
        shutil.rmtree(out / FOLDER, ignore_errors=True)


def collect(
    job: Job,
    job_id: str,
    clients: Mapping[str, PartyClient],
    out: Path,
    everywhere: Everywhere,
    patience: float,
    check: Check = never,
) -> dict[str, Any]:
    """Fetches from every party and assembles the result; retries a party that is away."""

    def fetch(name: str) -> None:
        end = time.monotonic() + patience
        while True:
            folder = Path(scratch) / name
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            try:
                clients[name].fetch(job_id, folder)
                return
            except PeerLostError:
                if time.monotonic() > end:
                    raise
            check()
            time.sleep(_RETRY_SECONDS)

    with tempfile.TemporaryDirectory(prefix="coterie-", ignore_cleanup_errors=True) as scratch:
        try:
            everywhere(fetch)
        except PeerLostError as error:
            reason = f"{error.reason}; 'coterie fetch {out}' asks again"
            raise PeerLostError(error.peer, error.step, reason) from None
        result = assemble(job, {name: Path(scratch) / name for name in clients}, out, job_id)
    result = _deliver(job, job_id, clients, out, result)
    remove_note(out, job_too=False)
    return result


def _deliver(
    job: Job,
    job_id: str,
    clients: Mapping[str, PartyClient],
    out: Path,
    result: dict[str, Any],
) -> dict[str, Any]:
    """Gives the finished files to the recipients of the job; each checks and compares them."""
    files = KINDS[job.kind].delivers
    delivered: dict[str, Delivered] = {}
    away: list[PeerLostError] = []
    for name in recipients_of(job):
        try:
            delivered[name] = clients[name].deliver(job_id, files, out)
        except PeerLostError as error:  # the others need not wait for it
            away.append(error)
    if away:
        first, *more = away
        also = "".join(f", {other.peer} too" for other in more)
        reason = f"{first.reason}{also}; 'coterie fetch {out}' delivers the result again"
        raise PeerLostError(first.peer, first.step, reason)
    digests = {name: answer.digest for name, answer in delivered.items()}
    apart = [
        [one, other]
        for one, other in combinations(delivered, 2)
        if other not in delivered[one].same and one not in delivered[other].same
    ]
    return add_recipients(result, digests, out, apart)


def read_note(out: Path) -> tuple[Job, str, dict[str, str]]:
    """The job, its id and its parties' addresses, of the run that left its note in `out`."""
    try:
        note = json.loads((out / NOTE).read_text())
        job_id = str(note["job"])
        addresses = {str(name): str(place) for name, place in note["parties"].items()}
    except FileNotFoundError:
        raise UsageError(f"{out}: no {NOTE}; no run has left its result to be fetched") from None
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        raise UsageError(f"{out / NOTE}: cannot be read") from None
    return saved_job(out), job_id, addresses


def fetch_later(out: Path, identity: Identity, patience: float) -> tuple[Job, dict[str, Any]]:
    """The result of the run that left its note in `out`."""
    job, job_id, addresses = read_note(out)
    clients = {name: PartyClient(name, place, identity) for name, place in addresses.items()}

    def one_by_one(do: Callable[[str], None]) -> None:
        for name in clients:
            do(name)

    try:
        return job, collect(job, job_id, clients, out, one_by_one, patience)
    finally:
        for client in clients.values():
            client.close()
