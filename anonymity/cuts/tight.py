"""Tight boxes: the lowest and the highest number of each final group, which belong to somebody."""

from __future__ import annotations

import math

import numpy as np

from coterie.anonymity.cuts.regions import Box, Missing, Region
from coterie.anonymity.table.columns import ContinuousColumn
from coterie.base.arrays import Array


def ends_of(column: ContinuousColumn, part: Array, groups: int) -> tuple[Array, Array]:
    """The two ends of each group's numbers, NaN without any; and whether it has gaps."""
    known = column.codes < len(column.values)
    numbers = column.values[column.codes[known]]
    low, high = np.full(groups, math.inf), np.full(groups, -math.inf)
    np.minimum.at(low, part[known], numbers)
    np.maximum.at(high, part[known], numbers)
    ends = np.stack([low, high], axis=1)
    ends[low > high] = math.nan
    gaps = np.zeros(groups, np.uint8)
    gaps[part[~known]] = 1
    return ends, gaps


def boxes_of(column: ContinuousColumn, part: Array, groups: int) -> list[Region]:
    ends, gaps = ends_of(column, part, groups)
    return [
        Missing() if math.isnan(low) else Box(low, high, bool(gap))
        for (low, high), gap in zip(ends.tolist(), gaps.tolist(), strict=True)
    ]
