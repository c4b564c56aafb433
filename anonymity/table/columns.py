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

from coterie.anonymity.table.intervals import Interval, number_text
from coterie.anonymity.table.taxonomy import Taxonomy
from coterie.base.arrays import Codes
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

    The uppermost interval also contains `high` itself, so that a range names its largest value.
    """

    def __init__(self, low: float, high: float) -> None:
        self.low = [low]
        self.high = [high]
        self.closed = [True]  # whether `high` itself belongs to the interval
        self._children: list[tuple[int, ...]] = [()]

    def interval(self, node: int) -> Interval:
        return Interval(self.low[node], self.high[node], self.closed[node])

    def label(self, node: int) -> str:
        return str(self.interval(node))

    def children(self, node: int) -> tuple[int, ...]:
        return self._children[node]

    def can_split(self, node: int, at: float) -> bool:
        low, high, closed = self.low[node], self.high[node], self.closed[node]
        inside = low < at < high or (closed and low < at == high)
        return inside and not self._children[node]

    def split(self, node: int, at: float) -> tuple[int, int]:
        """Puts two intervals below a node: values below `at`, and the others."""
        if not self.can_split(node, at):
            raise ValueError(f"{self.label(node)} cannot be split at {at}")
        low, high, closed = self.low[node], self.high[node], self.closed[node]
        left, right = len(self.low), len(self.low) + 1
        self.low += [low, at]
        self.high += [at, high]
        self.closed += [False, closed]
        self._children[node] = (left, right)
        self._children += [(), ()]
        return left, right


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
    """Numbers, coded by their rank among the distinct values, which are `values`."""

    tree: IntervalTree

    def __init__(
        self, name: str, codes: Codes, values: Codes, limits: tuple[float, float] | None = None
    ) -> None:
        low, high = limits or ((float(values[0]), float(values[-1])) if len(values) else (0.0, 0.0))
        super().__init__(name, codes, IntervalTree(low, high), len(values))
        self.values = values
        self.limits = limits

    def span(self, node: int) -> tuple[int, int]:
        low = int(np.searchsorted(self.values, self.tree.low[node]))
        if self.tree.closed[node]:
            return low, self.size
        return low, int(np.searchsorted(self.values, self.tree.high[node]))

    def take(self, rows: Codes) -> ContinuousColumn:
        """The column of these records; only values that occur keep a rank, so that the span fits."""
        codes = self.codes[rows]
        occurs = np.zeros(self.size, bool)
        occurs[codes] = True
        ranks = np.cumsum(occurs) - 1
        values = self.values[occurs]
        return ContinuousColumn(
            self.name, ranks.astype(code_type(len(values)))[codes], values, self.limits
        )


def code_type(size: int) -> Any:
    """The smallest unsigned type for codes below `size`."""
    return np.uint8 if size <= 1 << 8 else np.uint16 if size <= 1 << 16 else np.uint32


def encode_text(name: str, text: Text, source: str) -> tuple[Codes, list[str]]:
    """Codes and the distinct values, in order of first occurrence. An empty value is an error."""
    array = text if isinstance(text, pa.Array | pa.ChunkedArray) else pa.array(text, pa.string())
    if array.null_count:
        row = pc.index(pc.is_null(array), True).as_py()
        raise DataError("{column} is empty", file=source, column=name, rows=[row + 1])
    if not len(array):
        return np.zeros(0, np.uint8), []
    encoded = array.dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
        if isinstance(encoded, pa.ChunkedArray):  # big columns can have more than one chunk
            encoded = pa.concat_arrays(encoded.unify_dictionaries().chunks)
    values = encoded.dictionary.to_pylist()
    return encoded.indices.to_numpy().astype(code_type(len(values))), values


def categorical_column(
    name: str, text: Text, taxonomy: Taxonomy, source: str = "table"
) -> CategoricalColumn:
    """A column whose values are leaves of a taxonomy; the error names the first that is not."""
    raw, values = encode_text(name, text, source)
    number = {leaf: i for i, leaf in enumerate(taxonomy.leaves)}
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


def continuous_column(
    name: str, text: Text, limits: tuple[float, float] | None = None, source: str = "table"
) -> ContinuousColumn:
    """A column of numbers; the error names the first that is no number or is outside `limits`."""
    raw, values = encode_text(name, text, source)
    numbers = np.array([_number(value) for value in values], np.float64)
    bad = ~np.isfinite(numbers) | (np.abs(numbers) >= _EXACT)
    outside = np.zeros(len(values), bool)
    if limits is not None:
        outside = ~bad & ((numbers < limits[0]) | (numbers > limits[1]))
    if bad.any() or outside.any():
        row = int((bad | outside)[raw].argmax())
        code = raw[row]
        if outside[code]:
            assert limits is not None  # noqa: S101
            low, high = map(number_text, limits)
            reason = f"outside the range [{low}, {high}]"
        else:
            known = math.isfinite(numbers[code])
            reason = "too large to be exact" if known else "not a number"
        raise DataError(
            "{column}: {value} is " + reason,
            file=source,
            column=name,
            rows=[row + 1],
            value=values[code],
        )
    distinct, ranks = np.unique(numbers, return_inverse=True)
    codes = ranks.astype(code_type(len(distinct)))
    return ContinuousColumn(name, codes[raw] if len(raw) else codes, distinct, limits)


def _number(text: str) -> float:
    try:
        # int() and float() accept "1_000", which a table must not contain.
        return math.nan if "_" in text else float(text)
    except ValueError:
        return math.nan
