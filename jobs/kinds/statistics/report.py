"""Reports of counts, trees and nets: the tables with their hidden cells, the drawings."""

from __future__ import annotations

from collections.abc import Sequence

from coterie.jobs.kinds.statistics.verify_tables import ClaimedTable
from coterie.jobs.pages.markup import Content, Element, element, foreign, listed
from coterie.jobs.pages.page import Part, folded, note, table

_CELLS = 4_000  # cells that one table of a report shows
_ALL_CELLS = 12_000  # cells that all tables of a report show
_ARROWS = 2_000  # arrows of a net that are listed
DRAWN_LEAVES = 400  # of a tree
DRAWN_NODES = 60  # of a net, beyond which arrows are listed instead


def report_tables(tables: Sequence[ClaimedTable], minimum: int) -> Part:
    """Tables of counts. Hidden cells are hatched; the shade of a visible one grows with its count."""
    content: list[Content] = [
        note(
            f"A cell that is hatched is not shown: it has fewer than {minimum} records, or it would "
            "give away a cell that has. Which of the two is not told."
        )
    ]
    left = _ALL_CELLS
    for one in tables:
        content.append(element("h3", listed(one.names)))
        shown = len(one.counts) - one.hidden
        content.append(note(f"{shown:,} of {len(one.counts):,} counts are shown."))
        if left <= 0:
            content.append(note("The table is in result.json."))
            continue
        grid = _grid(one, min(_CELLS, left))
        left -= len(one.counts)
        large = shown > 0 and len(tables) > 6
        content.append(folded("The table", grid) if large else grid)
    return Part("Counts", content, public=True)


def _grid(one: ClaimedTable, cells_shown: int) -> Element:
    """The last attribute across, the others down."""
    across = one.domains[-1]
    width = max(len(across), 1)
    most = max((count for count in one.counts if count is not None), default=1) or 1
    head = [element("th", foreign(name), scope="col") for name in one.names[:-1]]
    head += [element("th", foreign(value), scope="col", class_="number") for value in across]
    rows = []
    for start in range(0, min(len(one.counts), cells_shown), width):
        labels: list[str] = []
        rest = start // width
        for domain in reversed(one.domains[:-1]):
            rest, at = divmod(rest, len(domain))
            labels.insert(0, domain[at])
        cells = [element("th", foreign(label), scope="row") for label in labels]
        cells += [_cell(count, most) for count in one.counts[start : start + width]]
        rows.append(element("tr", cells))
    name = one.names[-1]
    return element(
        "div",
        element(
            "table",
            element("caption", "Across: ", foreign(name), class_="quiet"),
            element("thead", element("tr", head)),
            element("tbody", rows),
        ),
        *([note("The rest is in result.json.")] if len(one.counts) > cells_shown else []),
        class_="wide", tabindex="0", role="region", aria_label="counts",
    )  # fmt: skip


def _cell(count: int | None, most: int) -> Element:
    if count is None:
        return element("td", element("span", "hidden", class_="unseen"), class_="hidden")
    return element(
        "td", f"{count:,}", class_="number shade", style=f"--s:{round(count / most * 45)}%"
    )


def report_arrows(title: str, sentence: str, edges: Sequence[tuple[str, str]]) -> Part:
    """A net with too many attributes for a drawing."""
    rows: list[list[Content]] = [[foreign(parent), foreign(child)] for parent, child in edges]
    listed_arrows = table(["helps to predict", "this attribute"], rows[:_ARROWS])
    rest = [note("The rest is in result.json.")] if len(rows) > _ARROWS else []
    return Part(title, [note(sentence), listed_arrows, *rest], public=True)


def report_drawing(
    title: str,
    *,
    own: tuple[str, Element],
    public: tuple[str, Element],
    below: Sequence[Content] = (),
) -> Part:
    """A sentence and a drawing: for the parties with their names, and for everybody without them."""

    def content(sentence: str, drawing: Element) -> list[Content]:
        name = {"role": "region", "aria_label": title}
        return [
            note(sentence),
            element("div", drawing, class_="wide", tabindex="0", **name),
            *below,
        ]

    return Part(title, content(*own), public=True, instead=content(*public))
