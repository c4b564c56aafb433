"""What a group shows for one attribute: nodes and rests of a taxonomy, and intervals of numbers.

A *rest* stands for the children of a node that were too small to become groups: it is shown as the
node, and has none of the values of the children beside it. An interval `[lo, hi)` is closed at the
top of its range only. `?`, for records without a value, stands above all numbers.

A `Space` has all regions of an attribute, as every party knows them. Widths are whole numbers over
a common denominator, so that no comparison of them is rounded.
"""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from coterie.anonymity.table.columns import Column, ContinuousColumn, IntervalTree, TaxonomyTree
from coterie.anonymity.table.columns import Tree as ValueTree
from coterie.anonymity.table.intervals import GAP, Interval
from coterie.anonymity.table.scales import Scale
from coterie.anonymity.table.taxonomy import Taxonomy


@dataclass(frozen=True)
class Node:
    """The leaves under a node of a taxonomy."""

    node: int


@dataclass(frozen=True)
class Rest:
    """The leaves under a node without those of the children that became parts beside it."""

    node: int


@dataclass(frozen=True)
class Span:
    """The numbers from `low` up to `high`, with `high` itself if it ends the range."""

    low: float
    high: float
    closed: bool
    gap: bool = False  # whether records without a value belong to it, too


@dataclass(frozen=True)
class Missing:
    """The records without a value."""


@dataclass(frozen=True)
class Box:
    """The lowest and the highest number of a final group; both belong to it."""

    low: float
    high: float
    gap: bool


Region: TypeAlias = "Node | Rest | Span | Missing | Box"
Named: TypeAlias = "str | dict[str, str]"  # a region in a result


class Space(ABC):
    """The regions of one attribute."""

    top: Region

    @abstractmethod
    def widths(self, regions: Sequence[Region]) -> tuple[list[int], int]:
        """Numerators of the regions' widths, and their denominator."""

    @abstractmethod
    def text(self, region: Region) -> str:
        """The region as a release shows it."""

    @abstractmethod
    def codes(self, column: Column, region: Region) -> tuple[int, int]:
        """The codes of a column that a region covers: from the first up to the second."""

    @abstractmethod
    def is_cut(self, region: Region, parts: Sequence[Region]) -> bool:
        """Whether some records could make a region be cut into these parts."""

    @abstractmethod
    def is_settled(self, region: Region, deeper: Region) -> bool:
        """Whether some records could make a region settle in the other."""

    def named(self, region: Region) -> Named:
        """The region as a result names it, which tells a rest from its node."""
        text = self.text(region)
        return {"rest": text} if isinstance(region, Rest) else text


class TaxonomySpace(Space):
    def __init__(self, taxonomy: Taxonomy) -> None:
        self.taxonomy = taxonomy
        self.top = Node(0)
        self.parent = [0] * len(taxonomy.labels)
        for node, below in enumerate(taxonomy.children):
            for child in below:
                self.parent[child] = node

    def _node(self, region: Region) -> int:
        assert isinstance(region, Node | Rest)  # noqa: S101
        return region.node

    def widths(self, regions: Sequence[Region]) -> tuple[list[int], int]:
        first, last = self.taxonomy.first, self.taxonomy.last
        nodes = [self._node(region) for region in regions]
        return [last[n] - first[n] - 1 for n in nodes], max(len(self.taxonomy.leaves) - 1, 1)

    def text(self, region: Region) -> str:
        return self.taxonomy.labels[self._node(region)]

    def codes(self, column: Column, region: Region) -> tuple[int, int]:
        node = self._node(region)
        return self.taxonomy.first[node], self.taxonomy.last[node]

    def is_cut(self, region: Region, parts: Sequence[Region]) -> bool:
        if not isinstance(region, Node) or len(parts) < 2:
            return False
        *off, last = parts
        children = self.taxonomy.children[region.node]
        if isinstance(last, Rest):
            # A rest has two children or more: one that is large enough goes off by itself.
            if last.node != region.node or len(off) > len(children) - 2:
                return False
        else:
            off.append(last)
        nodes = [part.node for part in off if isinstance(part, Node)]
        in_order = all(a < b for a, b in itertools.pairwise(nodes))
        return len(nodes) == len(off) and in_order and set(nodes) <= set(children)

    def is_settled(self, region: Region, deeper: Region) -> bool:
        if not isinstance(region, Node) or not isinstance(deeper, Node):
            return region == deeper
        node = deeper.node
        while node > region.node:  # children have larger numbers
            node = self.parent[node]
        return node == region.node


