"""Entropy l-diversity (Machanavajjhala et al.): the entropy of the sensitive values is at least log
l.

Entropy is concave, so the entropy of a merged group is at least the smaller one of its parts.
Entropies are compared as `round(entropy * 2**30)`, like scores.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from coterie.anonymity.models.model import Counts, Measures, Model, ratio, sizes

SCALE = float(2**30)


@dataclass(frozen=True)
class EntropyDiversity(Model):
    """The entropy of the sensitive values in every group is at least log l; l need not be whole."""

    l: float  # noqa: E741

    def __post_init__(self) -> None:
        if not self.l > 1:
            raise ValueError(f"l must be above 1, not {self.l:g}")

    @property
    def name(self) -> str:
        return f"entropy {self.l:g}-diversity"

    @property
    def bound_from_above(self) -> bool:
        return False

    @staticmethod
    def _entropy(counts: Counts) -> Measures:
        shares = ratio(counts, sizes(counts)[:, None])
        logs = np.log2(shares, out=np.zeros_like(shares), where=shares > 0)
        entropy: Measures = -(shares * logs).sum(axis=1)
        return entropy

    def measure(self, counts: Counts, overall: Counts) -> Measures:
        """The largest l for which the group is diverse."""
        return np.exp2(self._entropy(counts))

    def _satisfied(self, counts: Counts, overall: Counts) -> Any:
        least = np.rint(np.log2(self.l) * SCALE)
        return np.rint(self._entropy(counts) * SCALE) >= least
