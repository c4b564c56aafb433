"""Records that are probably of one person: equal in all columns but one, with rare values.

Motwani, Xu (P3DM 2008) note that records which agree on columns that separate nearly all others are
likely duplicates. Here two records count that agree in all columns but at most one. How surprising
that is depends on how frequent the values are: with shares p of their values, n (n-1) / 2 times the
product of all p of the agreeing columns such pairs would be expected if columns were independent.
Columns that tell nothing beyond the others (`counted` leaves them out) are not surprising a second
time. Pairs of which less than `EXPECTED` are expected are listed, the rarest first.

Not promised: columns of people are not independent, so that some pairs listed are two persons;
pairs that differ in two columns are not looked for. Cost: m (m+1)/2 passes over the table. Errata:
none.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from coterie.anonymity.risk.grouping import whole
from coterie.base.arrays import Codes, Floats

EXPECTED = 0.01


@dataclass(frozen=True)
class Likely:
    """Two records, counted from 0, the column in which they differ, and how many are expected."""

    one: int
    other: int
    differs: int | None
    expected: float


def likely_duplicates(
    columns: Sequence[Codes], records: int, most: int = 20, counted: Sequence[int] | None = None
) -> list[Likely]:
    """The most surprising pairs that agree in all columns but at most one."""
    rarity = [
        _rarity(codes) if counted is None or j in counted else np.zeros(records)
        for j, codes in enumerate(columns)
    ]
    total: Floats = np.sum(rarity, axis=0) if columns else np.zeros(records)
    pairs = math.log(max(records * (records - 1) / 2, 1))
    found: list[Likely] = []
    before = whole(records)  # all columns before the one that is left out
    for j in range(len(columns) + 1):
        groups = before
        for codes in columns[j + 1 :]:
            groups = groups.refined(codes)
        left_out = j if j < len(columns) else None
        one, other = groups.neighbours()
        if left_out is not None:
            differ = columns[j][one] != columns[j][other]
            one, other = one[differ], other[differ]
        surprise = total[one] - (rarity[j][one] if left_out is not None else 0)
        found += [
            Likely(int(one[at]), int(other[at]), left_out, math.exp(pairs - surprise[at]))
            for at in np.argsort(-surprise, kind="stable")[:most].tolist()
        ]
        if j < len(columns):
            before = before.refined(columns[j])
    found = [pair for pair in found if pair.expected < EXPECTED]
    return sorted(found, key=lambda pair: (pair.expected, pair.one, pair.other))[:most]


def _rarity(codes: Codes) -> Floats:
    """-ln of the share of each record's value."""
    counts = np.bincount(codes)
    return np.asarray(math.log(max(len(codes), 1)) - np.log(np.maximum(counts, 1))[codes])
