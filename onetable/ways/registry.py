"""Releases of one table that generalize nothing: how each is verified and shown.

A result folder of these has a file of its own kind in place of a table file; its `method` says which.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coterie.jobs.file.document import read_document
from coterie.jobs.file.result_file import Claim
from coterie.jobs.pages.page import Part
from coterie.jobs.run.archive import saved_path
from coterie.onetable.hiding.hide_file import HIDE_RULES, load_hide_file
from coterie.onetable.hiding.report import report_hidden
from coterie.onetable.hiding.verify import verify_hidden
from coterie.onetable.randomize.perturb_file import PERTURB, load_perturb_file
from coterie.onetable.randomize.report import report_perturbed
from coterie.onetable.randomize.verify import verify_perturbed


@dataclass(frozen=True)
class Way:
    """What `coterie verify` and the report need of a way to release a table."""

    title: str  # of the public page
    about: str
    verify: Callable[[Path, Path | None], dict[str, Any]]
    report: Callable[[Path, Claim], list[Part]]


WAYS = {
    PERTURB: Way(
        "A table with noise",
        "One table, on whose values its holder has put noise.",
        verify_perturbed,
        lambda path, result: report_perturbed(load_perturb_file(path), result),
    ),
    HIDE_RULES: Way(
        "A table without given rules",
        "One table, in which its holder has hidden some rules.",
        verify_hidden,
        lambda path, result: report_hidden(load_hide_file(path), result),
    ),
}


def way_of(folder: Path) -> Way | None:
    """How a result folder was made; None if by a method of `coterie anonymise`."""
    path = saved_path(folder)
    node = read_document(path.read_text(encoding="utf-8"), str(path)).optional("method")
    return None if node is None else WAYS.get(node.text())
