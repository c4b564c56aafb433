"""t-closeness by the Kullback-Leibler divergence (the textbook chapter, 20.3.3 and exercise 11).

    D = sum over the values of p ln(p / q) <= t,   p the shares in the group, q those in the table

The logarithm is natural, so that t is in nats and has no upper end. q is above 0 wherever p is,
since the group is part of the table. The divergence is convex in p: a merged group is no further
from the table than the further part. Divergences are compared as `round(D * 2**30)`.

Not promised: the divergence says nothing of how far apart values are; and a value that is rare in
the table may have a large share in a small group before D is large.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from coterie.anonymity.models.model import Counts, Measures, Model, ratio, sizes

SCALE = float(2**30)


@dataclass(frozen=True)
class DivergenceCloseness(Model):
    """The Kullback-Leibler divergence of a group's sensitive values from the table's is at most t."""

    t: float

    def __post_init__(self) -> None:
        if not self.t > 0:
            raise ValueError(f"t must be above 0, not {self.t:g}")

    @property
    def name(self) -> str:
        return f"{self.t:g}-closeness (kl)"

    def measure(self, counts: Counts, overall: Counts) -> Measures:
        shares = ratio(counts, sizes(counts)[:, None])
        against = ratio(shares, ratio(overall, overall.sum()))
        there = counts > 0
        logs = np.log(against, out=np.zeros_like(shares), where=there)
        found: Measures = np.where(there, shares * logs, 0.0).sum(axis=1)
        return np.where(there.any(axis=1), found, np.nan)

    def _satisfied(self, counts: Counts, overall: Counts) -> Any:
        return np.rint(self.measure(counts, overall) * SCALE) <= np.rint(self.t * SCALE)
