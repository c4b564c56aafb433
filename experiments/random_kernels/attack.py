"""Whoever knows the random matrix finds the records behind the published rows.

A published row is B a: `width` linear equations about the features a of one person, of which there
are more than `width`. The attacker guesses the values of the surplus features from their known
grids, solves for the others, and keeps what lies on their grids. The attacker knows what every
partner knows: B, the public scaling to [0, 1], and the grid of each feature.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from coterie.base.arrays import Array
from coterie.experiments.random_kernels.lung import FEATURES, Lung

GUESSED = ("sex", "ph.ecog", "ph.karno", "pat.karno")  # in this order, as many as are needed
_NEAR = 1e-7  # of a grid's unit, far below the step of any grid


@dataclass(frozen=True)
class Recovered:
    width: int
    exact: int  # people with one solution, which is the truth
    ambiguous: int  # people with several solutions
    guesses: int


def attack(lung: Lung, matrix: Array) -> Recovered:
    """From the rows that all hospitals publish."""
    published = lung.x @ matrix.T
    width = len(matrix)
    guessed = [FEATURES.index(name) for name in GUESSED[: len(FEATURES) - width]]
    solved = [at for at in range(len(FEATURES)) if at not in guessed]
    inverse = np.linalg.inv(matrix[:, solved])
    count = len(published)
    solutions = np.zeros(count, int)
    right = np.zeros(count, bool)
    choices = list(product(*(lung.grids[at] for at in guessed)))
    for choice in choices:
        fixed = (np.array(choice) - lung.low[guessed]) / (lung.high - lung.low)[guessed]
        rest = (published - matrix[:, guessed] @ fixed) @ inverse.T
        fits = np.ones(count, bool)
        for place, at in enumerate(solved):
            value = rest[:, place] * (lung.high - lung.low)[at] + lung.low[at]
            grid = np.sort(lung.grids[at])
            near = np.clip(np.searchsorted(grid, value), 1, len(grid) - 1)
            gap = np.minimum(np.abs(value - grid[near]), np.abs(value - grid[near - 1]))
            fits &= gap < _NEAR
        solutions += fits
        found = np.zeros_like(lung.x)
        found[:, guessed], found[:, solved] = fixed, rest
        right |= fits & (np.abs(found - lung.x).max(axis=1) < _NEAR)
    return Recovered(
        width, int((right & (solutions == 1)).sum()), int((solutions > 1).sum()), len(choices)
    )
