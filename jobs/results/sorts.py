"""The sorts of results: how each is verified, and described on a page.

That of jobs is here, and that of releases of one table is `onetable.methods.results`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from coterie.base.errors import UsageError, VerificationError
from coterie.base.text import numbered
from coterie.jobs.data.released.spreadsheet import formulas_in, released_tables
from coterie.jobs.file.job import Job
from coterie.jobs.file.result_file import Claim, read_claims
from coterie.jobs.kinds.registry import KINDS
from coterie.jobs.pages.markup import Content, element
from coterie.jobs.pages.page import Part
from coterie.jobs.run.archive import saved_job


class NothingVerifiedError(VerificationError):
    """The result has nothing that could be checked."""


@dataclass(frozen=True)
class Words:
    """What the pages of a result say besides its parts."""

    name: str
    about: Sequence[Content]
    title: str  # of the public page
    kind: str  # the sentence below it
    leaves: Sequence[str]  # files and folders whose digests are listed
    job: Job | None = None


class ResultSort(Protocol):
    def verify(self, folder: Path, data: Path | None) -> dict[str, Any]: ...
    def report(self, folder: Path, result: Claim) -> list[Part]: ...
    def words(self, folder: Path) -> Words: ...


class OfAJob:
    def verify(self, folder: Path, data: Path | None) -> dict[str, Any]:
        if data is not None:
            raise UsageError(
                "--data is only for one-table releases; nobody has the tables of a job"
            )
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

    def report(self, folder: Path, result: Claim) -> list[Part]:
        job = saved_job(folder)
        return list(KINDS[job.kind].report(job, result, folder))

    def words(self, folder: Path) -> Words:
        job = saved_job(folder)
        kind = KINDS[job.kind]
        about: list[Content] = [
            "A job of kind ", element("strong", job.kind), " of ", str(len(job.party_names)),
            " organisations. ", kind.about,
        ]  # fmt: skip
        title = "An anonymous table" if "release.csv" in kind.leaves else "A joint result"
        return Words(job.name, about, title, kind.about, kind.leaves, job)


JOB = OfAJob()


def verify(folder: Path, sort: ResultSort, data: Path | None = None) -> dict[str, Any]:
    """The checks that hold in a result folder, after the verdict in words.

    `data` is the source of a release of one table, with which more can be checked.
    """
    found = sort.verify(folder, data)
    formulas: dict[str, int] = {}
    for path in released_tables(folder):
        formulas |= formulas_in(path)
    warnings = [
        f"a spreadsheet would run {numbered(cells, 'cell')} of '{name}' as formulas; the option "
        "--spreadsheet writes a copy of the release in which they are text"
        for name, cells in formulas.items()
    ]
    return {**found, **({"formulas": formulas, "warnings": warnings} if formulas else {})}
