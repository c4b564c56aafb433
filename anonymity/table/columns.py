"""Columns as numbers, and the tree of generalized values above each.

A `Tree` has the generalized values of an attribute: those of a taxonomy, or intervals, which are
added as they are split. All parties know the trees. A `Column` is the secret part: one code per
record. Codes are numbered so that a tree's node covers a range of codes.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from coterie.anonymity.table.intervals import GAP, Interval
from coterie.anonymity.table.scales import (
    NUMBER,
    PLAIN,
    Scale,
    Spelling,
    declared_form,
    scale_of,
)
from coterie.anonymity.table.taxonomy import Taxonomy
from coterie.base.arrays import Codes, Mask
from coterie.base.errors import DataError

Text: TypeAlias = "pa.Array | pa.ChunkedArray | Sequence[str]"

_EXACT = 2**53  # beyond this, not every whole number is a float


class Tree(ABC):
    """The generalized values of one attribute. Node 0 is the topmost value."""

    @abstractmethod
    def label(self, node: int) -> str:
        """The value as a release shows it."""

    @abstractmethod
    def children(self, node: int) -> tuple[int, ...]:
        """The nodes that a specialization puts in place of this one; empty for a leaf."""


class TaxonomyTree(Tree):
    """The fixed tree of a taxonomy."""

    def __init__(self, taxonomy: Taxonomy) -> None:
        self.taxonomy = taxonomy

    def label(self, node: int) -> str:
        return self.taxonomy.labels[node]

    def children(self, node: int) -> tuple[int, ...]:
        return self.taxonomy.children[node]


class IntervalTree(Tree):
    """Intervals of numbers, each split at most once, from the whole range down.

    The uppermost interval also contains `high` itself, so that a range names its largest value. With
    `gap` the topmost node stands for records without a value, too; its split has a third child, `?`,
    for these.
    """

    def __init__(self, low: float, high: float, scale: Scale = NUMBER, gap: bool = False) -> None:
        self.low = [low]
        self.high = [high]
        self.closed = [True]  # whether `high` itself belongs to the interval
        self.scale = scale
        self.gap = gap
        self._children: list[tuple[int, ...]] = [()]

    def interval(self, node: int) -> Interval:
        gap = self.gap and node == 0
        return Interval(self.low[node], self.high[node], self.closed[node], self.scale, gap)

    def is_gap(self, node: int) -> bool:
        """Whether a node stands for records without a value, and for nothing else."""
        return math.isnan(self.low[node])

    def label(self, node: int) -> str:
        return GAP if self.is_gap(node) else str(self.interval(node))

    def children(self, node: int) -> tuple[int, ...]:
        return self._children[node]

    def width(self, node: int) -> int:
        """How many children a split of this node has."""
        return 3 if self.gap and node == 0 else 2

    def can_split(self, node: int, at: float) -> bool:
        low, high, closed = self.low[node], self.high[node], self.closed[node]
        inside = low < at < high or (closed and low < at == high)
        return inside and not self._children[node]

    def split(self, node: int, at: float) -> tuple[int, ...]:
        """Puts two intervals below a node: values below `at`, and the others; then a gap's node."""
        if not self.can_split(node, at):
            raise ValueError(f"{self.label(node)} cannot be split at {at}")
        low, high, closed = self.low[node], self.high[node], self.closed[node]
        below = tuple(range(len(self.low), len(self.low) + self.width(node)))
        self.low += [low, at, math.nan][: len(below)]
        self.high += [at, high, math.nan][: len(below)]
        self.closed += [False, closed, False][: len(below)]
        self._children[node] = below
        self._children += [()] * len(below)
        return below


class Column(ABC):
    """One attribute of a table: a code per record, and the tree above the codes."""

    def __init__(self, name: str, codes: Codes, tree: Tree, size: int) -> None:
        self.name = name
        self.codes = codes
        self.tree = tree
        self.size = size  # codes are below this

    def __len__(self) -> int:
        return len(self.codes)

    @abstractmethod
    def span(self, node: int) -> tuple[int, int]:
        """The codes that a node covers: from the first up to, not including, the second."""

    @abstractmethod
    def take(self, rows: Codes) -> Column:
        """The column of these records, in this order."""


class CategoricalColumn(Column):
    def __init__(self, name: str, codes: Codes, taxonomy: Taxonomy) -> None:
        super().__init__(name, codes, TaxonomyTree(taxonomy), len(taxonomy.leaves))
        self.taxonomy = taxonomy

    def span(self, node: int) -> tuple[int, int]:
        return self.taxonomy.first[node], self.taxonomy.last[node]

    def take(self, rows: Codes) -> CategoricalColumn:
        return CategoricalColumn(self.name, self.codes[rows], self.taxonomy)


