"""`coterie verify DIR`: does a result satisfy what its job promises?

The job is stored beside the result (`job/`). Every kind has a `verify` that recomputes what can be
recomputed, with code of its own. The first check that fails raises a `VerificationError`; a result
in which nothing can be checked raises one, too. A release of one table has a table file in place of
a job.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from coterie.jobs.results import sorts
from coterie.onetable.methods.results import TABLE, is_table_result


def verify(folder: Path, data: Path | None = None) -> dict[str, Any]:
    """The checks that hold in a result folder, as `sorts.verify` returns them.

    Only the file that a job keeps in its result folder names a kind.
    """
    return sorts.verify(folder, TABLE if is_table_result(folder) else sorts.JOB, data)


def lines(verified: dict[str, Any]) -> list[str]:
    """Lines for a person: the verdict, what is not promised, and what could not be checked."""
    return [
        verified["verdict"],
        *(f"not promised: {clause}" for clause in verified.get("not_promised", ())),
        *(f"not checked: {clause}" for clause in verified["unchecked"]),
        *(f"warning: {clause}" for clause in verified.get("warnings", ())),
        f"job: {verified['job']} ({verified['kind']}), digest {verified['digest']}",
    ]
