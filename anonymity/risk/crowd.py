"""How coarse columns must be for every record to have a crowd: (1-β, k)-anonymity.

Lodha, Thomas, "Probabilistic anonymity" (PinKDD 2007), section 3. A published record should match
at least k of a population's n people with probability above 1-β.

* `most_cells`: the largest number D' of cells of equal probability that keeps that promise.
  `rule="chernoff"` is Theorem 4, D' <= n/(k-1) (1 + x - sqrt(x² + 2x)) with x = -ln β / (k-1);
  `rule="exact"`, the default, is the largest D' for which a Poisson number with mean n/D' is at least
  k with probability 1-β, which permits more.
* `allot`: Equation 1, how many of these cells each column gets: minimise sum w_i/d_i with the product
  of the d_i at most D' and 1 <= d_i <= the values that the column has.
* `least_group`: how many records of a sample a group needs to stand for k people.

What is not promised: β is for one record; for all cells at once take β/D'. Cells must be equally
probable, which quantiles give for independent columns only: measure the share on the table.
Cost: negligible; the records are not read.

Errata. Theorem 4's "small constant c" is 0.45 at k = 10. The paper has no floor of one value (13 of
200 random cases need it) and no whole numbers: the parts are rounded down, then raised one at a
time, where that gains most, while the product stays within D'. "Maximise Σ w/d" in §3.1 means
minimise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np

from coterie.base.errors import UsageError

Rule = Literal["exact", "chernoff"]


def most_cells(population: int, k: int, beta: float, rule: Rule = "exact") -> int:
    """The largest number of cells of equal probability in which a record has its crowd."""
    if population < k:
        raise UsageError(f"a population of {population:,} has no crowd of k = {k:,}")
    if k <= 1:
        return population
    return max(1, math.floor(population / least_mean(k, beta, rule)))


def least_mean(k: int, beta: float, rule: Rule = "exact") -> float:
    """n/D': how many people a cell must have on average."""
    if rule == "chernoff":
        x = -math.log(beta) / (k - 1)
        return (k - 1) / (1 + x - math.sqrt(x * x + 2 * x))
    low, high = 0.0, float(2 * k + 10)
    while poisson_below(k, high) > beta:
        high *= 2
    for _ in range(200):
        middle = (low + high) / 2
        if poisson_below(k, middle) > beta:
            low = middle
        else:
            high = middle
    return high


def poisson_below(k: int, mean: float) -> float:
    """The probability that a Poisson number is below k."""
    if mean == 0:
        return 1.0
    j = np.arange(k)
    logs = -mean + j * math.log(mean) - np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, k)))])
    return float(min(np.exp(logs).sum(), 1.0))


def least_group(k: int, beta: float, share: float) -> int:
    """The records a group of a sample needs, so that k people share its values with chance 1-β.

    The sample is this `share` of the population. Given f records, the number of people is taken to
    be f and a negative binomial number of further ones (Benedetti, Franconi 1998).
    """
    if share >= 1:
        return k
    for records in range(1, k):
        below, term = 0.0, share**records  # no further person
        for further in range(k - records):
            below += term
            term *= (1 - share) * (records + further) / (further + 1)
        if below <= beta:
            return records
    return k


def allot(cells: float, sizes: Sequence[int], weights: Sequence[float] | None = None) -> list[int]:
    """How many values each column keeps, at most `sizes`, the product at most `cells`."""
    chosen = list(weights) if weights is not None else [1.0] * len(sizes)
    if any(weight <= 0 for weight in chosen) or any(size < 1 for size in sizes):
        raise ValueError("weights and sizes must be above 0")
    if math.prod(sizes) <= cells:
        return list(sizes)
    kept = [math.floor(part + 1e-9) for part in shares(cells, sizes, chosen)]
    product = math.prod(kept)
    while True:
        room = [
            i
            for i, part in enumerate(kept)
            if part < sizes[i] and product // part * (part + 1) <= cells
        ]
        if not room:
            return kept
        best = max(room, key=lambda i: (chosen[i] * (1 / kept[i] - 1 / (kept[i] + 1)), -i))
        product = product // kept[best] * (kept[best] + 1)
        kept[best] += 1


def shares(cells: float, sizes: Sequence[int], weights: Sequence[float]) -> list[float]:
    """The best parts before rounding: w_i/λ between 1 and the column's own number, by bisection."""

    def parts(inverse: float) -> list[float]:
        pairs = zip(weights, sizes, strict=True)
        return [min(max(weight * inverse, 1.0), float(size)) for weight, size in pairs]

    low, high = 0.0, max(size / weight for size, weight in zip(sizes, weights, strict=True))
    goal = math.log(max(cells, 1.0))
    for _ in range(200):
        middle = (low + high) / 2
        if sum(map(math.log, parts(middle))) > goal:
            high = middle
        else:
            low = middle
    return parts(low)