class ContinuousColumn(Column):
    """Numbers, coded by their rank among the distinct values, which are `values`.

    With `gap` records may lack a value; these have the code after the last rank. `places` of a column
    that the memory does not hold are in a file, as its values are.
    """

    tree: IntervalTree

    def __init__(
        self,
        name: str,
        codes: Codes,
        values: Codes,
        limits: tuple[float, float] | None = None,
        scale: Scale = NUMBER,
        gap: bool = False,
        places: Codes | None = None,
    ) -> None:
        low, high = limits or ((float(values[0]), float(values[-1])) if len(values) else (0.0, 0.0))
        super().__init__(name, codes, IntervalTree(low, high, scale, gap), len(values) + gap)
        self.values = values
        self.limits = limits
        self.scale = scale
        self.gap = gap
        self.given_places = places

    @property
    def places(self) -> Codes:
        """Where each code lies: numbers at themselves, gaps a whole span above the highest."""
        if self.given_places is not None:
            return self.given_places
        if not self.gap:
            return self.values
        if not len(self.values):
            return np.zeros(1)
        return np.append(self.values, place_of_gaps(float(self.values[0]), float(self.values[-1])))

    def span(self, node: int) -> tuple[int, int]:
        ranks = len(self.values)
        if self.tree.is_gap(node):
            return ranks, self.size
        low = int(np.searchsorted(self.values, self.tree.low[node]))
        if node == 0:
            return low, self.size
        if self.tree.closed[node]:
            return low, ranks
        return low, int(np.searchsorted(self.values, self.tree.high[node]))

    def take(self, rows: Codes) -> ContinuousColumn:
        """The column of these records; only values that occur keep a rank, so that the span fits."""
        codes = self.codes[rows]
        occurs = np.zeros(self.size, bool)
        occurs[codes] = True
        occurs[len(self.values) :] = True  # a gap keeps its code, whether or not it occurs
        ranks = np.cumsum(occurs) - 1
        values = self.values[occurs[: len(self.values)]]
        kind = code_type(len(values) + self.gap)
        return ContinuousColumn(
            self.name, ranks.astype(kind)[codes], values, self.limits, self.scale, self.gap
        )


def place_of_gaps(lowest: float, highest: float) -> float:
    """Where records without a value lie beside numbers with these ends: a whole span above them."""
    return max(highest + ((highest - lowest) or 1.0), math.nextafter(highest, math.inf))


def code_type(size: int) -> Any:
    """The smallest unsigned type for codes below `size`."""
    return np.uint8 if size <= 1 << 8 else np.uint16 if size <= 1 << 16 else np.uint32


def encode_text(name: str, text: Text, source: str) -> tuple[Codes, list[str]]:
    """Codes and the distinct values, in order of first occurrence. An empty value is an error."""
    array = text if isinstance(text, pa.Array | pa.ChunkedArray) else pa.array(text, pa.string())
    if array.null_count:
        raise no_value(name, np.asarray(pc.is_null(array).to_numpy(zero_copy_only=False)), source)
    if not len(array):
        return np.zeros(0, np.uint8), []
    encoded = array.dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
        if isinstance(encoded, pa.ChunkedArray):  # big columns can have more than one chunk
            encoded = pa.concat_arrays(encoded.unify_dictionaries().chunks)
    values = encoded.dictionary.to_pylist()
    return encoded.indices.to_numpy().astype(code_type(len(values))), values


class NoValueError(DataError):
    """Rows without a value: `number` of `total`, and which; `cure` says what to do.

    Whoever sees no rows is not told how many they are either.
    """

    def __init__(
        self, name: str, rows: Sequence[Any], number: int, total: int, source: str, cure: str = ""
    ) -> None:
        self.name, self.number, self.total, self.cure = name, number, total, cure
        after = f"; {cure}" if cure else ""
        super().__init__(
            f"{{column}} has no value ({number:,} of {total:,} rows are empty){after}",
            file=source,
            column=name,
            rows=rows,
            bare=f"{{column}} has rows without a value{after}",
        )

    def at(self, rows: Sequence[Any]) -> NoValueError:
        return NoValueError(self.name, rows, self.number, self.total, self.file, self.cure)


def no_value(name: str, gaps: Mask, source: str, cure: str = "") -> NoValueError:
    """The error about the rows of a column that are gaps."""
    rows = (np.flatnonzero(gaps) + 1).tolist()
    return NoValueError(name, rows, len(rows), len(gaps), source, cure)


