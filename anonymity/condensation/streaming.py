"""Condensation of a stream of records, of which only sums are kept.

Paper: Aggarwal and Yu, A condensation approach to privacy preserving data mining (2004); 20.3.1.4 of
the chapter (paper 3). The first 2k records are grouped by MDAV and forgotten. Every further record
joins the group with the nearest mean; a group that has 2k records is split in two of k (see
`moments`).

Guarantee: every group has k to 2k - 1 records, and no record is kept: what is stored are sums over
at least k people. That protects nobody from whoever sees the sums before and after a record: the
difference is the record. Cost: for each record a pass over the means of all groups, n² d / k in all.

Every column is standardised by its mean and its standard deviation in the first 2k records.
Distances and sums are in these units, so that no digits are lost where values are large.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from coterie.anonymity.condensation.mdav import mdav
from coterie.anonymity.condensation.moments import Moments, moments_of, split, standard_units
from coterie.base.arrays import Array, Floats
from coterie.base.compiled import compiled
from coterie.base.randomness import SYSTEM, Bytewise

_BLOCK = 1024  # means that are compared while they are in the processor's cache


@compiled
def _absorb(
    points: Array, begin: int, sizes: Array, sums: Array, products: Array, means: Array,
    groups: int, full: int,
) -> Any:  # fmt: skip
    """Adds records from `begin` on until a group is full; the next record, and the group or -1."""
    width = points.shape[1]
    room = np.empty(_BLOCK, np.float64)
    for i in range(begin, len(points)):
        best, nearest = np.inf, 0
        for start in range(0, groups, _BLOCK):
            end = min(start + _BLOCK, groups)
            away = room[: end - start]
            away[:] = 0.0
            for j in range(width):
                # A slice begins at 0, so that the loop over it becomes one of vectors.
                x, row = points[i, j], means[j, start:end]
                for g in range(end - start):
                    gap = row[g] - x
                    away[g] += gap * gap
            low = away.min()
            if low < best:
                best, nearest = low, start + int(away.argmin())
        sizes[nearest] += 1
        for j in range(width):
            x = points[i, j]
            sums[nearest, j] += x
            means[j, nearest] = sums[nearest, j] / sizes[nearest]
            for other in range(width):
                products[nearest, j, other] += x * points[i, other]
        if sizes[nearest] >= full:
            return i + 1, nearest
    return len(points), -1


class Condenser:
    """Groups of at least k records of a stream, as sums.

    Before 2k records have come, `moments` is None; the records wait in memory, and nowhere else.
    """

    def __init__(self, k: int) -> None:
        if k < 1:
            raise ValueError("a group has at least one record")
        self.k = k
        self.records = 0  # those in a group
        self.centre: Floats = np.zeros(0)  # with `scale`: the units that sums are kept in
        self.scale: Floats = np.ones(0)
        self._waiting: list[Floats] = []
        self._groups = 0
        self._sizes = np.zeros(0, np.int64)
        self._sums = self._products = self._means = np.zeros(0)

    @property
    def waiting(self) -> int:
        """Records that have come, of which nothing is kept yet."""
        return sum(map(len, self._waiting))

    @property
    def moments(self) -> Moments | None:
        """The sums in standardised units; `centre` and `scale` lead back to the data's own."""
        groups = self._groups
        if not groups:
            return None
        return Moments(self._sizes[:groups], self._sums[:groups], self._products[:groups])

    def add(self, batch: Floats) -> None:
        """Adds records, a row each; the numbers must be finite."""
        batch = np.ascontiguousarray(batch, np.float64)
        if not self._groups:
            self._waiting.append(batch)
            if self.waiting < 2 * self.k:
                return
            batch, self._waiting = np.concatenate(self._waiting), []
            batch = self._start(batch[: 2 * self.k], batch[2 * self.k :])
        points = (batch - self.centre) / self.scale
        place = 0
        while place < len(points):
            place, full = _absorb(
                points, place, self._sizes, self._sums, self._products, self._means,
                self._groups, 2 * self.k,
            )  # fmt: skip
            if full >= 0:
                self._split(full)
        self.records += len(points)

    def _start(self, first: Floats, rest: Floats) -> Floats:
        """Groups the first records, and returns those that come after them."""
        centre, scale = standard_units(first)
        points = (first - centre) / scale
        self.resume(centre, scale, moments_of(points, mdav(points, self.k)))
        return rest

    def resume(self, centre: Floats, scale: Floats, moments: Moments) -> None:
        """Goes on from the sums that were kept."""
        self.centre, self.scale = centre, scale
        self._groups = len(moments.sums)
        self._sizes, self._sums = moments.sizes.copy(), moments.sums.copy()
        self._products = moments.products.copy()
        self._means = np.ascontiguousarray(moments.means.T)
        self.records = int(moments.sizes.sum())

    def _split(self, group: int) -> None:
        if self._groups == len(self._sizes):  # room for twice as many
            self._sizes = np.concatenate([self._sizes, np.zeros_like(self._sizes)])
            self._sums = np.concatenate([self._sums, np.zeros_like(self._sums)])
            self._products = np.concatenate([self._products, np.zeros_like(self._products)])
            self._means = np.hstack([self._means, np.zeros_like(self._means)])
        sums, products = split(int(self._sizes[group]), self._sums[group], self._products[group])
        for at, half in ((group, 0), (self._groups, 1)):
            self._sizes[at], self._sums[at], self._products[at] = self.k, sums[half], products[half]
            self._means[:, at] = sums[half] / self.k
        self._groups += 1

    def release(self, source: Bytewise = SYSTEM, share: float = 1.0) -> Floats:
        """Synthetic records in the data's own units, as many as came or this share of them."""
        moments = self.moments
        if moments is None:
            raise ValueError(f"{self.waiting} records have come; there must be {2 * self.k}")
        return moments.synthetic(source, share) * self.scale + self.centre
