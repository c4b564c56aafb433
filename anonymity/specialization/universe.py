"""A population under the cut of a table that is being specialized: k-map.

Sweeney, "Computational disclosure control" (2001), calls a release a k-map if every record of it
fits k people of the population that the table is a part of; k-anonymity asks for k records of the
table instead. For a small study of a large population that is far less to ask.

`Universe` generalizes the population by the same cut as the table. A specialization is permitted if
afterwards every combination of values on a QID has either nobody in the population or at least k
people, so that the cut makes the *whole population* k-anonymous. That is more than k-map demands,
which is about those combinations alone that the table has. The stricter rule is chosen because its
verdict depends on the population and the cut, and on no record of the table. By the laxer rule, a
"no" would say that somebody in the table has one of the few combinations that less than k people
share: whoever holds the population could name these people, and so could a reader of the release
who tries what the search must have refused.

The rule is monotone: if some combination has at least one person and less than k, then every finer
cut has such a combination, too. So a candidate that is refused once is refused for good.

An interval is split at a value that somebody in the table has, and whoever sees the split knows so
much. So the intervals of a table with a population are split only at values that k people of the
population have (`Universe.points`): the table's numbers are rounded down to these before the search
(`rounded`), which changes no interval that such values divide.

A group of the table whose combination nobody in the population has breaks the promise of a k-map,
too. There is such a group only if the table has people whom the population lacks. `lacking` counts
such groups at the end, and a table that has any is not released (`check_people`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from coterie.anonymity.specialization import kernels
from coterie.anonymity.specialization.generalized import (
    GeneralizedTable,
    Instruction,
    InvalidError,
    Requirement,
)
from coterie.anonymity.table.columns import Column, ContinuousColumn, IntervalTree, code_type
from coterie.base.arrays import Array
from coterie.base.errors import DataError


def mapped(requirements: Sequence[Requirement]) -> list[Requirement]:
    """The entries whose groups are counted in a population."""
    return [requirement for requirement in requirements if requirement.k_map is not None]


def mapped_names(requirements: Sequence[Requirement], names: Sequence[str]) -> list[str]:
    """Those of the attributes that the population must have, in their order."""
    needed = {name for requirement in mapped(requirements) for name in requirement.qid}
    return [name for name in names if name in needed]


def combinations(table: GeneralizedTable, qid: Sequence[str]) -> Array:
    """The different combinations of nodes that records have on these attributes, sorted, one a row."""
    partitions = table.partitions
    full = np.flatnonzero(partitions.size[: partitions.used] > 0)
    nodes = partitions.node[[table.names.index(name) for name in qid]][:, full]
    return np.unique(nodes.T, axis=0).astype(np.int64)


class Universe:
    """The population: its columns of all attributes in entries with `k_map`, in job order."""

    def __init__(self, columns: Sequence[Column], requirements: Sequence[Requirement]) -> None:
        self.requirements = mapped(requirements)
        used = set(mapped_names(requirements, [column.name for column in columns]))
        self._columns = [column for column in columns if column.name in used]
        self.names = [column.name for column in self._columns]
        self._table = GeneralizedTable(
            {column.name: column.tree for column in self._columns},
            {},
            [Requirement(entry.qid, entry.k_map or 1) for entry in self.requirements],
            len(self._columns[0]),
            rule="discernibility",  # the one that needs no class; nobody uses the score
        )

    @property
    def numbers(self) -> list[str]:
        """The attributes whose intervals are split."""
        return [c.name for c in self._columns if isinstance(c, ContinuousColumn)]

    def points(self, name: str) -> Array:
        """The values of a column of numbers that k people have, k the largest of its entries."""
        column = self._columns[self.names.index(name)]
        assert isinstance(column, ContinuousColumn)  # noqa: S101
        k = max(entry.k_map or 1 for entry in self.requirements if name in entry.qid)
        people = np.bincount(column.codes, minlength=column.size)[: len(column.values)]
        found: Array = column.values[people >= k]
        return found

    def permits(self, name: str, node: int, split: float | None) -> bool:
        """Whether every combination has nobody or k people after this specialization.

        A value that nobody in the population has is not specialized. Raises `InvalidError` for a
        value that is not in the cut, or cannot be specialized like this.
        """
        table = self._table
        if name not in self.names:
            return True
        attribute = self.names.index(name)
        self._check(attribute, node, split)
        leaves = table.partitions.link(attribute, node)
        if not len(leaves):
            return False
        low, children, width = self._children(attribute, node, split)
        codes = self._columns[attribute].codes
        counts = table.partitions.count(leaves, codes, low, children, width)
        for j in table.concerning[attribute]:
            _, after, _ = table.partitions.groups[j].counts(leaves, counts)
            if kernels.smallest_positive(after) < table.requirements[j].k:
                return False
        return True

    def follow(self, name: str, node: int, split: float | None) -> None:
        """Follows a specialization that is permitted."""
        if name not in self.names:
            return
        attribute = self.names.index(name)
        low, children, _ = self._children(attribute, node, split)
        leaves = self._table.partitions.link(attribute, node)
        codes = self._columns[attribute].codes
        every = self._table.partitions.children(leaves, codes, low, children)
        self._table.apply(Instruction(attribute, node, split, 0, every))

    def lacking(self, entry: int, groups: Array) -> int:
        """How many of these combinations nobody in the population has."""
        known = set(map(tuple, combinations(self._table, self.requirements[entry].qid).tolist()))
        return sum(tuple(group) not in known for group in groups.tolist())

    def _check(self, attribute: int, node: int, split: float | None) -> None:
        tree = self._table.trees[attribute]
        possible = node in self._table.cut_nodes(attribute)
        if isinstance(tree, IntervalTree):
            possible = possible and split is not None and tree.can_split(node, split)
            possible = possible and split in self.points(self.names[attribute])
        else:
            possible = possible and split is None and bool(tree.children(node))
        if not possible:
            raise InvalidError(f"'{self.names[attribute]}' cannot be specialized like this")

    def _children(self, attribute: int, node: int, split: float | None) -> tuple[int, Array, int]:
        """The first code below a node, the child of each code from there on, and their number."""
        column = self._columns[attribute]
        low, high = column.span(node)
        if isinstance(column, ContinuousColumn):
            assert split is not None  # noqa: S101
            top = min(high, len(column.values))
            place = int(np.searchsorted(column.values, split))
            bounds = [low, place, top, high][: column.tree.width(node) + 1]
        else:
            bounds = [low, *(column.span(child)[1] for child in column.tree.children(node))]
        width = len(bounds) - 1
        kind = np.uint8 if width <= 255 else np.uint16
        return low, np.repeat(np.arange(width, dtype=kind), np.diff(bounds)), width


def rounded(column: Column, points: Array) -> Column:
    """The table's column with every number rounded down to one of the points, or its range's start."""
    assert isinstance(column, ContinuousColumn)  # noqa: S101
    grid = np.unique(np.append(points, column.tree.low[0]))
    places = np.searchsorted(grid, column.values, "right") - 1
    used, ranks = np.unique(places, return_inverse=True)
    codes = np.append(ranks, len(used)).astype(code_type(len(used) + column.gap))
    return ContinuousColumn(
        column.name, codes[column.codes], grid[used], column.limits, column.scale, column.gap
    )


def check_people(requirements: Sequence[Requirement], lacking: Sequence[int]) -> None:
    """Raises if a group has nobody in the population; `lacking` counts such groups by entry with `k_map`.

    How many there are is not in the sentence, because the coordinator reads it, too.
    """
    for requirement, absent in zip(mapped(requirements), lacking, strict=True):
        if absent:
            raise DataError(
                f"some groups of {', '.join(requirement.qid)} have nobody in the population: the table "
                "has people who are not in it, or who have other values there"
            )
