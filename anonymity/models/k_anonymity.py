"""k-anonymity: every group has at least k records (Samarati, Sweeney).

Merging two groups adds their sizes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from coterie.anonymity.models.model import Counts, Measures, Model, sizes


@dataclass(frozen=True)
class KAnonymity(Model):
    """Every group has at least k records."""

    k: int

    def __post_init__(self) -> None:
        if self.k < 1:
            raise ValueError(f"k must be at least 1, not {self.k}")

    @property
    def name(self) -> str:
        return f"{self.k}-anonymity"

    @property
    def bound_from_above(self) -> bool:
        return False

    def measure(self, counts: Counts, overall: Counts) -> Measures:
        records = sizes(counts)
        return np.where(records == 0, np.nan, records)

    def _satisfied(self, counts: Counts, overall: Counts) -> Any:
        return sizes(counts) >= self.k
