"""The sorts of results: how each is known by the file kept in it, verified, and described on a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from coterie.base.errors import UsageError, VerificationError
from coterie.jobs.file.job import Job
from coterie.jobs.file.result_file import Claim, read_claims
from coterie.jobs.kinds.registry import KINDS
from coterie.jobs.pages.markup import Content, element
from coterie.jobs.pages.page import Part
from coterie.jobs.run.archive import saved_job
from coterie.onetable.methods.registry import method_of_result
from coterie.onetable.methods.results import is_table_result, report_table, verify_table
from coterie.onetable.released import PARQUET, RELEASE


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


class OfOneTable:
    def verify(self, folder: Path, data: Path | None) -> dict[str, Any]:
        return verify_table(folder, data)

    def report(self, folder: Path, result: Claim) -> list[Part]:
        return report_table(folder, result)

    def words(self, folder: Path) -> Words:
        method = method_of_result(folder)
        files = (RELEASE, PARQUET, "sensitive", "noise.json")
        return Words("one table", [method.about], method.title, method.about, files)


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
        title = "An anonymous table" if RELEASE in kind.leaves else "A joint result"
        return Words(job.name, about, title, kind.about, kind.leaves, job)


JOB, TABLE = OfAJob(), OfOneTable()


def sort_of(folder: Path) -> ResultSort:
    """By the file that is kept in a result folder: only that of a job names its kind."""
    return TABLE if is_table_result(folder) else JOB
