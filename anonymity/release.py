"""Reading a release back: its values are texts, of which some are intervals such as `[1-37)`."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from anonymity.decision_tree import Attribute, Numbers, labels

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
    return float(text) if re.fullmatch(_NUMBER, text) else None


def learner_attribute(name: str, values: Sequence[str]) -> Attribute:
    """A released column for the learner: numbers where all values are numbers or intervals."""
    distinct, codes = np.unique(np.asarray(values, dtype=str), return_inverse=True)
    ends = [lower_end(str(value)) for value in distinct]
    numbers = [end for end in ends if end is not None]
    if len(numbers) < len(ends):
        return labels(name, values)
    return Numbers(name, np.array(numbers, np.float64)[codes])
