"""The trees above several columns in flat arrays, for compiled loops.

A node is numbered within its column. A categorical column has the nodes of its taxonomy; a column
of numbers has none, and its regions are ranges of ranks. `joined` finds the lowest node above a
node and a further leaf by climbing from the node: leaves are numbered from left to right, so that a
node covers a range.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from coterie.anonymity.table.columns import CategoricalColumn, Column
from coterie.anonymity.table.taxonomy import Taxonomy, subtree_heights
from coterie.base.arrays import Array
from coterie.base.compiled import compiled


@dataclass(frozen=True)
class Hierarchy:
    """Nodes of all columns in a row; column j has those from `start[j]` on, none for numbers."""

    tree: Array  # per column: whether it has a taxonomy
    start: Array
    parent: Array
    first: Array
    last: Array
    height: Array  # of the subtree at the node, as a share of the tree's height
    leaf_start: Array  # where column j begins in `leaf_node`
    leaf_node: Array  # the node of every leaf code


def hierarchy_of(columns: Sequence[Column]) -> Hierarchy:
    tree, start, leaf_start = [], [], []
    parent: list[int] = []
    first: list[int] = []
    last: list[int] = []
    height: list[float] = []
    leaves: list[int] = []
    for column in columns:
        start.append(len(parent))
        leaf_start.append(len(leaves))
        tree.append(isinstance(column, CategoricalColumn))
        if not isinstance(column, CategoricalColumn):
            continue
        taxonomy = column.taxonomy
        above, node_of = parents_and_leaves(taxonomy)
        parent += above
        first += taxonomy.first
        last += taxonomy.last
        height += height_shares(taxonomy)
        leaves += node_of
    return Hierarchy(
        np.array(tree, bool),
        np.array(start, np.int64),
        np.array(parent or [0], np.int64),
        np.array(first or [0], np.int64),
        np.array(last or [0], np.int64),
        np.array(height or [0.0], np.float64),
        np.array(leaf_start, np.int64),
        np.array(leaves or [0], np.int64),
    )


def parents_and_leaves(taxonomy: Taxonomy) -> tuple[list[int], list[int]]:
    """The parent of every node (of the root, itself), and the node of every leaf code."""
    parent = [0] * len(taxonomy.labels)
    leaf_node = [0] * len(taxonomy.leaves)
    for node, children in enumerate(taxonomy.children):
        for child in children:
            parent[child] = node
        if not children:
            leaf_node[taxonomy.first[node]] = node
    return parent, leaf_node


def height_shares(taxonomy: Taxonomy) -> list[float]:
    """Per node the height of its subtree, as a share of the whole tree's height."""
    heights = subtree_heights(taxonomy)
    return [height / max(heights[0], 1) for height in heights]


@compiled
def joined(parent: Array, last: Array, first: Array, start: int, node: int, code: int) -> int:
    """The lowest node that covers both `node` and the leaf `code`."""
    while code >= last[start + node] or code < first[start + node]:
        node = parent[start + node]
    return node
