"""`coterie verify DIR`: does a result keep what its job promises?

The job is the one kept beside the result (`job/`). What there is to check is the kind's: every kind
has a `verify` that computes again what can be computed again, with code of its own. The first thing
that does not hold is a `VerificationError`. That nothing could be checked is one, too. A release of
one table has a table file in place of a job, and is checked by `house.verify`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from coterie.base.errors import UsageError, VerificationError
from coterie.house.verify import is_table_result, verify_table
from coterie.jobs.file.result_file import read_claims
from coterie.jobs.kinds.registry import KINDS
from coterie.jobs.run.archive import saved_job


class NothingVerifiedError(VerificationError):
    """There was nothing that could be checked."""


def verify(folder: Path, data: Path | None = None) -> dict[str, Any]:
    """What was found to hold in a result folder, the verdict in words first.

    `data` is the table that a release of one table was made of; more can be checked with it.
    """
    if is_table_result(folder):
        return verify_table(folder, data)
    if data is not None:
        raise UsageError("--data goes with a release of one table; nobody has the tables of a job")
    job = saved_job(folder)
    found = KINDS[job.kind].verify(job, read_claims(folder), folder)
    if not found.holds:
        raise NothingVerifiedError(
            f"{folder}: nothing was verified: {'; '.join(found.unchecked) or 'nothing is checked'}"
        )
    return {
        "verdict": f"holds: {'; '.join(found.holds)}",
        "unchecked": list(found.unchecked),
        "job": job.name,
        "kind": job.kind,
        "digest": job.digest,
        **found.facts,
    }


def lines(verified: dict[str, Any]) -> list[str]:
    """For a person: the verdict, what it rests on, what nobody could check."""
    return [
        verified["verdict"],
        *(f"not checked: {clause}" for clause in verified["unchecked"]),
        f"job: {verified['job']} ({verified['kind']}), digest {verified['digest']}",
    ]
