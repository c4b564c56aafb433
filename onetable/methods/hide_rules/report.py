"""The parts of a report on a table whose rules were hidden: what it cost."""

from __future__ import annotations

from coterie.jobs.file.result_file import Claim
from coterie.jobs.pages.charts import bars
from coterie.jobs.pages.markup import Content
from coterie.jobs.pages.page import Part, file_text, folded, note, table
from coterie.onetable.methods.hide_rules.keys import HideFile

_COUNTS = {
    "cells_changed": ("cells changed", "Cells of the table that were emptied or made unknown."),
    "rules_before": (
        "rules before",
        "Rules that were found at the thresholds in the table as it was.",
    ),
    "rules_after": ("rules after", "Rules that are found in the release."),
    "lost": ("other rules lost", "Rules that should have stayed and are not found any more."),
    "ghosts": ("new rules", "Rules of the release that the table did not have."),
}


def report_hidden(file: HideFile, result: Claim) -> list[Part]:
    counts = {key: result.entry(key).integer(minimum=0) for key in _COUNTS}
    rows: list[list[Content]] = [
        [name, f"{counts[key]:,}", meaning] for key, (name, meaning) in _COUNTS.items()
    ]
    drawn = [(_COUNTS[key][0], float(counts[key]), f"{counts[key]:,}") for key in list(_COUNTS)[1:]]
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
            [
                bars("Rules before and after", drawn),
                table(["what", "number", "meaning"], rows, (1,), sentences=True),
                folded("The file", file_text(file.text, "the file")),
            ],
            public=False,
        ),
    ]
