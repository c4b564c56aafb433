"""The cut of each open group on one attribute, for all groups at once.

A group has at most one cut on an attribute. Of a node, the children with k records or more go off;
those with fewer form the rest, which the smallest of the others join until it has k records, too. An
interval is cut at the value that divides its records most evenly. Records are counted for all
groups together; only the shapes of the cuts are made group by group.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from coterie.anonymity.cuts.regions import (
    Node,
    NumberSpace,
    Region,
    Rest,
    Space,
    Span,
    TaxonomySpace,
)
from coterie.anonymity.table.columns import Column, ContinuousColumn
from coterie.base.arrays import Array

_SPARSE = (
    8  # counts are sorted, not tabled, where a table has so many times more cells than records
)


@dataclass(frozen=True)
class Shape:
    """The parts of a cut, their sizes, and their records by class if scores need these."""

    parts: tuple[Region, ...]
    sizes: tuple[int, ...]
    by_class: Array | None


@dataclass(frozen=True)
class Segments:
    """The records of some groups, one group after the other."""

    rows: Array
    sizes: Array

    @property
    def starts(self) -> Array:
        return np.cumsum(self.sizes) - self.sizes

    @property
    def group(self) -> Array:
        """The number of each record's group."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    def chosen(self, groups: Array) -> Segments:
        """The segments of these groups, which are in order."""
        wanted = np.zeros(len(self.sizes), bool)
        wanted[groups] = True
        return Segments(self.rows[np.repeat(wanted, self.sizes)], self.sizes[groups])


class Cutter(ABC):
    """One attribute of this party: it settles groups, finds their cuts and carries these out."""

    def settled(self, segments: Segments, regions: Sequence[Region]) -> list[Region]:
        """The region of each group when a level begins."""
        return list(regions)

    @abstractmethod
    def can_cut(self, region: Region) -> bool:
        """Whether a region has a cut for some records."""

    @abstractmethod
    def shapes(
        self,
        segments: Segments,
        regions: Sequence[Region],
        k: int,
        classes: Array | None,
        class_count: int,
    ) -> list[Shape | None]:
        """The cut of each group; None where it has none."""

    @abstractmethod
    def codes(
        self, segments: Segments, regions: Sequence[Region], shapes: Sequence[Sequence[Region]]
    ) -> Array:
        """The part of each record of groups that are cut into these parts."""


def cutter_of(space: Space, column: Column) -> Cutter:
    if isinstance(space, TaxonomySpace):
        return NodeCutter(space, column)
    assert isinstance(space, NumberSpace) and isinstance(column, ContinuousColumn)  # noqa: S101, PT018
    return SpanCutter(space, column)


class NodeCutter(Cutter):
    def __init__(self, space: TaxonomySpace, column: Column) -> None:
        taxonomy = space.taxonomy
        self._codes, self._taxonomy = column.codes, taxonomy
        self._children = taxonomy.children
        self._first_child = np.array([below[0] if below else 0 for below in taxonomy.children])
        self._width = np.array([len(below) for below in taxonomy.children])
        self._depth = np.zeros(len(taxonomy.labels), np.int64)
        for node, below in enumerate(taxonomy.children):  # parents come before their children
            self._depth[list(below)] = self._depth[node] + 1
        # The node above each leaf at each depth; a leaf above the deepest stands for itself below.
        self._above = np.zeros((int(self._depth.max()) + 1, len(taxonomy.leaves)), np.int32)
        for node, depth in enumerate(self._depth.tolist()):
            self._above[depth:, taxonomy.first[node] : taxonomy.last[node]] = node

    def can_cut(self, region: Region) -> bool:
        return isinstance(region, Node) and bool(self._children[region.node])

    def _below(self, nodes: Array, leaves: Array) -> Array:
        """The child of each node over each leaf; a leaf itself where the node is one."""
        deeper = np.minimum(self._depth[nodes] + 1, len(self._above) - 1)
        found: Array = self._above[deeper, leaves]
        return found

    def settled(self, segments: Segments, regions: Sequence[Region]) -> list[Region]:
        found = list(regions)
        moving = np.array([at for at, region in enumerate(regions) if self.can_cut(region)], int)
        if not len(moving):
            return found
        own = segments.chosen(moving)
        codes = self._codes[own.rows]
        low = np.minimum.reduceat(codes, own.starts)
        high = np.maximum.reduceat(codes, own.starts)
        nodes = np.array([regions[at].node for at in moving.tolist()])
        while True:
            lower = self._below(nodes, low)
            same = (lower == self._below(nodes, high)) & (self._width[nodes] > 0)
            if not same.any():
                break
            nodes = np.where(same, lower, nodes)
        for at, node in zip(moving.tolist(), nodes.tolist(), strict=True):
            found[at] = Node(node)
        return found

    def shapes(
        self,
        segments: Segments,
        regions: Sequence[Region],
        k: int,
        classes: Array | None,
        class_count: int,
    ) -> list[Shape | None]:
        nodes, group, child = self._children_of(segments, regions)
        width = int(self._width[nodes].max())
        cell = group * width + child
        own = None if classes is None else classes[segments.rows]
        cells, counts, by_class = _counted(cell, len(nodes) * width, own, class_count)
        ends = np.searchsorted(cells, np.arange(len(nodes) + 1) * width).tolist()
        found: list[Shape | None] = []
        all_places, all_counts = (cells % width).tolist(), counts.tolist()
        for at, node in enumerate(nodes.tolist()):
            begin, end = ends[at], ends[at + 1]
            sizes = all_counts[begin:end]
            off, rest = divided(sizes, k)
            if not off:
                found.append(None)
                continue
            first = self._first_child[node]
            parts: list[Region] = [Node(int(first) + all_places[begin + i]) for i in off]
            shares = [[i] for i in off]
            if rest:
                parts.append(Rest(node))
                shares.append(rest)
            counted = None
            if by_class is not None:
                counted = np.stack([by_class[begin:end][share].sum(axis=0) for share in shares])
            numbers = tuple(sum(sizes[i] for i in share) for share in shares)
            found.append(Shape(tuple(parts), numbers, counted))
        return found

    def codes(
        self, segments: Segments, regions: Sequence[Region], shapes: Sequence[Sequence[Region]]
    ) -> Array:
        nodes, group, child = self._children_of(segments, regions)
        width = int(self._width[nodes].max())
        part_of = np.zeros((len(nodes), width), np.int64)
        for at, (node, parts) in enumerate(zip(nodes.tolist(), shapes, strict=True)):
            part_of[at] = len(parts) - 1  # the rest comes last
            for number, part in enumerate(parts):
                if isinstance(part, Node):
                    part_of[at, part.node - self._first_child[node]] = number
        found: Array = part_of[group, child]
        return found

    def _children_of(
        self, segments: Segments, regions: Sequence[Region]
    ) -> tuple[Array, Array, Array]:
        """The node of each group; each record's group, and its place among the node's children."""
        nodes = np.array([r.node for r in regions if isinstance(r, Node)])
        group = segments.group
        own = nodes[group]
        below = self._below(own, self._codes[segments.rows])
        return nodes, group, below - self._first_child[own]


