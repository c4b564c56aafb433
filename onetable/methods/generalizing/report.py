"""The parts of a report on a release that generalizes values."""

from __future__ import annotations

from pathlib import Path

from coterie.jobs.data.released.together import apart
from coterie.jobs.file.result_file import Claim
from coterie.jobs.pages.charts import bars
from coterie.jobs.pages.markup import Content, foreign
from coterie.jobs.pages.page import Part, note, table
from coterie.jobs.pages.release import TOGETHER, read_release, release_parts
from coterie.onetable.pages import making_parts
from coterie.onetable.released import RELEASE
from coterie.onetable.table_file import TableFile

_BARS = 20  # of the risk of a release that is too large to be drawn


def report_generalized(file: TableFile, result: Claim, folder: Path) -> list[Part]:
    if result.optional("on_disk") is not None:
        parts = _from_result(file, result)
    else:
        parts = release_parts(
            read_release(
                folder / RELEASE, file.attributes, file.requirements, file.class_name,
                result.entry("suppressed").integer(minimum=0),
            )
        )  # fmt: skip
    return [*parts, *making_parts(file, result)]


def _from_result(file: TableFile, result: Claim) -> list[Part]:
    """The promise and the risk of a release that is too large to be read whole, from its result."""
    promise: list[list[Content]] = []
    for entry in result.entry("anonymity").items():
        qid = ", ".join(name.text() for name in entry.entry("qid").items())
        numbers = (entry.entry(key).integer(minimum=0) for key in ("k", "smallest", "groups"))
        promise.append([foreign(qid), *(f"{number:,}" for number in numbers)])
    risk: list[list[Content]] = []
    drawn: list[tuple[str, float, str]] = []
    claims = [
        (", ".join(name.text() for name in entry.entry("qid").items()), entry)
        for entry in result.entry("risk").entry("by_qid").items()
    ]
    if apart(file.requirements):
        claims.append((TOGETHER, result.entry("risk")))
    for qid, entry in claims:
        worst, mean = (entry.entry(key).number() for key in ("prosecutor", "marketer"))
        risk.append([foreign(qid), f"{worst:.2%}", f"{mean:.2%}"])
        name = "all together" if qid == TOGETHER else qid
        drawn += [
            (f"{name}: at worst", worst, f"{worst:.2%}"),
            (f"{name}: on average", mean, f"{mean:.2%}"),
        ]
    return [
        Part(
            "The promise",
            [
                note(
                    "Whoever knows the columns of one line about a person finds at least k records "
                    "that agree with them. The table was too large for the memory, so that this page "
                    "has its figures and no drawings."
                ),
                table(
                    ["known columns", "k", "smallest group", "groups"],
                    promise,
                    (1, 2, 3),
                    sentences=True,
                ),
            ],
            public=True,
        ),
        Part(
            "The risk of being found",
            [
                note(
                    "The chance that a record is linked to the right person by somebody who knows all "
                    "columns of a line. At worst: for the records of the smallest group. On average: "
                    "the share of all records that are linked correctly."
                ),
                bars("The highest and the mean chance to be found", drawn[:_BARS]),
                table(["known columns", "at worst", "on average"], risk, (1, 2), sentences=True),
            ],
            public=True,
        ),
    ]
