"""The result folder of a release of one table: `coterie verify DIR`, and what its page shows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from coterie.base.errors import VerificationError
from coterie.jobs.file.document import read_document
from coterie.jobs.file.result_file import RESULT, Claim, read_json
from coterie.jobs.pages.page import Part
from coterie.jobs.results.folder import result_folder
from coterie.jobs.results.sorts import Words
from coterie.jobs.run.archive import saved_path
from coterie.onetable.methods.registry import method_of_result
from coterie.onetable.released import PARQUET, RELEASE, Made


def is_table_result(folder: Path) -> bool:
    """Whether a result folder came from a file of one table rather than from a job."""
    path = saved_path(folder)
    return read_document(path.read_text(encoding="utf-8"), str(path)).optional("kind") is None


class OfOneTable:
    """The sort of results (`jobs.results.sorts`) that a method leaves."""

    def verify(self, folder: Path, data: Path | None) -> dict[str, Any]:
        """The checks that hold; raises a `VerificationError` for the first that does not."""
        method = method_of_result(folder)
        file = method.load(saved_path(folder))
        result = read_json(folder / RESULT)
        try:
            found = method.verify(file, result, folder, data)
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise VerificationError(
                f"{folder / RESULT}: not the result of {method.maker} ({error})"
            ) from None
        about = {"job": "table", "kind": method.kind, "digest": file.digest}
        first = {"verdict": found.pop("verdict"), "unchecked": found.pop("unchecked")}
        return {**first, **about, **found}

    def report(self, folder: Path, result: Claim) -> list[Part]:
        """The parts of the page about a release."""
        method = method_of_result(folder)
        return method.report(method.load(saved_path(folder)), result, folder)

    def words(self, folder: Path) -> Words:
        method = method_of_result(folder)
        files = (RELEASE, PARQUET, "sensitive", "noise.json")
        return Words("one table", [method.about], method.title, method.about, files)


TABLE = OfOneTable()


def write_release(
    made: Made[Any], out: Path, force: bool, spreadsheet: bool, parquet: bool = False
) -> None:
    """The result folder of a release, whole with its pages."""
    with result_folder(out, force, spreadsheet, TABLE):
        made.write(out, parquet)
