"""The parts of a report on a perturbed table: the laws, and what attacks found."""

from __future__ import annotations

from coterie.jobs.file.result_file import Claim
from coterie.jobs.pages.charts import bars
from coterie.jobs.pages.markup import Content, foreign
from coterie.jobs.pages.page import Part, facts, file_text, folded, note, table
from coterie.onetable.methods.perturb.keys import PerturbFile
from coterie.onetable.pages import made_by


def report_perturbed(file: PerturbFile, result: Claim) -> list[Part]:
    laws: list[list[Content]] = []
    found: list[list[Content]] = []
    drawn: list[tuple[str, float]] = []  # how much of what is advertised is left
    for attribute in file.attributes:
        entry = result.entry("attributes").entry(attribute.name)
        name = foreign(attribute.name)
        if attribute.noise is not None:
            advertised = f"{attribute.noise.interval:,.4g}"
            laws.append(
                [
                    name,
                    f"{attribute.noise.law} noise",
                    f"with 95 % the true value lies in an interval {advertised} wide",
                ]
            )
            left = entry.entry("found_interval").number()
            found.append([name, f"interval {advertised} wide", f"interval {left:,.4g} wide"])
            drawn.append((attribute.name, left / attribute.noise.interval))
        else:
            laws.append(
                [
                    name,
                    "randomized response",
                    f"the true value stays with a chance of {attribute.keep:.4g}, otherwise any value is shown",
                ]
            )
            right, without = (
                entry.entry(key).number() for key in ("guessed_right", "guessed_without")
            )
            found.append(
                [
                    name,
                    f"{without:.1%} guessed right without the release",
                    f"{right:.1%} guessed right with it",
                ]
            )
            drawn.append((attribute.name, (1 - right) / (1 - without) if without < 1 else 1.0))
    return [
        Part(
            "The release",
            [
                note(
                    f"{result.entry('records').integer(minimum=0):,} records with noise on every "
                    "column, made for distributions. It is no anonymity: a record is still one of a "
                    "person."
                ),
                table(["column", "law", "as advertised"], laws, sentences=True),
            ],
            public=True,
        ),
        Part(
            "What the noise really hides",
            [
                note(
                    "Somebody who combines the columns finds out more than one column alone tells. "
                    "What the best of several attacks has found, with the true values of this table "
                    "to compare with; the figures stay in the house. A bar is what is left of the "
                    "uncertainty that the noise advertises."
                ),
                bars(
                    "What attacks leave of the uncertainty",
                    [(name, share, f"{share:.0%}") for name, share in drawn],
                ),
                table(["column", "advertised", "found"], found, sentences=True),
                facts(made_by(result, "the file")),
                folded("The file", file_text(file.text, "the file")),
            ],
            public=False,
        ),
    ]
