"""The slots of a proposal: what all parties know about how a candidate may divide the groups.

`conditions` says why each group has a number of slots that all parties know, and how the proposer
assigns the parts of a group to them. Nothing is sent here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from coterie.anonymity.specialization.generalized import Instruction
from coterie.anonymity.specialization.specialize import Specializer
from coterie.anonymity.table.columns import IntervalTree
from coterie.base.arrays import Ints

_CHUNK = 1 << 21  # numbers of a correction that are sent together


@dataclass(frozen=True)
class Layout:
    """The groups of one QID that a proposal may divide, and their slots; known to all parties."""

    records: Ints  # of all groups, one group after the other
    sizes: Ints  # of each group
    widths: Ints  # the number of slots of each group

    @property
    def slots(self) -> int:
        return int(self.widths.sum())

    @property
    def first_slot(self) -> Ints:
        """The number of each group's first slot."""
        return np.cumsum(self.widths) - self.widths

    @property
    def group_of_record(self) -> Ints:
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    @property
    def largest(self) -> int:
        return int(self.sizes.max(initial=0))

    def chunks(self, numbers: int) -> Iterator[tuple[Ints, Ints]]:
        """Pairs of a place in `records` and a slot that is not its group's first.

        The pairs are ordered by slot, so that the pairs of one slot stand together.
        """
        groups = np.repeat(np.arange(len(self.sizes)), self.widths - 1)
        slots = np.delete(np.arange(self.slots), self.first_slot)
        start = (np.cumsum(self.sizes) - self.sizes)[groups]
        ends = np.cumsum(self.sizes[groups])
        begin = ends - self.sizes[groups]
        step = max(1, _CHUNK // max(numbers, 1))
        for first in range(0, int(ends[-1]) if len(ends) else 0, step):
            items = np.arange(first, min(first + step, int(ends[-1])))
            block = np.searchsorted(ends, items, "right")
            yield items - begin[block] + start[block], slots[block]


def layout_of(table: Specializer, requirement: int, attributes: Sequence[int]) -> Layout:
    """The slots that suffice for a candidate of any of these attributes."""
    partitions, groups = table.partitions, table.partitions.groups[requirement]
    leaves = np.arange(partitions.used)
    width: Ints = np.zeros(groups.used, np.int64)
    for attribute in attributes:
        if attribute in groups.attributes:
            nodes = partitions.node[attribute, leaves]
            found, inverse = np.unique(nodes, return_inverse=True)
            children = np.array([children_of(table, attribute, int(node)) for node in found])
            np.maximum.at(width, groups.of_leaf[leaves], children[inverse])
    sizes = groups.size[: groups.used]
    width = np.minimum(width, sizes // table.requirements[requirement].k)
    chosen = np.flatnonzero(width >= 2)
    wanted = leaves[np.isin(groups.of_leaf[leaves], chosen)]
    wanted = wanted[np.argsort(groups.of_leaf[wanted], kind="stable")]
    return Layout(
        partitions.records_of(wanted).astype(np.int64), sizes[chosen].copy(), width[chosen]
    )


def children_of(table: Specializer, attribute: int, node: int) -> int:
    """The number of values that a node can be specialized into, as far as all parties know."""
    tree = table.trees[attribute]
    if node < 0:
        return 0
    if isinstance(tree, IntervalTree):
        return tree.width(node) if tree.low[node] < tree.high[node] else 0
    return len(tree.children(node))


def assigned_slots(
    table: Specializer, requirement: int, layout: Layout, instruction: Instruction
) -> Ints:
    """The slot of each record of the layout, counted from its group's first: the proposer's secret."""
    if instruction.attribute not in table.partitions.groups[requirement].attributes:
        return np.zeros(len(layout.records), np.int64)
    child = np.zeros(table.records, np.int64)
    leaves = table.partitions.link(instruction.attribute, instruction.node)
    child[table.partitions.records_of(leaves)] = instruction.children
    width = int(child.max(initial=0)) + 1
    cells = layout.group_of_record * width + child[layout.records]
    has = np.bincount(cells, minlength=len(layout.sizes) * width) > 0
    slots: Ints = (np.cumsum(has.reshape(-1, width), axis=1) - 1).reshape(-1)[cells]
    if (slots >= layout.widths[layout.group_of_record]).any():
        raise ValueError("a candidate divides a group into more parts than it can have")
    return slots
