"""Writes and reads the intervals of a release.

`[1, 37)` contains 1 and not 37; the topmost interval of a column also contains its upper end:
`[37, 99]`. The ends are written on the column's scale: `[1971-03-13, 1980-01-01)`. `[1, 99] or ?` also stands for
records that have no value.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from coterie.anonymity.table.scales import NUMBER, Scale

GAP = "?"  # how a missing value is shown, and how many tables write one
_OR_GAP = f" or {GAP}"
_NUMBER = r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?"
_INTERVAL = re.compile(rf"\[({_NUMBER}), ({_NUMBER})([)\]])")
_OTHER_INTERVAL = re.compile(r"\[([^,\s][^,]*), ([^,\s][^,]*)([)\]])")


@dataclass(frozen=True)
class Interval:
    """The numbers from `low` up to `high`, with `high` itself if the interval is closed.

    With `gap` it also stands for records without a value.
    """

    low: float
    high: float
    closed: bool
    scale: Scale = NUMBER
    gap: bool = False

    def __str__(self) -> str:
        ends = f"{self.scale.write(self.low)}, {self.scale.write(self.high)}"
        return f"[{ends}{']' if self.closed else ')'}{_OR_GAP if self.gap else ''}"


def read_interval(text: str, scale: Scale = NUMBER) -> Interval | None:
    """An interval as a release writes it; None for any other text."""
    gap = text.endswith(_OR_GAP)
    pattern = _INTERVAL if scale is NUMBER else _OTHER_INTERVAL
    match = pattern.fullmatch(text.removesuffix(_OR_GAP))
    if not match:
        return None
    low, high, closed = scale.read(match[1]), scale.read(match[2]), match[3] == "]"
    holds = low < high or (closed and low == high)
    return Interval(low, high, closed, scale, gap) if holds else None


def lower_end(text: str, scale: Scale = NUMBER) -> float | None:
    """Where a value or an interval of a scale begins; None for any other text."""
    if interval := read_interval(text, scale):
        return interval.low
    number = scale.read(text)
    return number if math.isfinite(number) else None
