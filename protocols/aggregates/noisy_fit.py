"""A linear model from sums of products that have noise.

With noise the matrix of the features' products may have no inverse, or one that consists of noise. So
as much is added to its diagonal as makes its least eigenvalue larger than what noise does to it: with
columns in halves of their ranges, from -1 to 1, and sums of products of the standard deviation s, the
noise of a matrix of p columns has a norm of about t = 2 s sqrt(p). The least of 0, t, 2 t, 4 t, … is
added for which the matrix, less t on the diagonal, is positive. What is added holds the coefficients
back as a penalty does; where records are many beside the noise it is 0. Means are moved into their
ranges, and measures of fit into theirs.

All of this is computed from the noisy sums alone, so that it costs no more privacy. There are no
standard errors: the textbook's do not know of the noise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from coterie.protocols.models.regression import Fit
from coterie.protocols.models.symmetric import Factored, Matrix, SingularError, applied, dot


def fit_noisy(
    sums: Sequence[Sequence[int]],
    limits: Sequence[tuple[float, float]],
    penalty: float,
    reach: int,
    deviation: float,
) -> tuple[Fit, float]:
    """The model of the last column by those before it, and what was added to the diagonal.

    `sums` are in steps, the last column of which is of ones; `deviation` is that of the noise in a
    sum of products of columns from -1 to 1.
    """
    records, width = sums[-1][-1], len(limits)
    size = width - 1
    means = [max(-1.0, min(1.0, sums[i][-1] / reach / records)) for i in range(width)]
    centred: Matrix = [
        [sums[i][j] / reach**2 - records * means[i] * means[j] for j in range(width)]
        for i in range(width)
    ]
    inside = [row[:size] for row in centred[:size]]
    step = 2 * deviation * math.sqrt(size)
    added = 0.0
    while not _positive(inside, added - step):
        added = 2 * added or step
    halves = [(high - low) / 2 for low, high in limits]
    pull = [added + penalty / half**2 for half in halves[:size]]
    across = [row[-1] for row in centred[:size]]
    at = Factored(_raised(inside, pull)).solve(across)
    total = max(centred[-1][-1], deviation)
    left = total - 2 * dot(at, across) + dot(at, applied(inside, at))
    left = max(0.0, min(total, left))
    values = [halves[-1] * value / half for value, half in zip(at, halves, strict=False)]
    centres = [(low + high) / 2 + h * m for (low, high), h, m in zip(limits, halves, means, strict=True)]  # fmt: skip
    measures = {
        "r_squared": 1 - left / total,
        "residual_deviation": halves[-1] * math.sqrt(left / (records - width)),
    }
    intercept = centres[-1] - dot(values, centres[:size])
    return Fit(intercept, None, values, [None] * size, 1, measures), added


def _raised(matrix: Matrix, by: Sequence[float]) -> Matrix:
    return [
        [entry + (by[i] if i == j else 0.0) for j, entry in enumerate(row)]
        for i, row in enumerate(matrix)
    ]


def _positive(matrix: Matrix, by: float) -> bool:
    """Whether the matrix with so much more on its diagonal is positive."""
    try:
        Factored(_raised(matrix, [by] * len(matrix)))
    except SingularError:
        return False
    return True
