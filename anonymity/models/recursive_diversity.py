"""Recursive (c, l)-diversity (Machanavajjhala et al.): r1 < c (rl + ... + rm), frequencies falling.

In a merged group the most frequent value has at most the sum of the two r1, and the rest from the
l-th place on at least the sum of the two rests.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from coterie.anonymity.models.model import Counts, Measures, Model, largest, ratio


@dataclass(frozen=True)
class RecursiveDiversity(Model):
    """(c, l): the most frequent value is rarer than c times all values from the l-th on together."""

    c: float
    l: int  # noqa: E741

    def __post_init__(self) -> None:
        if self.l < 2:
            raise ValueError(f"l must be at least 2, not {self.l}")
        if not self.c > 0:
            raise ValueError(f"c must be above 0, not {self.c:g}")

    @property
    def name(self) -> str:
        return f"recursive ({self.c:g}, {self.l})-diversity"

    def measure(self, counts: Counts, overall: Counts) -> Measures:
        """r1 / (rl + ... + rm), which c must exceed."""
        falling = -np.sort(-counts, axis=1)
        return ratio(largest(counts), falling[:, self.l - 1 :].sum(axis=1))

    def _satisfied(self, counts: Counts, overall: Counts) -> Any:
        return self.measure(counts, overall) < self.c
