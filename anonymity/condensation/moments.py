"""What condensation keeps of groups of records: their sizes, sums and sums of products.

Paper: Aggarwal and Yu, A condensation approach to privacy preserving data mining (2004), as
20.3.1.4 of the chapter (paper 3) has it. For a group of r records, Sum(i) and Sum(i, j) give the mean
Sum(i) / r and the covariance Sum(i, j) / r - Sum(i) Sum(j) / r², which divides by r.

* *Synthetic records.* With the covariance as P Λ P', a record is the mean plus, along each
  eigenvector e, a number uniform on ±sqrt(12 λ_e) / 2, whose variance is λ_e.
* *Split* of a group of 2k, without its records: along the longest eigenvector v the group is taken
  to be uniform on a length R = sqrt(12 λ); the halves have the means μ ± (R / 4) v, the variance
  λ / 4 along v and all other variances as before, and k records each. Within λ / 4 and between 3 λ / 4
  add up to λ (exercise 6), so the sums of the two halves are those of the group.

Guarantee: each group speaks for at least k people; nothing more. A synthetic record is nobody's, but
k equal records are reproduced as they are, and with no more records than columns all synthetic
records lie in the span of the real ones.

Erratum: the chapter gives the size of a group as r in (k, 2k - 1); it is k to 2k - 1, both included.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from coterie.base.arrays import Floats, Ints
from coterie.base.randomness import SYSTEM, Bytewise, uniform

_SLICE = 1 << 16  # synthetic records that are made together


@dataclass(frozen=True)
class Moments:
    """Groups in rows: `sizes`, `sums` (a column each) and `products` (a matrix each)."""

    sizes: Ints
    sums: Floats
    products: Floats

    @property
    def means(self) -> Floats:
        return self.sums / self.sizes[:, None]

    @property
    def covariances(self) -> Floats:
        means = self.means
        spread = self.products / self.sizes[:, None, None] - means[:, :, None] * means[:, None, :]
        return (spread + spread.transpose(0, 2, 1)) / 2

    def synthetic(self, source: Bytewise = SYSTEM, share: float = 1.0) -> Floats:
        """As many synthetic records as the groups have, or this share of them, group by group."""
        values, vectors = np.linalg.eigh(self.covariances)
        lengths = np.sqrt(12 * np.maximum(values, 0))
        number = np.maximum(np.rint(self.sizes * share).astype(np.int64), 0)
        group = np.repeat(np.arange(len(self.sizes)), number)
        made = np.empty((len(group), self.sums.shape[1]))
        means = self.means
        for start in range(0, len(group), _SLICE):
            of = group[start : start + _SLICE]
            along = (uniform((len(of), made.shape[1]), source) - 0.5) * lengths[of]
            made[start : start + _SLICE] = means[of] + np.einsum("nj,nij->ni", along, vectors[of])
        return made


def standard_units(points: Floats) -> tuple[Floats, Floats]:
    """The mean and the standard deviation of each column; the deviation of a constant column is 1."""
    centre, scale = points.mean(axis=0), points.std(axis=0)
    varies = scale > 1e-12 * np.maximum(np.abs(centre), 1e-300)
    return centre, np.where(varies, scale, 1.0)


def moments_of(points: Floats, groups: Ints) -> Moments:
    """The sums of groups of records; `groups` has the number of each record's group, from 0."""
    order = np.argsort(groups, kind="stable")
    sizes = np.bincount(groups)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    sums = np.add.reduceat(points[order], starts, axis=0)
    ends = starts + sizes
    products = np.stack(
        [
            points[order[a:b]].T @ points[order[a:b]]
            for a, b in zip(starts.tolist(), ends.tolist(), strict=True)
        ]
    )
    return Moments(sizes, sums, products)


def split(size: int, total: Floats, products: Floats) -> tuple[Floats, Floats]:
    """The sums and the sums of products of the two halves of a group, a row each."""
    half, mean = size // 2, total / size
    spread = products / size - np.outer(mean, mean)
    values, vectors = np.linalg.eigh((spread + spread.T) / 2)
    longest, along = max(float(values[-1]), 0.0), vectors[:, -1]
    apart = np.sqrt(12 * longest) / 4 * along
    spread = spread - 0.75 * longest * np.outer(along, along)
    means = np.stack([mean - apart, mean + apart])
    return half * means, half * (spread + means[:, :, None] * means[:, None, :])
