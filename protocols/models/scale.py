"""Mean and deviation of columns over the records of all parties, and columns standardised by them.

Horizontal partition. In: at every party its own records. Out, at every party: mean and standard
deviation of each column over all records. Without the scale, sums of squares of dates or of incomes
would lose all their digits. Adversary, messages and cost: those of `exact_sums`, two sums of one
number for each column.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from coterie.base.arrays import Floats
from coterie.base.errors import DataError
from coterie.protocols.messaging.opening import declare
from coterie.protocols.models.exact_sums import ExactSums
from coterie.protocols.models.symmetric import Vector

ROWS = 1 << 11  # records that are worked on together: in the processor's cache

SCALE = declare(
    "statistics: mean and deviation of columns",
    what="The mean and the standard deviation of each column over all records.",
    to="every party",
    why="Numbers of any size can then be added up without loss of digits.",
)


@dataclass(frozen=True)
class Scale:
    """The mean that is subtracted from each column, and the deviation that it is divided by."""

    means: Vector
    deviations: Vector

    def moved(self, columns: Floats, out: Floats | None = None) -> Floats:
        found = np.empty_like(columns) if out is None else out
        means, deviations = np.array(self.means), np.array(self.deviations)
        for rows in in_rows(len(columns)):
            np.subtract(columns[rows], means, out=found[rows])
            found[rows] /= deviations
        return found


def in_rows(records: int) -> Iterator[slice]:
    """The records in parts that fit into the processor's cache."""
    return (slice(start, min(start + ROWS, records)) for start in range(0, records, ROWS))


def pooled_scale(
    sums: ExactSums, columns: Floats, records: int, names: Sequence[str], what: str = "feature"
) -> Scale:
    """The scale over all parties' records; a constant column is named."""
    with sums.channel.step("scale"):
        means = [total / records for total in sums.totals(columns.sum(axis=0))]
        apart = np.zeros(columns.shape[1])
        for rows in in_rows(len(columns)):
            apart += ((columns[rows] - np.array(means)) ** 2).sum(axis=0)
        squares = sums.totals(apart)
        sums.channel.open(SCALE, (means, squares))
    for name, mean, square in zip(names, means, squares, strict=True):
        if not square > 1e-24 * records * max(1.0, mean * mean):
            raise DataError(
                f"the {what} '{name}' has the same value in all records of all parties: leave it out"
            )
    return Scale(means, [math.sqrt(square / records) for square in squares])
