"""The parts of a report on a table whose rules were hidden: what it cost."""

from __future__ import annotations

from coterie.house.hiding.hide_file import HideFile
from coterie.jobs.file.result_file import Claim
from coterie.jobs.pages.markup import Content
from coterie.jobs.pages.page import Part, facts, file_text, folded, note

_COUNTS = {
    "cells_changed": "cells changed",
    "rules_before": "rules before",
    "rules_after": "rules after",
    "lost": "other rules lost",
    "ghosts": "new rules",
}


def report_hidden(file: HideFile, result: Claim) -> list[Part]:
    rows: list[tuple[str, Content]] = [
        (name, f"{result.entry(key).integer(minimum=0):,}") for key, name in _COUNTS.items()
    ]
    return [
        Part(
            "The release",
            [
                note(
                    f"{result.entry('records').integer(minimum=0):,} records of which cells were "
                    "emptied or made unknown, so that given rules are not found at the thresholds "
                    "of the file. It is no anonymity, and rules are hidden at these thresholds only."
                )
            ],
            public=True,
        ),
        Part(
            "What hiding cost",
            [facts(rows), folded("The file", file_text(file.text, "the file"))],
            public=False,
        ),
    ]