def divided(sizes: Sequence[int], k: int) -> tuple[list[int], list[int]]:
    """Which children go off by themselves, and which form the rest; none go off: no cut."""
    off = [at for at, size in enumerate(sizes) if size >= k]
    rest = [at for at, size in enumerate(sizes) if size < k]
    total = sum(sizes[at] for at in rest)
    while rest and total < k and off:
        joins = min(off, key=lambda at: (sizes[at], -at))
        off.remove(joins)
        rest.append(joins)
        total += sizes[joins]
    return off, sorted(rest)


class SpanCutter(Cutter):
    def __init__(self, space: NumberSpace, column: ContinuousColumn) -> None:
        self._space, self._column = space, column

    def can_cut(self, region: Region) -> bool:
        return isinstance(region, Span)

    def shapes(
        self,
        segments: Segments,
        regions: Sequence[Region],
        k: int,
        classes: Array | None,
        class_count: int,
    ) -> list[Shape | None]:
        codes = self._column.codes[segments.rows].astype(np.int64)
        group, starts, sizes = segments.group, segments.starts, segments.sizes
        key = group * self._column.size + codes
        ordered = np.sort(key)
        middle = ordered[starts + sizes // 2]
        # Every other cut is less even than one of the two beside the middle record.
        before = np.searchsorted(ordered, middle, "left") - starts
        after = np.searchsorted(ordered, middle, "right") - starts
        left = np.where(np.abs(2 * before - sizes) <= np.abs(2 * after - sizes), before, after)
        allowed = (left >= k) & (sizes - left >= k)
        at = np.where(allowed, left, 0)
        cut = ordered[starts + at] - np.arange(len(sizes)) * self._column.size
        by_class = None
        if classes is not None:
            right = codes >= cut[group]
            cells = (group * 2 + right) * class_count + classes[segments.rows]
            counted = np.bincount(cells, minlength=len(sizes) * 2 * class_count)
            by_class = counted.reshape(len(sizes), 2, class_count)
        found: list[Shape | None] = []
        for number, (region, ok) in enumerate(zip(regions, allowed.tolist(), strict=True)):
            if not ok:
                found.append(None)
                continue
            parts = self._space.halves(region, self._place(int(cut[number])))
            low = int(left[number])
            numbers = (low, int(sizes[number]) - low)
            found.append(Shape(parts, numbers, None if by_class is None else by_class[number]))
        return found

    def _place(self, code: int) -> float:
        values = self._column.values
        return float(values[code]) if code < len(values) else math.inf

    def codes(
        self, segments: Segments, regions: Sequence[Region], shapes: Sequence[Sequence[Region]]
    ) -> Array:
        first = [self._space.codes(self._column, parts[1])[0] for parts in shapes]
        right = self._column.codes[segments.rows] >= np.array(first)[segments.group]
        return right.astype(np.int64)


def _counted(
    cell: Array, room: int, classes: Array | None, class_count: int
) -> tuple[Array, Array, Array | None]:
    """The cells that occur, in order, how often, and how often with each class."""
    if room <= _SPARSE * len(cell) + 1024:
        table = np.bincount(cell, minlength=room)
        cells = np.flatnonzero(table)
        counts, place = table[cells], None
        if classes is not None:
            number = np.cumsum(table > 0) - 1
            place = number[cell]
    else:
        cells, place, counts = np.unique(cell, return_inverse=True, return_counts=True)
    if classes is None or place is None:
        return cells, counts, None
    by_class = np.bincount(place * class_count + classes, minlength=len(cells) * class_count)
    return cells, counts, by_class.reshape(len(cells), class_count)
