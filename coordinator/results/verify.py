"""`coterie verify DIR`: does a result satisfy what its job promises?

The job is stored beside the result (`job/`). Every kind has a `verify` that recomputes what can be
recomputed, with code of its own. The first check that fails raises a `VerificationError`; a result
in which nothing can be checked raises one, too. A release of one table has a table file in place of
a job; `onetable.methods.results` checks it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from coterie.base.errors import UsageError, VerificationError
from coterie.base.text import numbered
from coterie.jobs.data.released.spreadsheet import formulas_in, released_tables
from coterie.jobs.file.result_file import read_claims
from coterie.jobs.kinds.registry import KINDS
from coterie.jobs.run.archive import saved_job
from coterie.onetable.methods.results import is_table_result, verify_table


class NothingVerifiedError(VerificationError):
    """The result has nothing that could be checked."""


def verify(folder: Path, data: Path | None = None) -> dict[str, Any]:
    """The checks that hold in a result folder, after the verdict in words.

    `data` is the source of a release of one table, with which more can be checked.
    """
    found = _verified(folder, data)
    formulas: dict[str, int] = {}
    for path in released_tables(folder):
        formulas |= formulas_in(path)
    warnings = [
        f"a spreadsheet would run {numbered(cells, 'cell')} of '{name}' as formulas; the option "
        "--spreadsheet writes a copy of the release in which they are text"
        for name, cells in formulas.items()
    ]
    return {**found, **({"formulas": formulas, "warnings": warnings} if formulas else {})}


def _verified(folder: Path, data: Path | None) -> dict[str, Any]:
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
        "not_promised": list(found.not_promised),
        "unchecked": list(found.unchecked),
        "job": job.name,
        "kind": job.kind,
        "digest": job.digest,
        **found.facts,
    }


def lines(verified: dict[str, Any]) -> list[str]:
    """Lines for a person: the verdict, what is not promised, and what could not be checked."""
    return [
        verified["verdict"],
        *(f"not promised: {clause}" for clause in verified.get("not_promised", ())),
        *(f"not checked: {clause}" for clause in verified["unchecked"]),
        *(f"warning: {clause}" for clause in verified.get("warnings", ())),
        f"job: {verified['job']} ({verified['kind']}), digest {verified['digest']}",
    ]
