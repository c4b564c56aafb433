"""The lattice of full-domain recodings: one level for every attribute, the same for all records.

A node is a tuple of levels, and it is above another when no level is lower. A node above a
satisfying one satisfies, too: a group of the upper node is a union of groups of the lower one, and
every model survives a union. With k alone, the number of records in groups that are too small never
grows upwards, either; with further models, or with several quasi-identifiers, it may grow, so
records are then suppressed only as far as bounds on generalization force it.

`Lattice` counts the groups of nodes: records are reduced to distinct rows with their counts once,
and nodes are rolled up from finer nodes. Incognito, Samarati and Datafly use these counts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from coterie.anonymity.algorithms import lattice_kernels as kernels
from coterie.anonymity.algorithms.anonymized import Anonymized
from coterie.anonymity.algorithms.bounds import check_limit, highest_permitted, keepable
from coterie.anonymity.algorithms.conditions import Condition, condition_of, judged_table
from coterie.anonymity.specialization.specialize import Requirement
from coterie.anonymity.table.columns import CategoricalColumn
from coterie.anonymity.table.groups import group_numbers
from coterie.anonymity.table.hierarchy import height_shares
from coterie.anonymity.table.levels import Ladder, ladder
from coterie.anonymity.table.table import Table
from coterie.anonymity.utility.entropy import frequencies, most_bits
from coterie.base.arrays import Array
from coterie.base.distinct import distinct, ranks
from coterie.base.errors import DataError, UsageError

_ROOM = 2**62


@dataclass(frozen=True)
class Walked:
    """Per node, in the lattice's shape: the records to suppress (-1: too many), and the cost."""

    suppressed: Array
    discernibility: Array
    charged: Array  # the sum of the charges of all records
    looked: int  # the number of nodes whose groups were formed


class Lattice:
    """The lattice of some attributes of a table."""

    def __init__(self, table: Table, names: Sequence[str]) -> None:
        self.table = table
        self.names = tuple(name for name in table.names if name in names)
        self.ladders = [_bounded_ladder(table, name) for name in self.names]
        self.shape = tuple(len(ladder.levels) for ladder in self.ladders)
        self.nodes = math.prod(self.shape)
        matrix = table.matrix(self.names)
        self.row_of = group_numbers(list(matrix.T))
        first = np.unique(self.row_of, return_index=True)[1]
        self._weights = np.bincount(self.row_of).astype(np.int64)
        # Codes that occur are renumbered; a value at a level is represented by the first code under
        # it.
        rows, self._occurring = [], []
        for codes in matrix[first].T:
            found, place = distinct(codes), ranks(codes)
            rows.append(place)
            self._occurring.append(found)
        self._rows = np.stack(rows, axis=1).astype(np.int64)
        self.rows = len(self._rows)  # the groups of the finest node
        self._sizes = np.array([len(found) for found in self._occurring], np.int64)
        if math.prod(self._sizes.tolist()) >= _ROOM:
            raise DataError(
                f"the columns {', '.join(self.names)} have too many different values for a method "
                "that recodes whole columns; give numbers a taxonomy, or take mondrian"
            )

    @cached_property
    def _levels(self) -> tuple[Array, Array]:
        """Per attribute and level, the representative of every code; and the offset of each level."""
        flat: list[Array] = []
        start = np.zeros((len(self.names), max(self.shape)), np.int64)
        at = 0
        for j, (own, found) in enumerate(zip(self.ladders, self._occurring, strict=True)):
            for level, values in enumerate(own.levels):
                _, index, inverse = np.unique(values[found], return_index=True, return_inverse=True)
                flat.append(index[inverse])
                start[j, level] = at
                at += len(found)
        return np.concatenate(flat).astype(np.int64), start

    def walk(self, k: int, most: int, cost: str) -> Walked:
        """The groups of every node. `cost`, entropy or height, is what `charged` sums."""
        to, start = self._levels
        # One level up from a representative is the representative of the level above.
        up_start = np.roll(start, -1, axis=1)
        bits, all_bits = self._charges(cost)
        suppressed, squares, charged, looked = kernels.walk(
            self._rows, self._weights, np.array(self.shape), self._sizes, to, up_start, bits, start,
            k, most, all_bits,
        )  # fmt: skip
        shape = self.shape
        return Walked(
            suppressed.reshape(shape), squares.reshape(shape), charged.reshape(shape), int(looked)
        )

    def _charges(self, cost: str) -> tuple[Array, float]:
        """A record's charge for each value at each level, and for being suppressed."""
        flat = []
        total = 0.0
        for own, found in zip(self.ladders, self._occurring, strict=True):
            column = own.column
            counts = frequencies(column)
            most = most_bits(counts) / max(len(column), 1)
            shares = (
                dict(enumerate(height_shares(column.taxonomy)))
                if isinstance(column, CategoricalColumn)
                else {}
            )
            for level, values in enumerate(own.levels):
                if cost == "entropy":
                    covered = _covered(own, level, counts)[found]
                    flat.append(np.log2(np.maximum(covered, 1)) / most if most else 0.0 * covered)
                elif shares:
                    flat.append(np.array([shares[node] for node in values[found].tolist()]))
                else:
                    flat.append(np.full(len(found), level / max(len(own.levels) - 1, 1)))
            total += (np.log2(len(column)) / most if most else 0.0) if cost == "entropy" else 1.0
        return np.concatenate(flat), total

    def suppressed_at(self, node: Sequence[int], k: int) -> tuple[int, float]:
        """The records in groups of fewer than k at one node, and the discernibility."""
        to, start = self._levels
        at = np.array(node, np.int64)
        small, squares = kernels.suppressed_at(
            self._rows, self._weights, at, self._sizes, to, start, k
        )
        return int(small), float(squares)

    def groups_at(self, node: Sequence[int]) -> Array:
        """Per record the number of its group at a node."""
        to, start = self._levels
        columns = [to[start[j, level] + self._rows[:, j]] for j, level in enumerate(node)]
        return group_numbers(columns)[self.row_of]

    def satisfies(self, node: Sequence[int], condition: Condition, most: int) -> bool:
        """Whether a node satisfies a condition, with at most `most` records suppressed for k."""
        if self.suppressed_at(node, condition.k)[0] > most:
            return False
        if not condition.models:
            return True
        return bool(condition.holds(self.groups_at(node), self.table.labels).all())


