"""Trees and nets as SVG pictures, without a drawing library: files of their own, and parts of a report."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from coterie.base.text import one_line
from coterie.jobs.pages.markup import Element, element

_COLUMN, _ROW, _MARGIN = 110, 90, 30
_PALETTE = ("#1b6ca8", "#b5502b", "#3a7d44", "#7a4b9e", "#a8871b", "#4a5a6a")


def draw_tree(tree: dict[str, Any], parties: Sequence[str]) -> Element:
    """Draws a decision tree of `result.json`: splits in the colours of their owners, leaves below."""
    shapes: list[Element] = []
    next_leaf = iter(range(1_000_000))
    depth = _depth(tree)

    def place(node: dict[str, Any], level: int) -> tuple[float, float]:
        y = _MARGIN + 20 + level * _ROW
        if "class" in node:
            x = _MARGIN + _COLUMN / 2 + next(next_leaf) * _COLUMN
            shapes.extend(_box(x, y, node["class"], "#ffffff", "#333333"))
            return x, y
        children = [(label, place(child, level + 1)) for label, child in node["branches"].items()]
        x = sum(at[0] for _, at in children) / len(children)
        for label, (child_x, child_y) in children:
            shapes.insert(0, _line(x, y + 14, child_x, child_y - 14))
            shapes.append(_text((x + 2 * child_x) / 3, (y + 2 * child_y) / 3, label, 11))
        shapes.extend(_box(x, y, node["attribute"], _colour(node["party"], parties), "#ffffff"))
        return x, y

    place(tree, 0)
    leaves = next(next_leaf)
    width = 2 * _MARGIN + max(leaves, 2) * _COLUMN
    height = 2 * _MARGIN + 40 + depth * _ROW + 30
    return _svg("The decision tree", width, height, [*shapes, *_legend(parties, height - 16)])


def draw_net(
    nodes: Sequence[str],
    edges: Sequence[Sequence[str]],
    owners: dict[str, str],
    parties: Sequence[str],
) -> Element:
    """Draws a Bayes net: nodes on a circle in their order, an arrow from parent to child."""
    radius = max(120, 26 * len(nodes))
    centre = radius + 90
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
    size = 2 * centre
    return _svg("The Bayes net", size, size + 30, [*shapes, *_legend(parties, size + 14)])


def _colour(party: str | None, parties: Sequence[str]) -> str:
    """A colour for each party; grey for what all hold."""
    return _PALETTE[list(parties).index(party) % len(_PALETTE)] if party else "#333333"


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
        width=round(width), height=round(height), font_family="sans-serif", class_="drawn", role="img",
    )  # fmt: skip


def _box(x: float, y: float, label: str, fill: str, ink: str) -> list[Element]:
    width = max(46, 8 * len(_shown(label)) + 16)
    box = element(
        "rect", x=x - width / 2, y=y - 14, width=width, height=28, rx=6,
        fill=fill, stroke="#333", stroke_width=1,
    )  # fmt: skip
    return [box, _text(x, y + 4, label, 13, ink)]


def _text(x: float, y: float, label: str, size: int, ink: str = "#333333") -> Element:
    return element("text", _shown(label), x=x, y=y, font_size=size, text_anchor="middle", fill=ink)


def _shown(label: str) -> str:
    return one_line(label, 40)


def _line(x1: float, y1: float, x2: float, y2: float, arrow: bool = False) -> Element:
    end = "url(#arrow)" if arrow else None
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, stroke="#888", marker_end=end)


def _legend(parties: Sequence[str], y: float) -> Iterator[Element]:
    x = _MARGIN
    for i, party in enumerate(parties):
        fill = _PALETTE[i % len(_PALETTE)]
        yield element("rect", x=x, y=y - 10, width=12, height=12, fill=fill)
        yield element("text", _shown(party), x=x + 17, y=y, font_size=12)
        x += 40 + 8 * len(_shown(party))
