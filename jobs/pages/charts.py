"""Charts as SVG, drawn without a library. Colours come from the page's style, so that they follow
light, dark and paper; every chart has a sentence that says what it shows, for those who do not see it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from coterie.base.text import one_line
from coterie.jobs.pages.markup import Content, Element, element

WIDTH = 640.0
_SERIES = 6  # the style has so many colours
BESIDE = 14  # characters that stand beside a bar, also in the larger letters of a phone
ABOVE = 60  # characters that stand above a bar
_LETTER = 11.0  # pixels of a digit in the larger letters of a phone
_PLACES = 480  # places across a chart that an eye can tell apart


def chart(about: str, height: float, *shapes: Content, width: float = WIDTH) -> Element:
    """The frame of a chart: as wide as the page, never wider than drawn.

    What it shows may name columns, so that the words are made safe as foreign ones are.
    """
    about = one_line(about)
    return element(
        "svg", element("title", about), *shapes,
        viewBox=f"0 0 {width:.0f} {height:.0f}", role="img", style=f"max-width:{width:.0f}px",
        aria_label=about,
    )  # fmt: skip


def label(
    x: float,
    y: float,
    text: str,
    anchor: str = "start",
    class_: str | None = None,
    longest: int = 80,
) -> Element:
    """Text of a chart. Of one that is longer than `longest` the middle is left out.

    Names of columns often differ in their ends alone. The whole name is shown where the mouse rests.
    """
    whole = one_line(text, 200)
    shown = middle_left_out(whole, longest)
    more = [] if shown == whole else [element("title", whole)]
    return element("text", *more, shown, x=x, y=y, text_anchor=anchor, class_=class_)


def middle_left_out(text: str, longest: int) -> str:
    if len(text) <= longest:
        return text
    end = (longest - 1) // 3
    return f"{text[: longest - 1 - end]}…{text[-end:]}"


@dataclass(frozen=True)
class Rows:
    """Where the rows of a chart are: their names beside them, or above them if one is long."""

    names: Sequence[str]

    @property
    def left(self) -> float:
        """Where a row begins."""
        return 8.0 if self._above else 170.0

    @property
    def height(self) -> float:
        return len(self.names) * self._step

    @property
    def _above(self) -> bool:
        return any(len(one_line(name, 200)) > BESIDE for name in self.names)

    @property
    def _step(self) -> float:
        return 52.0 if self._above else 26.0

    def top(self, at: int) -> float:
        """The upper end of a row, which is 26 high."""
        return at * self._step + (26.0 if self._above else 0.0)

    def name(self, at: int) -> Element:
        if self._above:
            return label(self.left, self.top(at) - 4, self.names[at], longest=ABOVE)
        return label(self.left - 8, self.top(at) + 17, self.names[at], "end")


def bars(about: str, values: Sequence[tuple[str, float, str]]) -> Element:
    """Horizontal bars: a label, a length, and the words beside the bar."""
    most = max((value for _, value, _ in values), default=0.0) or 1.0
    rows, right = Rows([name for name, _, _ in values]), 130.0
    shapes: list[Content] = []
    for at, (_, value, words) in enumerate(values):
        y = rows.top(at)
        length = max((WIDTH - rows.left - right) * value / most, 1.0)
        shapes += [
            rows.name(at),
            element("rect", x=rows.left, y=y + 4, width=length, height=18, class_="bar"),
            label(rows.left + length + 6, y + 17, words, class_="quiet"),
        ]
    return chart(about, max(rows.height, 26.0), *shapes)


def overlap(about: str, names: Sequence[str]) -> Element:
    """A row for each holder: what all have in common, and beyond it what nobody is told the size of."""
    rows = Rows(names)
    end = rows.left + 0.4 * (WIDTH - rows.left)
    shapes: list[Content] = []
    for at, _ in enumerate(names):
        y = rows.top(at) + 4
        open_end = f"M{end:.1f} {y:.1f}H{WIDTH:.1f}M{end:.1f} {y + 18:.1f}H{WIDTH:.1f}"
        shapes += [
            rows.name(at),
            element("rect", x=rows.left, y=y, width=end - rows.left, height=18, class_="bar"),
            element("path", d=open_end, class_="open"),
        ]
    return chart(about, max(rows.height, 26.0), *shapes)


def short_number(value: float) -> str:
    """A whole number in few characters: 12,345,678 is 12.3M."""
    for unit, name in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= unit:
            return f"{float(f'{value / unit:.3g}'):g}{name}"
    return f"{value:.0f}"


def histogram(about: str, columns: Sequence[tuple[str, float]], axis: str) -> Element:
    """Upright bars with their value above and their label below."""
    most = max((value for _, value in columns), default=0.0) or 1.0
    height, top, bottom = 232.0, 26.0, 52.0  # with room for the larger letters of a phone
    step = WIDTH / max(len(columns), 1)
    wide = any(len(f"{value:,.0f}") * _LETTER > step for _, value in columns)
    shapes: list[Content] = []
    for at, (name, value) in enumerate(columns):
        tall = (height - top - bottom) * value / most
        x = at * step
        if value:
            y = height - bottom - tall
            shapes += [
                element("rect", x=x + step * 0.1, y=y, width=step * 0.8, height=max(tall, 1.0), class_="bar"),
                label(x + step / 2, y - 6, short_number(value) if wide else f"{value:,.0f}", "middle", "quiet"),
            ]  # fmt: skip
        shapes.append(label(x + step / 2, height - bottom + 20, name, "middle"))
    shapes += [
        element("line", x1=0, x2=WIDTH, y1=height - bottom, y2=height - bottom, class_="axis"),
        label(WIDTH / 2, height - 8, axis, "middle", "quiet"),
    ]
    return chart(about, height, *shapes)


def steps(about: str, series: Mapping[str, Sequence[float]], axis: str) -> Element:
    """Lines that grow in steps, one for each series, each named at its end."""
    height, left, right, bottom = 260.0, 8.0, 226.0, 34.0
    most = max((value for values in series.values() for value in values), default=0.0) or 1.0
    number = max((len(values) for values in series.values()), default=1)
    across = (WIDTH - left - right) / max(number - 1, 1)
    tall = height - bottom - 14
    shapes: list[Content] = [
        element("line", x1=left, x2=WIDTH - right, y1=height - bottom, y2=height - bottom, class_="axis"),
        label(left, height - 10, axis, class_="quiet"),
    ]  # fmt: skip
    ends: list[float] = []
    for at, (name, values) in enumerate(sorted(series.items(), key=lambda entry: -entry[1][-1])):
        place = f"M{left:.1f} {height - bottom - tall * values[0] / most:.1f}"
        for index, value in _corners(values):
            place += f"H{left + index * across:.1f}V{height - bottom - tall * value / most:.1f}"
        y = height - bottom - tall * values[-1] / most
        y = max(y, ends[-1] + 20) if ends else y  # labels do not cover each other
        ends.append(y)
        shapes += [
            element("path", d=place, class_=f"line c{at % _SERIES}", fill="none"),
            label(WIDTH - right + 8, y + 5, f"{middle_left_out(one_line(name), 12)} {values[-1]:.3f}", class_=f"ink{at % _SERIES}"),
        ]  # fmt: skip
    return chart(about, max(height, (ends[-1] if ends else 0) + 16), *shapes)


def _corners(values: Sequence[float]) -> list[tuple[int, float]]:
    """Where a line of steps turns and ends; of turns too close to tell apart, only the last."""
    every = max(len(values) // _PLACES, 1)
    seen = [*range(every, len(values), every)]
    if len(values) > 1 and (not seen or seen[-1] != len(values) - 1):
        seen.append(len(values) - 1)
    found, before = [], values[0]
    for at in seen:
        if values[at] != before or at == len(values) - 1:
            found.append((at, values[at]))
            before = values[at]
    return found


def strip(
    about: str, edges: Sequence[float], shares: Sequence[float], names: Sequence[str]
) -> Element:
    """A range cut into intervals: as wide as they are, the darker the more records they have."""
    low, high = edges[0], edges[-1]
    scale = WIDTH / ((high - low) or 1.0)
    most = max(shares, default=0.0) or 1.0
    shapes: list[Content] = []
    for at, (name, share) in enumerate(zip(names, shares, strict=True)):
        x, width = (edges[at] - low) * scale, (edges[at + 1] - edges[at]) * scale
        shapes.append(
            element(
                "rect", element("title", f"{one_line(name, 40)}: {share:.1%} of the records"),
                x=x, y=2, width=max(width, 1.0), height=26, class_="segment",
                style=f"fill-opacity:{0.15 + 0.85 * share / most:.2f}",
            )
        )  # fmt: skip
    shapes += [
        label(0, 48, names[0] if names else "", longest=28),
        label(WIDTH, 48, names[-1] if len(names) > 1 else "", "end", longest=28),
    ]
    return chart(about, 54, *shapes)
