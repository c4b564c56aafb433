"""The generalized table: taxonomy-indexed partitions and QID trees (paper 1, definitions 3 and 4).

The records that share all generalized values are one leaf partition. For every QID, the leaves that
share its values are one group, whose size is a(qid). Both are refined as values are specialized.
Nothing here is secret from a party: all parties refine by the same codes, and number leaves and
groups in the same way. Definition 3's Link_x is `link`; the trees of definition 4 are the numbers
of groups.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from coterie.anonymity.specialization import kernels
from coterie.base.arrays import Array

_CELLS = 1 << 22  # the most counts of sensitive values in memory


class Groups:
    """The groups of one QID: the group of each leaf, and the size of each group."""

    def __init__(self, attributes: Sequence[int], records: int) -> None:
        self.attributes = frozenset(attributes)
        self.of_leaf: Array = np.zeros(16, np.int32)
        self.size: Array = np.zeros(16, np.int64)
        self.size[0] = records
        self.used = 1
        self.version = 0
        self._slot: Array = np.full(16, -1, np.int32)

    @property
    def smallest(self) -> int:
        """A(QID): the size of the smallest group that has records."""
        sizes = self.size[: self.used]
        return int(sizes[sizes > 0].min(initial=np.iinfo(np.int64).max)) if sizes.any() else 0

    def counts(self, leaves: Array, partitions: Array) -> tuple[Array, Array, Array]:
        """The numbers of the groups concerned, their counts by child, and the row of each leaf."""
        groups = self.of_leaf[leaves]
        found = np.empty(len(leaves), np.int32)
        rows = np.empty(len(leaves), np.int32)
        counts = np.zeros((len(leaves), partitions.shape[1]), np.int32)
        used = kernels.sum_groups(groups, partitions, self._slot, found, rows, counts)
        return found[:used], counts[:used], rows

    def divide(self, leaves: Array, partitions: Array) -> tuple[Array, Array]:
        """Makes a group of every child that has records; the first keeps the group's number.

        Returns the new numbers, by row and child, and each leaf's row.
        """
        found, counts, rows = self.counts(leaves, partitions)
        has = counts > 0
        first = has & (np.cumsum(has, axis=1) == 1)
        fresh = has & ~first
        total = self.used + int(fresh.sum())
        self.size = _grown(self.size, total)
        self._slot = _grown(self._slot, total, -1)
        numbers = np.zeros(counts.shape, np.int32)
        numbers[fresh] = np.arange(self.used, total, dtype=np.int32)
        numbers[first] = found
        self.size[numbers[has]] = counts[has]
        self.used = total
        self.version += 1
        return numbers, rows


class Partitions:
    """The leaf partitions of a table, and their groups by QID."""

    def __init__(self, records: int, attributes: int, qids: Sequence[Sequence[int]]) -> None:
        self.records = records
        self.order: Array = np.arange(records, dtype=np.uint32)
        self.start: Array = np.zeros(16, np.int64)
        self.size: Array = np.zeros(16, np.int64)
        self.size[0] = records
        self.node: Array = np.zeros((attributes, 16), np.int32)  # the generalized value of a leaf
        self.used = 1
        self.groups = [Groups(qid, records) for qid in qids]
        self.version = 0

    def link(self, attribute: int, node: int) -> Array:
        """The leaves whose value on this attribute is this node."""
        return np.flatnonzero(self.node[attribute, : self.used] == node)

    def concerned(self, leaves: Array) -> int:
        """The number of records in these leaves."""
        return int(self.size[leaves].sum())

    def count(self, leaves: Array, codes: Array, low: int, table: Array, width: int) -> Array:
        """The records of each leaf by child, where the child of a code is table[code - low]."""
        counts = np.zeros((len(leaves), width), np.int32)
        kernels.count_children(self.order, self.start, self.size, leaves, codes, low, table, counts)
        return counts

    def children(self, leaves: Array, codes: Array, low: int, table: Array) -> Array:
        """The child of each record concerned."""
        out = np.empty(self.concerned(leaves), table.dtype)
        kernels.list_children(self.order, self.start, self.size, leaves, codes, low, table, out)
        return out

    def tally(
        self, leaves: Array, children: Array, width: int, classes: Array, class_count: int
    ) -> tuple[Array, Array]:
        """The records of each leaf by child, and of each child by class."""
        counts = np.zeros((len(leaves), width), np.int32)
        by_class = np.zeros((width, class_count), np.int64)
        kernels.count_codes(
            self.order, self.start, self.size, leaves, children, classes, counts, by_class
        )
        return counts, by_class

    def sensitive_counts(
        self, qid: int, leaves: Array, children: Array, width: int, codes: Array, values: int
    ) -> Iterator[Array]:
        """For each group and child of the leaves, the records by sensitive value; in blocks."""
        _, counts, rows = self.groups[qid].counts(leaves, np.zeros((len(leaves), 1), np.int32))
        block = max(1, _CELLS // (width * values))
        for first in range(0, len(counts), block):
            last = min(first + block, len(counts))
            out = np.zeros(((last - first) * width, values), np.int64)
            kernels.count_sensitive(
                self.order,
                self.start,
                self.size,
                leaves,
                rows,
                first,
                last,
                children,
                width,
                codes,
                out,
            )
            yield out

    def sensitive_cells(
        self, qid: int, leaves: Array, children: Array, width: int, codes: Array
    ) -> tuple[Array, Array, int]:
        """For each record of the leaves its group and child as one number, and its sensitive code.

        The third result is the number of such numbers.
        """
        groups, _, rows = self.groups[qid].counts(leaves, np.zeros((len(leaves), 1), np.int32))
        return (
            np.repeat(rows.astype(np.int64), self.size[leaves]) * width + children,
            codes[self.records_of(leaves)],
            len(groups) * width,
        )

    def records_of(self, leaves: Array) -> Array:
        """The records of these leaves, leaf by leaf: the order of an instruction's codes."""
        sizes = self.size[leaves]
        ends = np.cumsum(sizes)
        places = np.arange(ends[-1] if len(ends) else 0)
        records: Array = self.order[places + np.repeat(self.start[leaves] - (ends - sizes), sizes)]
        return records

    def refine(
        self, attribute: int, nodes: Sequence[int], leaves: Array, children: Array, counts: Array
    ) -> None:
        """Replaces the value that these leaves share on the attribute by the nodes."""
        if counts.shape[1] > 1:
            longest = int(self.size[leaves].max(initial=0))
            kernels.partition(
                self.order,
                self.start,
                self.size,
                leaves,
                children,
                counts,
                np.empty(longest, self.order.dtype),
            )
        made = int(np.count_nonzero(counts))
        total = self.used + made - len(leaves)
        self.start, self.size = _grown(self.start, total), _grown(self.size, total)
        self.node = _grown(self.node, total)
        origin, child = np.empty(made, np.int64), np.empty(made, np.int64)
        kernels.divide_leaves(self.start, self.size, self.used, leaves, counts, origin, child)
        places = np.concatenate([leaves, np.arange(self.used, total)])
        self.node[:, places] = self.node[:, leaves[origin]]
        self.node[attribute, places] = np.asarray(nodes, np.int32)[child]
        for groups in self.groups:
            groups.of_leaf = _grown(groups.of_leaf, total)
            if attribute in groups.attributes:
                numbers, rows = groups.divide(leaves, counts)
                groups.of_leaf[places] = numbers[rows[origin], child]
            else:
                groups.of_leaf[places] = groups.of_leaf[leaves[origin]]
        self.used = total
        self.version += 1

    def remove(self, leaves: Array) -> Array:
        """Removes the records of these leaves, and returns them."""
        parts = [self.order[self.start[x] : self.start[x] + self.size[x]] for x in leaves]
        gone: Array = np.concatenate(parts) if parts else np.empty(0, self.order.dtype)
        for groups in self.groups:
            np.subtract.at(groups.size, groups.of_leaf[leaves], self.size[leaves])
            groups.version += 1
        self.size[leaves] = 0
        self.node[:, leaves] = -2
        self.version += 1
        return gone

    def kept(self) -> Array:
        """The records that were not left out, in order."""
        stays = np.zeros(self.records, bool)
        kernels.fill(self.order, self.start, self.size, self.used, np.ones(self.used, bool), stays)
        return np.flatnonzero(stays)

    def generalized(self, attribute: int) -> Array:
        """The node of each record on an attribute; -1 for one that was left out."""
        out = np.full(self.records, -1, np.int32)
        kernels.fill(self.order, self.start, self.size, self.used, self.node[attribute], out)
        return out


def _grown(array: Array, size: int, fill: int = 0) -> Array:
    """At least `size` along the last axis, with room to grow."""
    if array.shape[-1] >= size:
        return array
    grown = np.full((*array.shape[:-1], 2 * size), fill, array.dtype)
    grown[..., : array.shape[-1]] = array
    return grown
