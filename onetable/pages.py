"""What the pages about several ways to release one table share: how the table was made."""

from __future__ import annotations

from coterie.base.text import numbered, one_line
from coterie.jobs.file.result_file import Claim
from coterie.jobs.pages.markup import Content, element
from coterie.jobs.pages.measures import measures_part
from coterie.jobs.pages.page import Part, facts, file_text, folded, moment, note
from coterie.onetable.table_file import TableFile

Facts = list[tuple[str, Content]]


def made_by(result: Claim, file: str) -> Facts:
    """When, by which version and as which file said a release was made."""
    about = result.entry("job")
    return [
        ("date", moment(about.entry("date").text())),
        ("version of Coterie", about.entry("version").text()),
        (f"digest of {file}", element("span", about.entry("digest").text(), class_="mono")),
    ]


def making_parts(file: TableFile, result: Claim) -> list[Part]:
    """What a release keeps of the table, and how it was made."""
    made: Facts = [("method", file.method), *made_by(result, "the table file")]
    for step, claim in result.entry("seconds").entries().items():
        made.append((one_line(step), f"{claim.number():.2f} s"))
    dropped = result.optional("dropped")
    lost = dropped.integer(minimum=0) if dropped is not None else 0
    was = "was" if lost == 1 else "were"
    told = [note(f"{numbered(lost, 'record')} {was} dropped for missing values.")] if lost else []
    text = folded("The table file", file_text(file.text, "the table file"))
    return [
        measures_part(result.entry("utility")),
        Part("How the table was made", [*told, facts(made), text], public=False),
    ]
