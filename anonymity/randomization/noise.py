"""Additive noise on a column of numbers: z = x + y, with y of a public law.

Paper: Agrawal and Srikant, Privacy-preserving data mining (2000); 20.2 of the chapter (paper 3). The
amount of noise is given as the width of the interval that has x with probability 95 % once z is known
and nothing else: 1.9 a for y uniform on [-a, a], 3.92 σ for a normal y.

Guarantee: that interval, against somebody who knows one column's z and nothing else, not the range of
the column, not how it is distributed, not the other columns. `attacks` measures what is left of it.

Erratum: equation 20.2 omits the divisor f_Z(z); that is harmless, since equation 20.1 divides.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from coterie.base.arrays import Floats
from coterie.base.randomness import SYSTEM, Bytewise, normal, uniform

LAWS = ("normal", "uniform")
_WIDTHS = {"normal": 3.92, "uniform": 1.9}  # of the 95 % interval, in σ or in a
_erf = np.frompyfunc(math.erf, 1, 1)


@dataclass(frozen=True)
class Noise:
    """The law of the noise; `size` is σ of a normal, a of a uniform one."""

    law: str
    size: float

    @property
    def interval(self) -> float:
        """The width of the 95 % interval of x given z."""
        return _WIDTHS[self.law] * self.size

    @property
    def deviation(self) -> float:
        return self.size if self.law == "normal" else self.size / math.sqrt(3)

    @property
    def reach(self) -> float:
        """How far z lies from x at most, except for less than one value in a million."""
        return self.size * 5 if self.law == "normal" else self.size

    def draw(self, number: int, source: Bytewise = SYSTEM) -> Floats:
        if self.law == "normal":
            return self.size * normal((number,), source)
        return self.size * (2 * uniform((number,), source) - 1)

    def density(self, y: Floats) -> Floats:
        t = y / self.size
        if self.law == "normal":
            return np.exp(-t * t / 2) / (self.size * math.sqrt(2 * math.pi))
        return np.where(np.abs(t) <= 1, 0.5 / self.size, 0.0)

    def summed_distribution(self, y: Floats) -> Floats:
        """The integral of the distribution function from minus infinity to y."""
        t = y / self.size
        if self.law == "normal":
            below = (1 + np.asarray(_erf(t / math.sqrt(2)), np.float64)) / 2
            return self.size * (t * below + np.exp(-t * t / 2) / math.sqrt(2 * math.pi))
        inside = np.clip(t, -1, 1)
        return self.size * ((inside + 1) ** 2 / 4 + np.maximum(t - 1, 0))


def noise_for(law: str, share: float, span: float) -> Noise:
    """The noise whose 95 % interval is this share of a column's span."""
    return Noise(law, share * span / _WIDTHS[law])
