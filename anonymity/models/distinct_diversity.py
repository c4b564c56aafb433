"""Distinct l-diversity (Machanavajjhala et al.): at least l sensitive values occur in every group.

A merged group has every value that either part has.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from coterie.anonymity.models.model import Counts, Measures, Model


@dataclass(frozen=True)
class DistinctDiversity(Model):
    """At least l different sensitive values occur in every group."""

    l: int  # noqa: E741

    def __post_init__(self) -> None:
        if self.l < 2:
            raise ValueError(f"l must be at least 2, not {self.l}")

    @property
    def name(self) -> str:
        return f"distinct {self.l}-diversity"

    @property
    def bound_from_above(self) -> bool:
        return False

    def measure(self, counts: Counts, overall: Counts) -> Measures:
        values = (counts > 0).sum(axis=1)
        return np.where(values == 0, np.nan, values)

    def _satisfied(self, counts: Counts, overall: Counts) -> Any:
        return (counts > 0).sum(axis=1) >= self.l
