"""The grid of a column of numbers: every value is a multiple of a step plus an offset.

Ages are whole, incomes often multiples of 100, measurements have two decimals. Synthetic numbers are
put on the grid of the data; otherwise everybody could tell them from real ones at a glance. What is
kept is the number of decimals, the step and the offset, from which no record follows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from coterie.base.arrays import Floats, Ints

_MOST_DECIMALS = 9
_EXACT = 2**52


@dataclass(frozen=True)
class Grid:
    """Values are (offset + step j) / 10^decimals for whole j; a step of 0 means no grid.

    `step` is None as long as one value alone has been seen, which is then `offset`.
    """

    decimals: int
    step: int | None
    offset: int

    def units(self, values: Floats) -> Ints | None:
        """The values in units of the last decimal; None where they have more decimals."""
        return _units(values, self.decimals)

    def has(self, values: Floats) -> bool:
        """Whether all values lie on the grid."""
        if self.step == 0:
            return True
        units = self.units(values)
        if units is None:
            return False
        if self.step is None:
            return bool((units == self.offset).all())
        return bool(((units - self.offset) % self.step == 0).all())

    def nearest(self, values: Floats) -> Floats:
        """The values, each moved to the nearest point of the grid."""
        if self.step == 0:
            return values
        if self.step is None:
            return np.full(len(values), self.offset / 10.0**self.decimals)
        power = 10.0**self.decimals
        steps = np.rint((values * power - self.offset) / self.step)
        return (steps * self.step + self.offset) / power

    def with_values(self, values: Floats) -> Grid:
        """The coarsest grid that has both the points of this grid and the values."""
        if self.step == 0 or self.has(values):
            return self
        other = grid_of(values)
        if other.step == 0:
            return other
        decimals = max(self.decimals, other.decimals)
        mine, theirs = 10 ** (decimals - self.decimals), 10 ** (decimals - other.decimals)
        apart = abs(self.offset * mine - other.offset * theirs)
        step = int(np.gcd.reduce([(self.step or 0) * mine, (other.step or 0) * theirs, apart]))
        return Grid(decimals, step or None, self.offset * mine % step if step else self.offset)


def _units(values: Floats, decimals: int) -> Ints | None:
    with np.errstate(over="ignore"):
        scaled = values * 10.0**decimals
    whole = np.rint(scaled)
    if (np.abs(whole) >= _EXACT).any() or not (whole / 10.0**decimals == values).all():
        return None
    return whole.astype(np.int64)


def grid_of(values: Floats) -> Grid:
    """The coarsest grid that has all the values, of which there is at least one."""
    for decimals in range(_MOST_DECIMALS + 1):
        units = _units(values, decimals)
        if units is not None:
            step = int(np.gcd.reduce(np.abs(np.unique(units) - units.min())))
            first = int(units.min())
            return Grid(decimals, step or None, first % step if step else first)
    return Grid(0, 0, 0)


def on_grid(
    values: Floats, grid: Grid, limits: tuple[float, float] | None
) -> tuple[Floats, int, int]:
    """The values clipped to the limits and put on the grid, and how many each of the two changed."""
    clipped = values if limits is None else np.clip(values, *limits)
    placed = grid.nearest(clipped)
    if limits is not None and grid.step:
        width = grid.step / 10.0**grid.decimals
        placed = np.where(placed < limits[0], grid.nearest(placed + width), placed)
        placed = np.where(placed > limits[1], grid.nearest(placed - width), placed)
    return placed, int((clipped != values).sum()), int((placed != clipped).sum())
