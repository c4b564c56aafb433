"""The result folder of a release of one table: `coterie verify DIR`, and what its page shows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from coterie.base.errors import VerificationError
from coterie.jobs.file.document import read_document
from coterie.jobs.file.result_file import RESULT, Claim, read_json
from coterie.jobs.pages.page import Part
from coterie.jobs.run.archive import saved_path
from coterie.onetable.methods.registry import method_of_result


def is_table_result(folder: Path) -> bool:
    """Whether a result folder came from a file of one table rather than from a job."""
    path = saved_path(folder)
    return read_document(path.read_text(encoding="utf-8"), str(path)).optional("kind") is None


def verify_table(folder: Path, data: Path | None = None) -> dict[str, Any]:
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
    return {"verdict": found.pop("verdict"), "unchecked": found.pop("unchecked"), **about, **found}


def report_table(folder: Path, result: Claim) -> list[Part]:
    """The parts of the page about a release."""
    method = method_of_result(folder)
    return method.report(method.load(saved_path(folder)), result, folder)
