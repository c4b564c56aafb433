"""The report's part about the tree of cuts: its first cuts drawn, and how its values are to be read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from coterie.anonymity.models.audit import Released
from coterie.base.errors import VerificationError
from coterie.base.text import numbered
from coterie.jobs.file.result_file import Claim
from coterie.jobs.kinds.integrate.cuts.verify_tree import cutting_of, origins
from coterie.jobs.kinds.integrate.job import IntegrateJob
from coterie.jobs.pages.markup import Content, foreign, listed
from coterie.jobs.pages.page import Part, folded, note, table

_SHOWN = 300  # cuts in the table
_DRAWN = 3  # levels that are drawn


def report_cuts(job: IntegrateJob, result: Claim, columns: Mapping[str, Released]) -> Part:
    """How the groups were made; `columns` are those of the release."""
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
        note(f"The first {_DRAWN} levels of cuts; each group is made of those indented below it."),
        table(["group", "people", "cut along"], _drawn(job, result, columns), (1,), sentences=True),
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


def _drawn(
    job: IntegrateJob, result: Claim, columns: Mapping[str, Released]
) -> list[list[Content]]:
    """The cuts of the first levels as a tree: each group below the one that it is a part of."""
    whole: Any = result.value
    tree = [one for one in whole["tree"] if one["level"] <= _DRAWN]
    try:
        above = origins(cutting_of(job, whole), tree, columns)
    except VerificationError:  # the verdict above says what is wrong with the tree
        return []
    below = {place: number for number, place in above.items() if place is not None}
    rows: list[list[Content]] = []

    def draw(number: int | None, people: int, name: str, depth: int) -> None:
        if len(rows) >= _SHOWN:
            return
        cut = None if number is None else tree[number]
        shown = "· " * depth + name
        rows.append([foreign(shown, 80), f"{people:,}", foreign(cut["attribute"] if cut else "")])
        for part, size in enumerate(cut["sizes"] if cut else ()):
            assert cut is not None and number is not None  # noqa: S101, PT018
            label = f"{cut['attribute']}: {_text(cut['parts'][part])}"
            draw(below.get((number, part)), size, label, depth + 1)

    for number, place in sorted(above.items()):
        if place is None:
            name = f"{tree[number]['attribute']}: {_text(tree[number]['region'])}"
            draw(number, sum(tree[number]["sizes"]), name, 0)
    return rows


def _text(region: Any) -> str:
    return f"{region['rest']}, the rest" if isinstance(region, dict) else str(region)


def _name(region: Claim) -> str:
    return _text(region.value)
