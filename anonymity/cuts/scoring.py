"""The score of a cut of a group, as a whole number: `round(score * 2**30)` of the exact number.

| score | of the parts P of a group G |
|---|---|
| `width` | priority * sum of \\|P\\| (w - w_P) * \\|G\\| / (\\|G\\|^2 - sum of \\|P\\|^2): the width lost for each pair of records that the cut tells apart |
| `gain-ratio`, `information-gain` | those of specialization, of the classes in G; `width` where G has one class |

The contribution of a cut is what it tells, in bits a record of the whole table, whatever the score:
(T(|G|) - sum of T(|P|)) / n with T(x) = x log2 x.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from coterie.anonymity.cuts.regions import Region, Space
from coterie.anonymity.specialization.scores import (
    SCALE,
    gain_ratio,
    information_gain,
    nearest,
)
from coterie.base.arrays import Array

WIDTH = "width"
SCORES = (WIDTH, "gain-ratio", "information-gain")


@dataclass(frozen=True)
class Scoring:
    """How the cuts of a table are scored; priorities are by attribute, 1 where left out."""

    rule: str
    priority: dict[str, float]

    @property
    def needs_class(self) -> bool:
        return self.rule != WIDTH

    def score(
        self,
        name: str,
        space: Space,
        region: Region,
        parts: Sequence[Region],
        sizes: Sequence[int],
        by_class: Array | None,
    ) -> int:
        """The score of a cut; `by_class` has a row for each part and a column for each class."""
        if by_class is not None and np.count_nonzero(by_class.any(axis=0)) > 1:
            counts = list(by_class[:, by_class.any(axis=0)])
            return gain_ratio(counts) if self.rule == "gain-ratio" else information_gain(counts)
        (whole, *narrow), unit = space.widths([region, *parts])
        records = sum(sizes)
        lost = sum(n * (whole - w) for n, w in zip(sizes, narrow, strict=True))
        pairs = records * records - sum(n * n for n in sizes)
        weight = Fraction(self.priority.get(name, 1.0))
        return nearest(weight.numerator * lost * records * SCALE, weight.denominator * unit * pairs)


def bits_told(sizes: Sequence[int], records: int) -> int:
    """The contribution of a cut into parts of these sizes, times 2^30."""
    # The information gain of a class that is the part itself is its entropy.
    return information_gain(list(np.diag(sizes)), sum(sizes), records)