def categorical_column(
    name: str, text: Text, taxonomy: Taxonomy, source: str = "table"
) -> CategoricalColumn:
    """A column whose values are leaves of a taxonomy; the error names the first that is not."""
    raw, values = encode_text(name, text, source)
    number = {leaf: i for i, leaf in enumerate(taxonomy.leaves)}
    values = [declared_form(value, number) for value in values]
    inner = set(taxonomy.labels) - set(taxonomy.leaves)
    missing = [code for code, value in enumerate(values) if value not in number]
    if missing:
        row = int(np.isin(raw, missing).argmax())
        value = values[raw[row]]
        reason = "is not a leaf of its taxonomy" if value in inner else "is not in its taxonomy"
        raise DataError(
            "{column}: {value} " + reason,
            file=source,
            column=name,
            rows=[row + 1],
            value=value,
            # One text for both reasons, because the reason would reveal something about the value.
            bare="{column}: a value is not a leaf of its taxonomy",
        )
    table = np.array([number[value] for value in values], code_type(len(taxonomy.leaves)))
    return CategoricalColumn(name, table[raw] if len(raw) else table, taxonomy)


# What an error proposes for values that are no numbers: categories, or nothing where these cannot be used.
CATEGORIES = "give it a taxonomy, or 'flat: true' to show the value or *"
NUMBERS_ONLY = "only numbers, dates and times can be used here"


def continuous_column(
    name: str,
    text: Text,
    limits: tuple[float, float] | None = None,
    source: str = "table",
    scale: Scale = NUMBER,
    spelling: Spelling = PLAIN,
    gaps: Mask | None = None,
    largest: float = _EXACT,
    otherwise: str = CATEGORIES,
) -> ContinuousColumn:
    """A column of numbers; the error names the first value that is none or lies outside `limits`.

    `gaps`, if given, are the rows without a value, which then have a code of their own. A number of
    `largest` or more is refused: whole numbers beyond the default are not all exact. `otherwise` says
    what to do about values that are meant to be no numbers.
    """
    if gaps is not None:
        text = pc.if_else(pa.array(gaps), pa.scalar("", pa.string()), text)
    raw, values = encode_text(name, text, source)
    numbers = np.array([scale.read_as(value, spelling) for value in values], np.float64)
    absent = np.zeros(len(values), bool)
    if gaps is not None:
        absent = np.array([value == "" for value in values], bool)
    bad = ~absent & (~np.isfinite(numbers) | (np.abs(numbers) >= largest))
    outside = np.zeros(len(values), bool)
    if limits is not None:
        outside = ~absent & ~bad & ((numbers < limits[0]) | (numbers > limits[1]))
    if bad.any() or outside.any():
        row = int((bad | outside)[raw].argmax())
        code = raw[row]
        hint, general = "", ""
        if outside[code]:
            assert limits is not None  # noqa: S101
            low, high = map(scale.write, limits)
            reason = f"outside the range [{low}, {high}]"
        elif math.isfinite(numbers[code]):
            reason = "too large to be exact"
        else:
            reason = f"not {scale.noun}"
            hint = f"; {_hint(values[code], scale, spelling, otherwise)}"
            # Whoever does not see the value is told all that it might be.
            general = f"; {otherwise}, or give it a 'type', or its source a 'decimal' mark"
        raise DataError(
            "{column}: {value} is " + reason + hint,
            file=source,
            column=name,
            rows=[row + 1],
            value=values[code],
            bare="{column}: {value} is " + reason + general,
        )
    distinct, ranks = np.unique(numbers[~absent], return_inverse=True)
    codes = np.full(len(values), len(distinct), code_type(len(distinct) + (gaps is not None)))
    codes[~absent] = ranks
    coded = codes[raw] if len(raw) else codes
    return ContinuousColumn(name, coded, distinct, limits, scale, gaps is not None)


def _hint(value: str, scale: Scale, spelling: Spelling, otherwise: str) -> str:
    """What was probably meant by a value that is not of its column's scale."""
    other = scale_of(value)
    if other is not None and other is not scale:
        return f"say 'type: {other.name}' of the attribute"
    if scale is NUMBER:
        for decimal, thousands in ((",", ""), (",", "."), (".", ","), (",", " "), (".", "'")):
            if math.isfinite(scale.read_as(value, Spelling(decimal, thousands))):
                marks = f'decimal: "{decimal}"' + (
                    f', thousands: "{thousands}"' if thousands else ""
                )
                return f"say how its source writes numbers: data: {{csv: FILE, {marks}}}"
    elif any(mark in value for mark in "./-") and any(c.isdigit() for c in value):
        return 'say how its source writes dates, as in data: {csv: FILE, dates: "%d.%m.%Y"}'
    return otherwise
