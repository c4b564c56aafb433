"""t-closeness by the earth mover's distance with given costs (the textbook chapter, 20.3.3).

A file says what it costs to turn a record's sensitive value into another; the distance of a group
from the table is the least mean cost of turning the one distribution into the other. t is in the
unit of the costs. A way over a third value may be cheaper than the direct one, and is then taken.

The distance is convex: the plans of two groups, mixed, are a plan of the merged group. Distances are
compared as `round(D * 2**30)`.

Most groups are decided without the linear programme of `transport`: with d_k the costs to value k,
the difference of the mean d_k is never above the distance, and carrying everything over k is never
below it.

A file of costs is a table: its first line has an empty cell and the values; then each value has a line
with its costs to all values. Costs are symmetric, not negative, and 0 from a value to itself.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from coterie.anonymity.models.closeness import UnlistedValueError
from coterie.anonymity.models.distances.transport import cheapest_ways, least_work
from coterie.anonymity.models.model import Counts, Measures, Model, ratio, sizes
from coterie.base.arrays import Floats, Ints, Mask
from coterie.base.errors import DataError

SCALE = float(2**30)
MOST_BYTES, MOST_VALUES = 1 << 20, 200
_ROOM = 2.0**-28  # distances as near as this to t are not decided by the quick bounds


@dataclass(frozen=True)
class Costs:
    """What it costs to turn each of the values into each other one."""

    values: tuple[str, ...]
    table: tuple[tuple[float, ...], ...]


def read_costs(data: bytes, source: str) -> Costs:
    """The costs in a file's bytes; errors call the file `source`."""
    if len(data) > MOST_BYTES:
        raise DataError(f"{source}: a file of costs has at most {MOST_BYTES >> 20} MB")
    try:
        rows = [row for row in csv.reader(io.StringIO(data.decode("utf-8-sig"))) if row]
    except UnicodeDecodeError:
        raise DataError(f"{source}: not UTF-8 text; save it as UTF-8") from None
    except csv.Error as error:
        raise DataError(f"{source}: not CSV: {error}") from None
    values = tuple(rows[0][1:]) if rows else ()
    if not values or len(set(values)) < len(values) or len(values) > MOST_VALUES:
        raise DataError(
            f"{source}: the first line must name 1 to {MOST_VALUES} different values after an "
            "empty cell"
        )
    if tuple(row[0] for row in rows[1:]) != values:
        raise DataError(
            f"{source}: the lines must begin with the values of the first, in its order"
        )
    table = []
    for at, row in enumerate(rows[1:]):
        if len(row) != len(rows[0]):
            raise DataError(f"{source}: the line of '{values[at]}' has {len(row) - 1} costs")
        table.append(tuple(_cost(text, source, values[at]) for text in row[1:]))
        if table[at][at] != 0:
            raise DataError(f"{source}: the cost from '{values[at]}' to itself must be 0")
        for other in range(at):
            if table[at][other] != table[other][at]:
                raise DataError(
                    f"{source}: '{values[at]}' and '{values[other]}' have two different costs"
                )
    return Costs(values, tuple(table))


def _cost(text: str, source: str, value: str) -> float:
    try:
        cost = float(text)
    except ValueError:
        cost = math.nan
    if not 0 <= cost < math.inf:
        raise DataError(f"{source}: the line of '{value}': '{text}' is not a cost of 0 or more")
    return cost


@dataclass(frozen=True)
class CostCloseness(Model):
    """The least mean cost of turning a group's sensitive values into the table's is at most t."""

    t: float
    costs: Costs
    between: Floats | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if not self.t > 0:
            raise ValueError(f"t must be above 0, not {self.t:g}")

    @property
    def name(self) -> str:
        return f"{self.t:g}-closeness (costs)"

    def for_values(self, values: Sequence[str]) -> CostCloseness:
        places = {value: at for at, value in enumerate(self.costs.values)}
        for value in values:
            if value not in places:
                raise UnlistedValueError(value, "the file of costs")
        own = [places[value] for value in values]
        # A cheapest way may lead over a value that does not occur.
        ways = cheapest_ways(np.array(self.costs.table, np.float64))[np.ix_(own, own)]
        return replace(self, between=np.ascontiguousarray(ways))

    @property
    def ways(self) -> Floats:
        """The cheapest ways between the values that the columns of counts represent."""
        if self.between is None:
            raise TypeError("the model has not been told which value is which")
        return self.between

    def measure(self, counts: Counts, overall: Counts) -> Measures:
        gaps, scale = _gaps(counts, overall)
        return ratio(least_work(gaps, self.ways), scale)

    def _satisfied(self, counts: Counts, overall: Counts) -> Any:
        gaps, scale = _gaps(counts, overall)
        ways = self.ways
        lower, upper = np.abs(gaps @ ways), np.abs(gaps) @ ways
        near = (upper < ((self.t - _ROOM) * scale)[:, None]).any(axis=1)
        flags: Mask = np.asarray(near, np.bool_)
        far = (lower > ((self.t + _ROOM) * scale)[:, None]).any(axis=1)
        open_ = np.flatnonzero(~flags & ~far & (scale > 0))
        distance = ratio(least_work(gaps[open_], ways), scale[open_])
        flags[open_] = np.rint(distance * SCALE) <= np.rint(self.t * SCALE)
        return flags


def _gaps(counts: Counts, overall: Counts) -> tuple[Ints, Ints]:
    """The differences of shares times both sizes, which are whole, and the product of the sizes."""
    total, records = int(overall.sum()), sizes(counts)
    gaps: Ints = counts.astype(np.int64) * total - overall.astype(np.int64) * records[:, None]
    scale: Ints = records * total
    return gaps, scale
