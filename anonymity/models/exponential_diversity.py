"""Exponential l-diversity (Machanavajjhala et al.), which paper 5 compares its model with.

For every sensitive column, each combination of the other sensitive columns that occurs in a group
occurs there with at least l values of the column. Paper 5 calls the algorithm with this check
Exponential-L, since a group of m columns needs at least l^m rows.

Guarantee: who knows all sensitive values of a person but one, still sees l values for that one.
Merging keeps it: a combination of the union occurs in a part, with l values there. A larger group
need not satisfy it, however: one more row may bring a combination of its own.

Cost: a sort of the different rows for each column.

Errata: "needs l^m rows" is a lower bound only; on the Adult table with three columns and l = 2 not
even the whole table satisfies the model, and the paper's algorithm would then release one group
that violates it. Here such a requirement is refused. It is a baseline to compare with: use
`JointDiversity`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from coterie.anonymity.models.model import Counts, Flags, Measures
from coterie.anonymity.models.tuple_model import TupleModel
from coterie.base.arrays import Ints
from coterie.base.distinct import distinct


@dataclass(frozen=True)
class ExponentialDiversity(TupleModel):
    """Every column shows l values beside each combination of the other columns."""

    @property
    def name(self) -> str:
        return f"exponential {self.l}-diversity of {' and '.join(self.columns)}"

    def holds_for(self, groups: Ints, codes: Ints, count: int) -> Flags:
        fewest = self._fewest(groups.astype(np.int64), codes, count)
        flags: Flags = fewest >= self.l
        return flags

    def measure(self, counts: Counts, overall: Counts) -> Measures:
        groups, codes = np.nonzero(counts)
        fewest = self._fewest(groups, codes, len(counts))
        return np.where(counts.any(axis=1), fewest, np.nan)

    def _fewest(self, groups: Ints, codes: Ints, count: int) -> Measures:
        """For each group the fewest values of a column beside one combination of the others."""
        tuples = self.known_tuples
        different = distinct(groups * len(tuples) + codes)
        group, code = np.divmod(different, max(len(tuples), 1))
        fewest = np.full(count, np.inf)
        for column in range(tuples.shape[1]):
            others = np.delete(tuples, column, axis=1)
            _, number = np.unique(others, axis=0, return_inverse=True)
            key = group * len(tuples) + number.reshape(-1)[code]
            beside, values = np.unique(key, return_counts=True)
            np.minimum.at(fewest, beside // len(tuples), values)
        return fewest
