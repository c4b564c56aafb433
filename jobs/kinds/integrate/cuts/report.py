"""The report's part about the tree of cuts: its first cuts drawn, and how its values are to be read."""

from __future__ import annotations

from coterie.base.text import numbered
from coterie.jobs.file.result_file import Claim
from coterie.jobs.kinds.integrate.job import IntegrateJob
from coterie.jobs.pages.markup import Content, foreign, listed
from coterie.jobs.pages.page import Part, folded, note, table

_SHOWN = 300  # cuts in the table
_DRAWN = 3  # levels that are drawn


def report_cuts(job: IntegrateJob, result: Claim) -> Part:
    """How the groups were made."""
    tree = result.entry("tree").items()
    if not tree:
        only = note("Nothing was cut: any cut would have broken the promise.")
        return Part("How the groups were made", [only], public=False)
    sums = "contributions" if job.refine is None else "refine_contributions"
    begun = (
        "All records were one group, which was cut"
        if job.refine is None
        else "The groups of the finished table were cut further"
    )
    totals = {name: claim.number() for name, claim in result.entry(sums).entries().items()}
    rows = [_row(number, cut) for number, cut in enumerate(tree[:_SHOWN], 1)]
    content: list[Content] = [
        note(
            f"{begun} in {numbered(len(tree), 'step')} into smaller ones, each time along the "
            "column that loses most generality for each pair of people whom the cut puts into different "
            "groups. No group is smaller than the promise."
        ),
        note(
            "Different groups were cut along different columns, so the values of one column overlap: "
            "[20, 40) may stand beside [30, 35), and a value of a taxonomy beside the more general one "
            "that has it. Counts and models must not take them for values that exclude each other."
        ),
        table(["level", "cut along", "into groups of"], _drawn(tree), (0,), sentences=True),
        table(
            ["party", "told, in bits for each record", "cuts"],
            [
                [foreign(name), f"{totals.get(name, 0.0):.4f}",
                 str(sum(cut.entry("party").value == name for cut in tree))]
                for name in job.record_holders
            ],
            (1, 2),
        ),
    ]  # fmt: skip
    rest = f", the first {_SHOWN}" if len(tree) > _SHOWN else ""
    content.append(
        folded(
            f"All cuts{rest}",
            table(["cut", "level", "party", "column", "value", "parts", "score"], rows, (0, 1, 6),
                  sentences=True),
        )
    )  # fmt: skip
    return Part("How the groups were made", content, public=False)


def _row(number: int, cut: Claim) -> list[Content]:
    return [
        str(number), str(cut.entry("level").integer()), foreign(cut.entry("party").text()),
        foreign(cut.entry("attribute").text()), foreign(_name(cut.entry("region")), 60),
        listed([_name(part) for part in cut.entry("parts").items()][:12]),
        f"{cut.entry('score').number():.4f}",
    ]  # fmt: skip


def _drawn(tree: list[Claim]) -> list[list[Content]]:
    """The cuts of the first levels, each indented below what it cuts."""
    rows: list[list[Content]] = []
    for cut in tree:
        level = cut.entry("level").integer()
        if level > _DRAWN or len(rows) > _SHOWN:
            break
        sizes = [f"{size.integer():,}" for size in cut.entry("sizes").items()]
        parts = [
            f"{_name(part)} ({size})"
            for part, size in zip(cut.entry("parts").items(), sizes, strict=False)
        ]
        what = f"{cut.entry('attribute').text()}: {_name(cut.entry('region'))}"
        rows.append([str(level), foreign("· " * (level - 1) + what, 80), listed(parts[:12])])
    return rows


def _name(region: Claim) -> str:
    if isinstance(region.value, dict):
        return f"{region.entry('rest').text()}, the rest"
    return region.text()
