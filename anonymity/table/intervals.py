"""Writes and reads the intervals of a release.

`[1, 37)` contains 1 and not 37; the topmost interval of a column also contains its upper end:
`[37, 99]`. Releases whose result has no version use the older notation `[1-37)` for both.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass

_EXACT = 2**53  # whole numbers up to this one are written without a point
_NUMBER = r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?"
_INTERVAL = re.compile(rf"\[({_NUMBER}), ({_NUMBER})([)\]])")
_OLD_INTERVAL = re.compile(rf"\[({_NUMBER})-({_NUMBER})\)")


@dataclass(frozen=True)
class Interval:
    """The numbers from `low` up to `high`, with `high` itself if the interval is closed."""

    low: float
    high: float
    closed: bool

    def __str__(self) -> str:
        return f"[{number_text(self.low)}, {number_text(self.high)}{']' if self.closed else ')'}"


def number_text(number: float) -> str:
    """A number in its shortest form: 37, 0.5."""
    return str(int(number)) if number == int(number) and abs(number) < _EXACT else repr(number)


def read_interval(text: str) -> Interval | None:
    """An interval as a release writes it; None for any other text."""
    match = _INTERVAL.fullmatch(text)
    if not match:
        return None
    low, high, closed = float(match[1]), float(match[2]), match[3] == "]"
    return Interval(low, high, closed) if low < high or (closed and low == high) else None


def read_old_interval(text: str) -> Interval | None:
    """An interval in the older notation, which does not say whether it is closed."""
    match = _OLD_INTERVAL.fullmatch(text)
    return Interval(float(match[1]), float(match[2]), False) if match else None


@dataclass(frozen=True)
class Notation:
    """How a release writes intervals."""

    read: Callable[[str], Interval | None]
    write: Callable[[Interval], str]
    says_closed: bool


NOTATION = Notation(read_interval, str, True)
OLD_NOTATION = Notation(
    read_old_interval, lambda i: f"[{number_text(i.low)}-{number_text(i.high)})", False
)


def lower_end(text: str) -> float | None:
    """Where a number or an interval begins; None for any other text."""
    if interval := read_interval(text) or read_old_interval(text):
        return interval.low
    try:  # float() accepts "1_000" and "nan", which a table must not contain
        number = math.nan if "_" in text else float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
