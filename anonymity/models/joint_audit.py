"""Checks several sensitive columns of one released group, independently of the models.

This module and `deletion_search`, which the models use, both search exactly for a deletion of all
rows; here it is a recursion that divides the rows, by the most frequent value first. Exponential
diversity is counted with Python's own sets.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from coterie.base.arrays import Ints
from coterie.base.compiled import compiled

MOST_TRIALS = 200_000


def resists_deletions(rows: Ints, least: int, most: Sequence[int]) -> bool | None:
    """Whether no `least - 1` values, at most `most[c]` of column c, are contained in all rows.

    A row has one code for each column. None if the search takes more than `MOST_TRIALS` trials.
    """
    rows = np.unique(rows, axis=0)
    if not len(rows) or _certificate(rows, least):
        return True
    trials = np.array([MOST_TRIALS])
    answer = _deletable(rows, least - 1, np.array(most, np.int64), trials)
    return None if trials[0] < 0 else not answer


def shows_beside_others(rows: Ints, least: int) -> bool:
    """Whether each column has `least` values beside every combination of the other columns."""
    for column in range(rows.shape[1]):
        values: dict[tuple[int, ...], set[int]] = {}
        for row in rows.tolist():
            values.setdefault((*row[:column], *row[column + 1 :]), set()).add(row[column])
        if any(len(own) < least for own in values.values()):
            return False
    return True


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


@compiled
def _pairwise_different(rows: Ints, weights: Ints, size: int) -> bool:
    """Whether `size` rows are found, the rarest first, of which no two share a value."""
    chosen = np.empty(size, np.int64)
    number = 0
    for i in np.argsort(weights):
        apart = True
        for other in chosen[:number]:
            apart = apart and not np.any(rows[other] == rows[i])
        if apart:
            chosen[number] = i
            number += 1
            if number == size:
                return True
    return False


@compiled
def _deletable(rows: Ints, budget: int, most: Ints, trials: Ints) -> bool:
    """Whether `budget` values are contained in all rows; gives up when the trials are used up."""
    if len(rows) == 0:
        return True
    trials[0] -= 1
    if trials[0] < 0 or budget == 0:
        return False
    columns = rows.shape[1]
    times = np.empty(rows.shape, np.int64)  # how often the value of each cell occurs
    largest = np.zeros((columns, budget), np.int64)
    for c in range(columns):
        frequency = np.bincount(rows[:, c])
        times[:, c] = frequency[rows[:, c]]
        most_frequent = np.sort(frequency)[::-1][: min(budget, most[c])]
        largest[c, : len(most_frequent)] = most_frequent
    if np.sort(largest.ravel())[::-1][:budget].sum() < len(rows):
        return False
    if _pairwise_different(rows, times.sum(axis=1), budget + 1):
        return False
    cell = times.argmax()
    row = rows[cell // columns]
    for at in np.argsort(-times[cell // columns]):
        if most[at] > 0:
            fewer = most.copy()
            fewer[at] -= 1
            if _deletable(rows[rows[:, at] != row[at]], budget - 1, fewer, trials):
                return True
    return False
