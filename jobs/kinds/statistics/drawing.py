"""Trees and nets as SVG pictures, without a drawing library: files of their own, and parts of a report."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from coterie.base.text import one_line
from coterie.jobs.pages.charts import middle_left_out
from coterie.jobs.pages.markup import Element, element

_ROW, _MARGIN = 36, 30
_BOXED = 14  # characters of a name in a box
_ALONG = 14  # characters of a label on a branch
_SMALL = 520  # pixels of a drawing that can still be read on the screen of a phone
_PALETTE = ("#1b6ca8", "#b5502b", "#3a7d44", "#7a4b9e", "#a8871b", "#4a5a6a")


def draw_tree(tree: dict[str, Any], parties: Sequence[str], most: int | None = None) -> Element:
    """Draws a decision tree of `result.json`: splits in the colours of their owners in `parties`.

    The root stands at the left and every leaf has a line of its own, so that a tree of many leaves is
    long rather than wide. A label on a branch is the value that leads along it. Of a tree with more
    than `most` leaves the lower levels are left out.
    """
    if most is not None:
        tree = _top(tree, most)
    shapes: list[Element] = []
    next_line = iter(range(1_000_000))
    names, labels = _words(tree)
    turn = max(map(_width, names)) + 14  # from the left of a box to where its branches turn
    beyond = 20 + 7 * max((len(_shown(label, _ALONG)) for label in labels), default=0)

    def place(node: dict[str, Any], level: int) -> tuple[float, float]:
        x = _MARGIN + level * (turn + beyond)
        if "class" in node:
            y = float(_MARGIN + next(next_line) * _ROW + 14)
            shapes.extend(
                _box(x + _width(node["class"]) / 2, y, node["class"], "#ffffff", "#333333")
            )
            return x, y
        children = [(label, place(child, level + 1)) for label, child in node["branches"].items()]
        y = children[0][1][1]  # at the line of the first leaf, so that the root is seen at once
        for label, (child_x, child_y) in children:
            path = f"M{x:.0f} {y:.0f}H{x + turn:.0f}V{child_y:.0f}H{child_x:.0f}"
            shapes.insert(0, element("path", d=path, stroke="#888", fill="none"))
            shapes.append(
                _text(x + turn + 6, child_y - 4, label, 11, longest=_ALONG, anchor="start")
            )
        name, colour = node["attribute"], _colour(node["party"], parties)
        shapes.extend(_box(x + _width(name) / 2, y, name, colour, "#ffffff"))
        return x, y

    place(tree, 0)
    lines = next(next_line)
    width = 2 * _MARGIN + turn + _depth(tree) * (turn + beyond)
    height = 2 * _MARGIN + lines * _ROW + 30
    key = list(_legend(parties, height - 16))
    return _svg("The decision tree", max(width, _legend_width(parties)), height, [*shapes, *key])


def _words(tree: dict[str, Any]) -> tuple[set[str], set[str]]:
    """The names in the boxes of a tree, and the labels on its branches."""
    if "class" in tree:
        return {tree["class"]}, set()
    names, labels = {tree["attribute"]}, set(tree["branches"])
    for child in tree["branches"].values():
        below = _words(child)
        names |= below[0]
        labels |= below[1]
    return names, labels


def _top(tree: dict[str, Any], most: int) -> dict[str, Any]:
    """The upper levels of a tree, as many as have at most so many leaves, and at least the first."""
    for depth in range(_depth(tree), 1, -1):
        cut = _cut(tree, depth)
        if _leaves(cut) <= most:
            return cut
    return _cut(tree, 1)


def _cut(tree: dict[str, Any], depth: int) -> dict[str, Any]:
    if "class" in tree:
        return tree
    if depth == 0:
        return {"class": "…"}
    below = {label: _cut(child, depth - 1) for label, child in tree["branches"].items()}
    return {**tree, "branches": below}


def _leaves(tree: dict[str, Any]) -> int:
    return sum(map(_leaves, tree["branches"].values())) if "branches" in tree else 1


def draw_net(
    nodes: Sequence[str],
    edges: Sequence[Sequence[str]],
    owners: dict[str, str],
    parties: Sequence[str],
) -> Element:
    """Draws a Bayes net: nodes on a circle in their order, an arrow from parent to child."""
    radius = max(120, 26 * len(nodes))
    centre = radius + max(map(_width, nodes), default=0) / 2 + 12
    at = {
        node: (
            centre + radius * math.sin(2 * math.pi * i / len(nodes)),
            centre - radius * math.cos(2 * math.pi * i / len(nodes)),
        )
        for i, node in enumerate(nodes)
    }
    shapes: list[Element] = []
    for parent, child in edges:
        (x1, y1), (x2, y2) = at[parent], at[child]
        length = math.hypot(x2 - x1, y2 - y1)
        cut = 34 / length
        shapes.append(
            _line(
                x1 + (x2 - x1) * cut, y1 + (y2 - y1) * cut,
                x2 - (x2 - x1) * cut, y2 - (y2 - y1) * cut, arrow=True,
            )
        )  # fmt: skip
    for node in nodes:
        shapes += _box(*at[node], node, _colour(owners.get(node), parties), "#ffffff")
    size = max(2 * centre, _legend_width(parties))
    tall = 2 * centre
    return _svg("The Bayes net", size, tall + 30, [*shapes, *_legend(parties, tall + 14)])


def _colour(party: str | None, parties: Sequence[str]) -> str:
    """A colour for each party; grey for what all parties hold, or one that is not named."""
    if party is None or party not in parties:
        return "#333333"
    return _PALETTE[list(parties).index(party) % len(_PALETTE)]


def _depth(tree: dict[str, Any]) -> int:
    return 1 + max(map(_depth, tree["branches"].values())) if "branches" in tree else 0


def _svg(about: str, width: float, height: float, shapes: Sequence[Element]) -> Element:
    arrow = element(
        "marker", element("path", d="M0 0 10 5 0 10z", fill="#666"),
        id="arrow", viewBox="0 0 10 10", refX=9, refY=5, markerWidth=8, markerHeight=8, orient="auto",
    )  # fmt: skip
    return element(
        "svg", element("title", about), element("rect", width="100%", height="100%", fill="#fbfbf9"),
        element("defs", arrow), shapes,
        xmlns="http://www.w3.org/2000/svg", viewBox=f"0 0 {width:.0f} {height:.0f}",
        width=round(width), height=round(height), font_family="sans-serif", role="img",
        class_="drawn small" if width <= _SMALL else "drawn",
    )  # fmt: skip


def _box(x: float, y: float, label: str, fill: str, ink: str) -> list[Element]:
    width = _width(label)
    box = element(
        "rect", x=x - width / 2, y=y - 14, width=width, height=28, rx=6,
        fill=fill, stroke="#333", stroke_width=1,
    )  # fmt: skip
    return [box, _text(x, y + 4, label, 13, ink, _BOXED)]


def _width(label: str) -> float:
    return max(46, 8 * len(_shown(label, _BOXED)) + 16)


def _text(
    x: float,
    y: float,
    label: str,
    size: int,
    ink: str = "#333333",
    longest: int = 40,
    anchor: str = "middle",
) -> Element:
    shown = _shown(label, longest)
    more = [] if shown == one_line(label, 200) else [element("title", one_line(label, 200))]
    return element("text", *more, shown, x=x, y=y, font_size=size, text_anchor=anchor, fill=ink)


def _shown(label: str, longest: int = 40) -> str:
    return middle_left_out(one_line(label, 200), longest)


def _line(x1: float, y1: float, x2: float, y2: float, arrow: bool = False) -> Element:
    end = "url(#arrow)" if arrow else None
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, stroke="#888", marker_end=end)


def _legend_width(parties: Sequence[str]) -> float:
    return 2 * _MARGIN + sum(40 + 8 * len(_shown(party)) for party in parties)


def _legend(parties: Sequence[str], y: float) -> Iterator[Element]:
    x = _MARGIN
    for i, party in enumerate(parties):
        fill = _PALETTE[i % len(_PALETTE)]
        yield element("rect", x=x, y=y - 10, width=12, height=12, fill=fill)
        yield element("text", _shown(party), x=x + 17, y=y, font_size=12)
        x += 40 + 8 * len(_shown(party))
