"""(alpha, k)-anonymity (Wong et al.): no sensitive value has a share above alpha in any group.

The share of a value in a merged group lies between its shares in the parts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from coterie.anonymity.models.model import Counts, Measures, Model, largest, ratio, sizes


@dataclass(frozen=True)
class AlphaAnonymity(Model):
    """No sensitive value has a share above alpha in any group; with k: (alpha, k)-anonymity."""

    alpha: float

    def __post_init__(self) -> None:
        if not 0 < self.alpha < 1:
            raise ValueError(f"alpha must be above 0 and below 1, not {self.alpha:g}")

    @property
    def name(self) -> str:
        return f"alpha {self.alpha:g}"

    def measure(self, counts: Counts, overall: Counts) -> Measures:
        return ratio(largest(counts), sizes(counts))

    def _satisfied(self, counts: Counts, overall: Counts) -> Any:
        return self.measure(counts, overall) <= self.alpha