def _bounded_ladder(table: Table, name: str) -> Ladder:
    column, marks = table.column(name), table.at_most.get(name)
    if not marks or not isinstance(column, CategoricalColumn):
        return ladder(column)
    return ladder(column, highest_permitted(column.taxonomy, marks))


def _covered(own: Ladder, level: int, counts: Array) -> Array:
    """Per code the number of records under the value that a level shows for the code."""
    values = own.levels[level]
    if isinstance(own.column, CategoricalColumn):
        before = np.concatenate([[0], np.cumsum(counts)])
        first, last = (
            np.array(x)[values] for x in (own.column.taxonomy.first, own.column.taxonomy.last)
        )
        return np.asarray(before[last] - before[first])
    return np.asarray(np.bincount(values, weights=counts)[values])


@dataclass(frozen=True)
class Task:
    """The input of a full-domain method: the records that can stay, and their conditions."""

    table: Table
    kept: Array
    rest: Table
    conditions: tuple[Condition, ...]
    most: int  # records that may still be suppressed for k

    @property
    def names(self) -> tuple[str, ...]:
        used = {name for condition in self.conditions for name in condition.attributes}
        return tuple(name for name in self.table.names if name in used)


def task_of(table: Table, requirements: Sequence[Requirement], most_suppressed: int) -> Task:
    """Suppresses the records that bounds on generalization cost; counts how many more may go."""
    judged = judged_table(table, requirements)
    conditions = tuple(condition_of(requirement, judged) for requirement in requirements)
    for condition in conditions:
        for model, _ in condition.models:
            if not model.monotone:
                raise UsageError(
                    f"{model.name} can come back after it was violated, which methods that recode "
                    "whole columns do not look for; take mondrian"
                )
    alone = len(conditions) == 1 and not conditions[0].models
    if most_suppressed and not alone and not table.at_most:
        raise UsageError(
            "max_suppression is only for a single requirement on k alone in methods that recode whole "
            "columns: leaving records out can break another condition"
        )
    kept = keepable(judged, conditions)
    gone = table.records - len(kept)
    required = ", ".join(f"k = {condition.k}" for condition in conditions)
    check_limit(table.records, gone, most_suppressed, required)
    if not len(kept):
        raise DataError("the bounds in at_most leave no record; permit more general values")
    rest = judged if not gone else judged.take(kept)
    return Task(table, kept, rest, conditions, most_suppressed - gone if alone else 0)


def released_at(
    method: str, task: Task, lattice: Lattice, node: Sequence[int], details: Mapping[str, object]
) -> Anonymized:
    """The release at a node of the whole lattice."""
    rows = np.arange(task.rest.records)
    if len(task.conditions) == 1:
        groups = lattice.groups_at(node)
        rows = rows[(np.bincount(groups) >= task.conditions[0].k)[groups]]
    columns = {
        own.name: own.regions(level, rows) for own, level in zip(lattice.ladders, node, strict=True)
    }
    levels = dict(zip(lattice.names, (int(level) for level in node), strict=True))
    found: dict[str, object] = {"lattice": {"nodes": lattice.nodes, **details, "levels": levels}}
    if task.table.at_most:
        found["bounds_cost"] = task.table.records - len(task.kept)
    return Anonymized(method, task.table, task.kept[rows], columns, found)
