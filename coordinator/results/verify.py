"""`coterie verify DIR`: does a result satisfy what its job promises?

The job is stored beside the result (`job/`). Every kind has a `verify` that recomputes what can be
recomputed, with code of its own. The first check that fails raises a `VerificationError`; a result
in which nothing can be checked raises one, too. A release of one table has a table file in place of
a job; `registry` has both sorts of results.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from coterie.base.text import numbered
from coterie.coordinator.results.registry import sort_of
from coterie.jobs.data.released.spreadsheet import formulas_in, released_tables


def verify(folder: Path, data: Path | None = None) -> dict[str, Any]:
    """The checks that hold in a result folder, after the verdict in words.

    `data` is the source of a release of one table, with which more can be checked.
    """
    found = sort_of(folder).verify(folder, data)
    formulas: dict[str, int] = {}
    for path in released_tables(folder):
        formulas |= formulas_in(path)
    warnings = [
        f"a spreadsheet would run {numbered(cells, 'cell')} of '{name}' as formulas; the option "
        "--spreadsheet writes a copy of the release in which they are text"
        for name, cells in formulas.items()
    ]
    return {**found, **({"formulas": formulas, "warnings": warnings} if formulas else {})}


def lines(verified: dict[str, Any]) -> list[str]:
    """Lines for a person: the verdict, what is not promised, and what could not be checked."""
    return [
        verified["verdict"],
        *(f"not promised: {clause}" for clause in verified.get("not_promised", ())),
        *(f"not checked: {clause}" for clause in verified["unchecked"]),
        *(f"warning: {clause}" for clause in verified.get("warnings", ())),
        f"job: {verified['job']} ({verified['kind']}), digest {verified['digest']}",
    ]
