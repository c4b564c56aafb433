"""The parts of a report on a perturbed table: the laws, and what attacks found."""

from __future__ import annotations

from coterie.house.randomize.perturb_file import PerturbFile
from coterie.jobs.file.result_file import Claim
from coterie.jobs.pages.markup import Content, element, foreign
from coterie.jobs.pages.page import Part, facts, file_text, folded, note, table


def report_perturbed(file: PerturbFile, result: Claim) -> list[Part]:
    laws: list[list[Content]] = []
    found: list[list[Content]] = []
    for attribute in file.attributes:
        entry = result.entry("attributes").entry(attribute.name)
        name = foreign(attribute.name)
        if attribute.noise is not None:
            advertised = f"{attribute.noise.interval:,.4g}"
            laws.append([name, f"{attribute.noise.law} noise", f"95 % interval {advertised} wide"])
            left = entry.entry("found_interval").number()
            found.append([name, f"interval {advertised}", f"interval {left:,.4g}"])
        else:
            laws.append([name, "randomized response", f"kept with {attribute.keep:g}"])
            right, without = (
                entry.entry(key).number() for key in ("guessed_right", "guessed_without")
            )
            found.append([name, f"{without:.1%} guessed right", f"{right:.1%} guessed right"])
    about = result.entry("job")
    made: list[tuple[str, Content]] = [
        ("date", about.entry("date").text()),
        ("version of Coterie", about.entry("version").text()),
        ("digest of the file", element("span", about.entry("digest").text(), class_="mono")),
    ]
    return [
        Part(
            "The release",
            [
                note(
                    f"{result.entry('records').integer(minimum=0):,} records with noise on every "
                    "column, made for distributions. It is no anonymity: a record is still one of a "
                    "person."
                ),
                table(["column", "law", "as advertised"], laws),
            ],
            public=True,
        ),
        Part(
            "What the noise really hides",
            [
                note(
                    "Found by attacks on this table with its true values at hand: the best linear "
                    "guess over all columns, projection, and the best guess of an answer. These "
                    "figures stay in the house."
                ),
                table(["column", "advertised", "found"], found),
                facts(made),
                folded("The file", file_text(file.text, "the file")),
            ],
            public=False,
        ),
    ]
