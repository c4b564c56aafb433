"""Columns of numbers that are added up: `aggregate` jobs.

    attributes:
      Salary: {party: bank, range: [0, 200000], decimals: 2}

Numbers are whole multiples of the unit 10^-decimals, so that sums are exact. Without `decimals` the
unit is the finest for which the ends of the range stay below 2^36 units, and at most 10^-6. Without
`range` numbers may lie between minus and plus 100,000,000. A number outside the range, or with more
decimals than the unit has, is an error; but where the answer has noise (`clips`), which covers what
one record can change, a number counts as the nearest one that the range has.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import pyarrow as pa

from coterie.anonymity.table.columns import continuous_column
from coterie.anonymity.table.scales import NUMBER, PLAIN, Spelling, number_text
from coterie.base.arrays import Ints
from coterie.base.errors import DataError
from coterie.jobs.data.missing import DROP, ELSEWHERE, Dropped, gaps_of, refuse_gaps
from coterie.jobs.data.scaled import read_limits
from coterie.jobs.file.document import Node, Section

WIDEST = 1e8  # the ends of the range that a job does not declare
MOST_DECIMALS = 6
_USUAL, _LARGEST = 1 << 36, 1 << 50  # units up to which decimals are chosen, and may be declared
_LARGEST_SUM = 1 << 62


@dataclass(frozen=True)
class MeasuredAttribute:
    """A column of numbers; `low` and `high` are the ends of its range, in numbers."""

    name: str
    party: str | None
    low: float
    high: float
    declared: bool  # whether the job declares the range
    decimals: int
    cuts: tuple[float, ...] = ()
    missing: str = "error"
    exact: bool = False  # whether the job declares the decimals
    clips: bool = False  # whether numbers are moved into the range instead of refused

    @property
    def unit(self) -> int:
        """How many units make the number 1."""
        return int(10**self.decimals)

    @property
    def ends(self) -> tuple[int, int]:
        """The least and the greatest number that may occur, in units."""
        low, high = (Fraction(str(end)) * self.unit for end in (self.low, self.high))
        return -int(-low // 1), int(high // 1)

    @property
    def bound(self) -> int:
        return max(map(abs, self.ends))

    @property
    def middle(self) -> int:
        """The middle of the range, from which squares are taken."""
        return sum(self.ends) // 2

    @property
    def longest(self) -> int:
        """The longest distance from the middle, in units; at least 1."""
        low, high = self.ends
        return max(high - self.middle, self.middle - low, 1)

    @property
    def half(self) -> int:
        """How many of the lower bits of a distance from the middle are half of all bits."""
        return (self.longest.bit_length() + 1) // 2

    def number(self, units: int | Fraction) -> int | float:
        """So many units as a number: whole, or the nearest floating-point one."""
        exact = Fraction(units) / self.unit
        return int(exact) if exact.denominator == 1 else float(exact)

    def check_records(self, records: int, squares: bool, source: str, factor: int = 1) -> None:
        """Refuses so many records that a sum, times `factor`, might not be exact."""
        least = 2 * self.half if squares else 0
        if records * self.bound * factor >= _LARGEST_SUM or records << least >= _LARGEST_SUM:
            raise DataError(
                f"{source}: the sums of {records} numbers of '{self.name}' can be too large; declare "
                "a narrower 'range' or fewer 'decimals'"
            )

    def encode(self, column: pa.ChunkedArray, source: str, spelling: Spelling = PLAIN) -> Ints:
        """The numbers in units; one that another party holds is 0. Errors name row and column."""
        if self.missing == ELSEWHERE:
            own = ~gaps_of(column)
            cells = np.zeros(len(own), np.int64)
            if own.any():
                here = replace(self, missing="error")
                with Dropped(stays=np.flatnonzero(own)).counted_as_read():
                    cells[own] = here.encode(column.filter(pa.array(own)), source, spelling)
            return cells
        refuse_gaps(column, (), self.name, source, DROP)
        if self.clips:
            return self._clipped(column, source, spelling)
        limits = (self.low, self.high)
        numbers = continuous_column(self.name, column, limits, source, NUMBER, spelling)
        exact = numbers.values * self.unit
        units = np.rint(exact)
        if (wrong := np.abs(exact - units) > 1e-3).any():
            row = int(np.argmax(wrong[numbers.codes]))
            value = number_text(float(numbers.values[numbers.codes[row]]))
            raise DataError(
                f"{{column}}: {{value}} has more than {self.decimals} decimals; "
                "declare more 'decimals' (or a narrower 'range')",
                file=source,
                column=self.name,
                rows=[row + 1],
                value=value,
            )
        found: Ints = units.astype(np.int64)[numbers.codes]
        return found

    def _clipped(self, column: pa.ChunkedArray, source: str, spelling: Spelling) -> Ints:
        """The nearest numbers of the range, in units."""
        numbers = continuous_column(
            self.name, column, None, source, NUMBER, spelling, largest=math.inf
        )
        low, high = self.ends
        units = np.rint(np.clip(numbers.values, self.low, self.high) * self.unit)
        found: Ints = np.clip(units.astype(np.int64), low, high)[numbers.codes]
        return found


def steps(item: MeasuredAttribute, most: int, base: int | None = None) -> list[int]:
    """Lower ends, in units, of the buckets in which quantiles are found: at most about `most`.

    The buckets are those of the job's `cuts`. Without cuts they have equal widths: the least of 1, 2
    and 5 times a power of ten that makes them few enough and is not finer than the numbers. With
    `base` the width is a multiple of it.
    """
    low, high = item.ends
    if item.cuts:
        inner = [-int(-Fraction(str(cut)) * item.unit // 1) for cut in item.cuts]
        return [low, *(cut for cut in inner if low < cut <= high)]
    finest = 1 if item.exact else max(1, item.unit // (1 if high - low >= 64 * item.unit else 100))
    one = 1 if base is None else base * item.unit
    widths = (one * digit * 10**power for power in range(20) for digit in (1, 2, 5))
    width = next(w for w in widths if w >= finest and (high - low) // w < most)
    start = low // width * width
    return [max(low, at) for at in range(start, high + 1, width)]


def sizes(item: MeasuredAttribute, most: int, base: int | None = None) -> list[int]:
    """Lower ends, in units, of at most `most` buckets that grow with the numbers: for shares of sums."""
    high = item.ends[1] + 1
    if high <= most:
        return list(range(high))
    grown = np.unique(np.rint(np.geomspace(1, high, most)).astype(np.int64))
    return [0, *grown[grown < high].tolist()]


def read_measured(
    name: str, node: Node, entry: Section, party: str | None, cuts: tuple[float, ...], missing: str
) -> MeasuredAttribute:
    """An attribute that is added up: the keys `range` and `decimals`."""
    low, high = -WIDEST, WIDEST
    limits = entry.optional("range")
    if limits:
        scale, (low, high) = read_limits(limits)
        if scale is not NUMBER:
            raise limits.error("only numbers can be added up")
    bound = max(abs(low), abs(high))
    fitting = [d for d in range(MOST_DECIMALS + 1) if bound * 10**d <= _USUAL]
    decimals = fitting[-1] if fitting else 0
    if said := entry.optional("decimals"):
        decimals = said.integer(0, 15)
    if bound * 10**decimals > _LARGEST:
        raise node.error(
            f"numbers up to {number_text(bound)} with {decimals} decimals have too many digits; "
            "declare a narrower 'range' or fewer 'decimals'"
        )
    if missing == "value":
        raise node.error("a column that is added up has no value for '?': say 'missing: drop'")
    return MeasuredAttribute(
        name, party, low, high, limits is not None, decimals, cuts, missing, said is not None
    )
