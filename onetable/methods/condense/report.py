"""The parts of a report on condensed records: what stands behind them, and what they do not promise."""

from __future__ import annotations

from coterie.jobs.file.result_file import Claim
from coterie.jobs.pages.markup import Content, foreign
from coterie.jobs.pages.page import Part, facts, file_text, folded, note, table
from coterie.onetable.pages import Facts, made_by
from coterie.onetable.table_file import TableFile


def report_condensed(file: TableFile, result: Claim) -> list[Part]:
    groups = result.entry("groups")
    number, smallest = (groups.entry(key).integer(minimum=0) for key in ("number", "smallest"))
    rows: list[list[Content]] = []
    for attribute in file.attributes:
        changed = (
            result.entry(key).entry(attribute.name).integer(minimum=0)
            for key in ("clipped", "rounded")
        )
        rows.append([foreign(attribute.name), *(f"{count:,}" for count in changed)])
    clipped = (
        "Synthetic values that lay outside the range of their column were moved to its end, and "
        "values between those that the column can have were moved to the nearest one:"
    )
    made: Facts = [("method", file.method), *made_by(result, "the table file")]
    copies = result.optional("copies")
    likeness = result.optional("utility")
    sentences: list[Content] = []
    if copies is not None:
        sentences.append(
            f"{copies.integer(minimum=0):,} of the synthetic records happen to be equal to a real "
            "one. "
        )
    if likeness is not None:
        value = likeness.entry("covariance_correlation").number()
        sentences.append(
            "How well the columns go together as in the table, from 0, not at all, to 1, exactly "
            f"(correlation of the covariances): {value:.4f}."
        )
    return [
        Part(
            "The release",
            [
                note(
                    f"{result.entry('records').integer(minimum=0):,} synthetic records, drawn from "
                    f"the means and covariances of {number:,} groups of at least {smallest} people. "
                    "No record is a person's. This is not k-anonymity: the records differ from "
                    "each other, and a group of equal people is reproduced unchanged."
                ),
            ],
            public=True,
        ),
        Part(
            "How the table was made",
            [
                *([note(sentences)] if sentences else []),
                note(clipped),
                table(
                    ["column", "moved into the range", "moved to a possible value"], rows, (1, 2)
                ),
                facts(made),
                folded("The table file", file_text(file.text, "the table file")),
            ],
            public=False,
        ),
    ]
