"""t-closeness by the earth mover's distance over the sensitive attribute's own taxonomy.

Li, Li, Venkatasubramanian, "t-closeness: privacy beyond k-anonymity and l-diversity" (ICDE 2007),
section 4; the textbook chapter's case (20.3.3) is a group of stomach ulcer, gastritis and stomach
cancer: three values, all of which reveal a disease of the stomach. Two values are as far apart as
their lowest common ancestor is high: its height over that of the tree. The height of a node is the
longest way down to a leaf.

This is the length of the way between two leaves if the edge from a node up to its parent has half
the difference of their heights, over the tree's height. What passes an edge is the difference
between the shares, in group and table, of all values below it, so that with N records in the table
and n in the group

    work = sum over the nodes below the root of  (height above - height) * |N count - n total|
    distance = work / (2 height of the tree * n * N)

in whole numbers. The distance is convex: a merged group is no further from the table than the
further part. The closed form of the paper, from leaf to root, gives the same number; `audit` has it.

The sensitive column has a taxonomy, and is still released as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from coterie.anonymity.models.closeness import UnlistedValueError
from coterie.anonymity.models.model import Counts, Measures, Model, ratio, sizes
from coterie.anonymity.table.taxonomy import Taxonomy, subtree_heights
from coterie.base.arrays import Ints

_EXACT = 2**62  # products below this are computed in whole numbers


@dataclass(frozen=True)
class Edges:
    """The nodes below the root: their leaves, and twice the length of the edge above them."""

    first: Ints
    last: Ints
    weight: Ints
    height: int  # of the tree

    @classmethod
    def of(cls, taxonomy: Taxonomy) -> Edges:
        heights = subtree_heights(taxonomy)
        below = [(n, c) for n, children in enumerate(taxonomy.children) for c in children]
        return cls(
            np.array([taxonomy.first[c] for _, c in below], np.int64),
            np.array([taxonomy.last[c] for _, c in below], np.int64),
            np.array([heights[n] - heights[c] for n, c in below], np.int64),
            max(heights[0], 1),
        )


@dataclass(frozen=True)
class TaxonomyCloseness(Model):
    """The earth mover's distance over a taxonomy from a group to the table is at most t."""

    t: float
    taxonomy: Taxonomy | None = None  # that of the sensitive attribute
    leaves: tuple[int, ...] | None = field(default=None)  # the leaf of each column of counts

    def __post_init__(self) -> None:
        if not 0 < self.t < 1:
            raise ValueError(f"t must be above 0 and below 1, not {self.t:g}")

    @property
    def name(self) -> str:
        return f"{self.t:g}-closeness (taxonomy)"

    @property
    def edges(self) -> Edges:
        if self.taxonomy is None:
            raise TypeError("the model has not been told the taxonomy")
        return Edges.of(self.taxonomy)

    def for_values(self, values: Sequence[str]) -> TaxonomyCloseness:
        if self.taxonomy is None:
            raise ValueError("'distance: taxonomy' needs a taxonomy of the sensitive attribute")
        places = {leaf: at for at, leaf in enumerate(self.taxonomy.leaves)}
        for value in values:
            if value not in places:
                raise UnlistedValueError(value, "the taxonomy")
        return replace(self, leaves=tuple(places[value] for value in values))

    def by_leaf(self, counts: Counts) -> Counts:
        """The counts with a column for each leaf of the taxonomy."""
        if self.leaves is None or self.taxonomy is None:
            raise TypeError("the model has not been told which value is which")
        found = np.zeros((*counts.shape[:-1], len(self.taxonomy.leaves)), counts.dtype)
        found[..., list(self.leaves)] = counts
        return found

    def measure(self, counts: Counts, overall: Counts) -> Measures:
        edges = self.edges
        total, records = int(overall.sum()), sizes(counts)
        most = total * total * 2 * int(edges.weight.sum() + edges.height)
        kind = np.int64 if most < _EXACT else np.float64
        table = self.by_leaf(overall).astype(kind) * records.astype(kind)[:, None]
        gaps = self.by_leaf(counts).astype(kind) * kind(total) - table
        before = np.concatenate([np.zeros((len(gaps), 1), kind), np.cumsum(gaps, axis=1)], axis=1)
        moved = np.abs(before[:, edges.last] - before[:, edges.first]) @ edges.weight.astype(kind)
        return ratio(moved, records.astype(kind) * kind(total) * kind(2 * edges.height))

    def _satisfied(self, counts: Counts, overall: Counts) -> Any:
        return self.measure(counts, overall) <= self.t
