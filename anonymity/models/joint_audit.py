"""Checks joint diversity of one released group independently of `joint_diversity`.

`joint_diversity` bounds its search by rows that share no value; here the bound is the number of
rows that the most frequent values can delete. Both are exact.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from coterie.base.arrays import Ints

MOST_TRIALS = 200_000


def resists_deletions(rows: Ints, least: int, most: Sequence[int]) -> bool | None:
    """Whether no `least - 1` values, at most `most[c]` of column c, are contained in all rows.

    A row has one code for each column. None if the search takes more than `MOST_TRIALS` trials.
    """
    rows = np.unique(rows, axis=0)
    if not len(rows) or _certificate(rows, least):
        return True
    trials = [MOST_TRIALS]
    answer = _deletable(rows, least - 1, list(most), trials)
    return None if trials[0] < 0 else not answer


def _certificate(rows: Ints, size: int) -> bool:
    """Whether `size` rows without a common value are found greedily: each needs a deletion.

    Each step adds the row that excludes the fewest of the other rows.
    """
    left = rows
    for _ in range(size):
        if not len(left):
            return False
        rarity = np.zeros(len(left), np.int64)
        for column in left.T:
            rarity += np.bincount(column)[column]
        pick = left[rarity.argmin()]
        left = left[(left != pick).all(axis=1)]
    return True


def _deletable(rows: Ints, budget: int, most: list[int], trials: list[int]) -> bool:
    """Whether `budget` values are contained in all rows; gives up when the trials are used up."""
    if not len(rows):
        return True
    trials[0] -= 1
    if trials[0] < 0:
        return False
    frequent = [np.sort(np.bincount(column))[::-1] for column in rows.T]
    largest = np.concatenate([f[:limit] for f, limit in zip(frequent, most, strict=True)])
    if np.sort(largest)[::-1][:budget].sum() < len(rows):
        return False
    column = int(np.argmax([f[0] for f in frequent]))
    common = np.bincount(rows[:, column]).argmax()
    row = rows[rows[:, column] == common][0]
    for at in np.argsort([-np.count_nonzero(rows[:, c] == row[c]) for c in range(len(row))]):
        if most[at] > 0:
            fewer = most.copy()
            fewer[at] -= 1
            if _deletable(rows[rows[:, at] != row[at]], budget - 1, fewer, trials):
                return True
    return False
