"""Receives a finished result as a recipient: the same at a party server and in a simulation.

The coordinator sends a recipient the finished files alone. The rest of the folder is the
recipient's own: the job as it was proposed, and the result as the recipient computed it. So
`coterie verify` checks the folder without relying on the coordinator.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coterie.base.errors import PeerFaultError, VerificationError
from coterie.jobs.file.job import Job
from coterie.jobs.file.result_file import Claim
from coterie.jobs.kinds.registry import KINDS
from coterie.jobs.run.archive import save_job
from coterie.jobs.run.party_run import job_facts, read_summary


@dataclass(frozen=True)
class Received:
    """What a recipient found."""

    digest: str  # of the files, for the other recipients
    holds: Sequence[str]


def recipients_of(job: Job) -> tuple[str, ...]:
    """The parties that get the finished result besides the coordinator."""
    return KINDS[job.kind].needs(job, job.party_names[0]).answers.recipients


def take_in(job: Job, party: str, job_id: str, workspace: Path, folder: Path) -> Received:
    """Completes and checks a folder with the finished files; `workspace` is the party's own run."""
    kind = KINDS[job.kind]
    digest = digest_of(kind.delivers, folder)
    try:
        result = read_summary(party, workspace / "released")["result"]
    except PeerFaultError:
        raise VerificationError(
            f"{party} has no longer what it computed itself, and nothing can be checked"
        ) from None
    result = {**result, "job": job_facts(job, job_id)}
    save_job(job, folder)
    (folder / "result.json").write_text(json.dumps(result, indent=2) + "\n")
    holds = [*kind.check_received(job, party, workspace / "kept", folder)]
    holds += kind.verify(job, Claim(result), folder).holds
    return Received(digest, holds)


def digest_of(files: Sequence[str], folder: Path) -> str:
    """A digest of the finished files, each with its name and length."""
    total = hashlib.sha256()
    for name in files:
        content = hashlib.sha256()
        size = 0
        with (folder / name).open("rb") as file:
            while piece := file.read(1 << 20):
                content.update(piece)
                size += len(piece)
        total.update(f"{name}\n{size}\n".encode() + content.digest())
    return total.hexdigest()


def add_recipients(
    result: dict[str, Any],
    digests: Mapping[str, str],
    out: Path,
    apart: Sequence[Sequence[str]] = (),
) -> dict[str, Any]:
    """Writes the result with its recipients and their digests; unchanged without recipients.

    `apart` are the pairs of recipients that could not reach each other to compare the digests.
    """
    if not digests:
        return result
    if len(set(digests.values())) > 1:
        raise VerificationError("the recipients were given different results")
    told = {**result, "recipients": dict(digests)}
    if apart:
        told["not_compared"] = [list(pair) for pair in apart]
    (out / "result.json").write_text(json.dumps(told, indent=2) + "\n")
    return told
