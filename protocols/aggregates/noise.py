"""How much noise numbers of a table need for differential privacy, and who draws it.

Two tables are neighbours if they are about the same records, and one record has other values, in
any of its columns at whichever party. Which records there are, and how many, is not protected: matching
reveals it. A mechanism M is (epsilon, delta)-differentially private if for neighbours T and T' and
every set S of answers P(M(T) in S) <= exp(epsilon) P(M(T') in S) + delta.

A query adds up one number of each record within the record's group. If the number is between `low`
and `high`, the vector of all groups' sums changes between neighbours by at most

    max(high - low, 2 m)          added up (m is the larger of |low| and |high|), or
    max((high - low)^2, 2 m^2)    squared and added up

since the record either stays in its group or leaves one group and joins another. All queries of a
question share epsilon evenly:

    delta = 0    discrete Laplace noise of the scale Q * change / epsilon for each of Q queries; the
                 changes divided by the scales add up to epsilon
    delta > 0    discrete Gaussian noise with scale^2 = Q * change / (2 rho). The question satisfies
                 rho-concentrated differential privacy (Canonne, Kamath and Steinke, NeurIPS 2020,
                 theorem 14), and so (epsilon, delta) for the rho with epsilon = rho +
                 2 sqrt(rho ln(1/delta)) (Bun and Steinke, TCC 2016, proposition 1.3)

Scales are rounded up, and rho down.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from coterie.base.arrays import Ints
from coterie.protocols.aggregates.discrete_noise import (
    Scale,
    gaussian,
    laplace,
    root_scale_of,
    scale_of,
)
from coterie.protocols.primitives.randomness import Random

LEAST_EPSILON, MOST_EPSILON = Fraction(1, 1000), Fraction(20)
LEAST_DELTA, MOST_DELTA = Fraction(1, 10**15), Fraction(1, 1000)


@dataclass(frozen=True)
class Query:
    """What one record adds to the sum of its group: a number from `low` to `high`."""

    low: int
    high: int

    def change(self, groups: int) -> int:
        """By how much the sums of all groups change together, at most."""
        return max(self.high - self.low, 2 * self._most if groups > 1 else 0)

    def squared_change(self, groups: int) -> int:
        """By how much the squares of these changes add up to, at most."""
        return max((self.high - self.low) ** 2, 2 * self._most**2 if groups > 1 else 0)

    @property
    def _most(self) -> int:
        return max(abs(self.low), abs(self.high))


@dataclass(frozen=True)
class Noise:
    """The promise of a question: epsilon, and delta, which is 0 with Laplace noise."""

    epsilon: Fraction
    delta: Fraction

    @property
    def mechanism(self) -> str:
        return "discrete Gaussian" if self.delta else "discrete Laplace"

    @property
    def rho(self) -> Fraction:
        """The concentrated privacy that implies the promise, rounded down."""
        log = math.log(1 / self.delta)
        root = float(self.epsilon) / (math.sqrt(float(self.epsilon) + log) + math.sqrt(log))
        return Fraction(root * root * (1 - 1e-9))

    def scales(self, queries: Sequence[Query], groups: int) -> list[Scale]:
        """The scale of the noise of each query. ValueError if one is too large to be drawn."""
        number = len(queries)
        if not self.delta:
            return [scale_of(number * query.change(groups) / self.epsilon) for query in queries]
        return [
            root_scale_of(number * query.squared_change(groups) / (2 * self.rho))
            for query in queries
        ]

    def draw(self, scale: Scale, count: int, rng: Random) -> Ints:
        return (gaussian if self.delta else laplace)(scale, count, rng)

    def deviation(self, scale: Scale) -> float:
        """The standard deviation of one draw."""
        if self.delta:
            return float(scale)  # exact up to an exponentially small part for scales above 1
        decay = math.exp(-1 / float(scale))
        return math.sqrt(2 * decay) / (1 - decay)
