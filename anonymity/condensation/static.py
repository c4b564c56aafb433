"""Condensation of a whole table: synthetic records from groups of at least k records.

Paper: Aggarwal and Yu, A condensation approach to privacy preserving data mining (2004); 20.3.1.4 of
the chapter (paper 3), which draws a record and takes its k - 1 nearest; here groups are made by MDAV.
Where there is a class, each class is condensed for itself, so that a synthetic record has a class.

Guarantee: statistics of at least k people stand behind every record, and no more: synthetic records
differ from each other, so this is no k-anonymity. Cost: that of MDAV, n² d / k.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from coterie.anonymity.condensation.mdav import mdav
from coterie.anonymity.condensation.moments import moments_of, standard_units
from coterie.base.arrays import Floats, Ints
from coterie.base.randomness import SYSTEM, Bytewise


@dataclass(frozen=True)
class Condensed:
    """Synthetic records, the class of each, and the sizes of the groups of each class."""

    points: Floats
    classes: Ints
    sizes: dict[int, Ints]


def condense(points: Floats, classes: Ints, k: int, source: Bytewise = SYSTEM) -> Condensed:
    """Condenses each class; every class that occurs must have at least k records."""
    centre, scale = standard_units(points)
    made, of, sizes = [], [], {}
    for number in np.unique(classes).tolist():
        own = (points[classes == number] - centre) / scale
        if len(own) < k:
            raise ValueError(f"class {number} has {len(own)} records, fewer than k = {k}")
        moments = moments_of(own, mdav(own, k))
        made.append(moments.synthetic(source) * scale + centre)
        of.append(np.full(len(own), number))
        sizes[number] = moments.sizes
    return Condensed(np.concatenate(made), np.concatenate(of), sizes)


def covariance_correlation(real: Floats, synthetic: Floats) -> float:
    """The correlation between the entries of two tables' covariance matrices: 1 if they agree.

    The measure of the paper. Columns are standardised by the real table, so that the one with the
    largest numbers does not decide alone.
    """
    scale = real.std(axis=0)
    varies = scale > 0
    if not varies.any():
        return 1.0
    upper = np.triu_indices(int(varies.sum()))
    one, other = (
        np.atleast_2d(np.cov(table[:, varies] / scale[varies], rowvar=False, bias=True))[upper]
        for table in (real, synthetic)
    )
    if len(one) == 1 or np.allclose(one, one[0]) or np.allclose(other, other[0]):
        return 1.0 if np.allclose(one, other, rtol=0.1, atol=0.01) else 0.0
    return float(np.corrcoef(one, other)[0, 1])
