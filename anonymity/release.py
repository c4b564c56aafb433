"""Reading a release back: its values are texts, of which some are intervals such as `[1-37)`."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from anonymity.decision_tree import Attribute, Labels, Numbers

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


def coded_attribute(name: str, codes: np.ndarray[Any, Any], values: Sequence[str]) -> Attribute:
    """A released column for the learner: numbers where all values are numbers or intervals."""
    ends = [lower_end(value) for value in values]
    numbers = [end for end in ends if end is not None]
    if len(numbers) < len(ends):
        return Labels(name, codes.astype(np.int64), len(values))
    return Numbers(name, np.array(numbers, np.float64)[codes])


def learner_attribute(name: str, texts: Sequence[str]) -> Attribute:
    """The same from one text per record."""
    values, codes = np.unique(np.asarray(texts, dtype=str), return_inverse=True)
    return coded_attribute(name, codes, [str(value) for value in values])
