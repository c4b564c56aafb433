"""Intervals as a release writes them, such as `[1-37)`, read back as numbers."""

from __future__ import annotations

import math
import re

_NUMBER = r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?"
_INTERVAL = re.compile(rf"\[({_NUMBER})-({_NUMBER})\)")


def interval_ends(text: str) -> tuple[float, float] | None:
    """The two ends of an interval as a release writes it; None for any other text."""
    match = _INTERVAL.fullmatch(text)
    return (float(match[1]), float(match[2])) if match else None


def lower_end(text: str) -> float | None:
    """Where a number or an interval begins; None for any other text."""
    ends = interval_ends(text)
    if ends:
        return ends[0]
    try:  # float() takes "1_000" and "nan", too; a table does not
        number = math.nan if "_" in text else float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