class NumberSpace(Space):
    """Intervals between two ends, on a scale; with `gap` records may lack a value."""

    def __init__(self, low: float, high: float, scale: Scale, gap: bool) -> None:
        self.low, self.high, self.scale, self.gap = low, high, scale, gap
        self.top = Span(low, high, True, gap)

    def widths(self, regions: Sequence[Region]) -> tuple[list[int], int]:
        spans = [self.top, *regions]
        ends = [
            (r.low.as_integer_ratio(), r.high.as_integer_ratio())
            if isinstance(r, Span)
            else ((0, 1), (0, 1))
            for r in spans
        ]
        unit = max(d for pair in ends for _, d in pair)  # all are powers of 2
        whole, *found = [b * (unit // bd) - a * (unit // ad) for (a, ad), (b, bd) in ends]
        return found, max(whole, 1)

    def text(self, region: Region) -> str:
        if isinstance(region, Missing):
            return GAP
        assert isinstance(region, Span | Box)  # noqa: S101
        if isinstance(region, Box):
            if region.low == region.high and not region.gap:
                return self.scale.write(region.low)
            return str(Interval(region.low, region.high, True, self.scale, region.gap))
        return str(Interval(region.low, region.high, region.closed, self.scale, region.gap))

    def codes(self, column: Column, region: Region) -> tuple[int, int]:
        assert isinstance(column, ContinuousColumn)  # noqa: S101
        ranks = len(column.values)
        if isinstance(region, Missing):
            return ranks, column.size
        if isinstance(region, Box):
            last = int(column.values.searchsorted(region.high, "right"))
            return int(column.values.searchsorted(region.low)), column.size if region.gap else last
        assert isinstance(region, Span)  # noqa: S101
        first = int(column.values.searchsorted(region.low))
        if region.gap:
            return first, column.size
        return first, ranks if region.closed else int(column.values.searchsorted(region.high))

    def halves(self, region: Region, at: float) -> tuple[Region, Region]:
        """The two parts of a cut; at infinity, only records without a value go right."""
        assert isinstance(region, Span)  # noqa: S101
        if math.isinf(at):
            return Span(region.low, region.high, region.closed), Missing()
        right = Span(at, region.high, region.closed, region.gap)
        return Span(region.low, at, False), right

    def is_cut(self, region: Region, parts: Sequence[Region]) -> bool:
        if not isinstance(region, Span) or len(parts) != 2:
            return False
        left, right = parts
        if isinstance(right, Missing):
            return region.gap and self.halves(region, math.inf) == (left, right)
        if not isinstance(right, Span):
            return False
        inside = region.low < right.low < region.high or (
            region.closed and region.low < right.low == region.high
        )
        return inside and self.halves(region, right.low) == (left, right)

    def is_settled(self, region: Region, deeper: Region) -> bool:
        return region == deeper


def region_of(tree: ValueTree, node: int) -> Region:
    """The region of a value of a tree."""
    if not isinstance(tree, IntervalTree):
        return Node(node)
    if tree.is_gap(node):
        return Missing()
    gap = tree.gap and node == 0
    return Span(tree.low[node], tree.high[node], tree.closed[node], gap)


def space_of(tree: ValueTree) -> Space:
    """The space of an attribute, from the tree of its values before any is split."""
    if isinstance(tree, IntervalTree):
        return NumberSpace(tree.low[0], tree.high[0], tree.scale, tree.gap)
    assert isinstance(tree, TaxonomyTree)  # noqa: S101
    return TaxonomySpace(tree.taxonomy)
