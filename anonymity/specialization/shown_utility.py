"""Utility of a joint release from what all parties know: the table that they generalized together.

Nobody needs the raw values for these measures: discernibility, normalised width and precision as in
`anonymity.utility`, with one difference. `anonymity.utility` takes as the width of an interval that of
the numbers in it, which only their holder knows; here it is the width of the interval itself, as a
share of the range. Records that were left out are charged.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from coterie.anonymity.specialization.generalized import GeneralizedTable
from coterie.anonymity.table.columns import IntervalTree, TaxonomyTree, Tree
from coterie.anonymity.table.hierarchy import height_shares
from coterie.anonymity.table.taxonomy import TOP


def shown_utility(table: GeneralizedTable, left_out: int = 0) -> dict[str, Any]:
    """The measures, `left_out` records besides those that the table suppressed being charged."""
    gone = table.suppressed + left_out
    total = table.records + left_out
    sizes = table.partitions.size[: table.partitions.used].astype(np.int64)
    widths = heights = 0.0
    for attribute, tree in enumerate(table.trees):
        nodes = table.partitions.node[attribute, : table.partitions.used]
        for node in np.unique(nodes[sizes > 0]).tolist():
            records = int(sizes[nodes == node].sum())
            width, height = _width_and_height(tree, node)
            widths += records * width
            heights += records * height
    cells = len(table.trees) * total
    return {
        "discernibility": int((sizes**2).sum()) + gone * total,
        "normalised_width": (widths + gone * len(table.trees)) / cells,
        "precision": 1.0 - (heights + gone * len(table.trees)) / cells,
    }


def detail_kept(table: GeneralizedTable, left_out: int = 0) -> dict[str, float]:
    """For each attribute the share of its detail that the release shows: 1 less its normalised width.

    0 is a column that is fully generalized, 1 one of which every value is shown.
    """
    sizes = table.partitions.size[: table.partitions.used].astype(np.int64)
    total = table.records + left_out
    kept = {}
    for attribute, (name, tree) in enumerate(zip(table.names, table.trees, strict=True)):
        nodes = table.partitions.node[attribute, : table.partitions.used]
        shown = sum(
            int(sizes[nodes == node].sum()) * (1 - _width_and_height(tree, node)[0])
            for node in np.unique(nodes[sizes > 0]).tolist()
        )
        kept[name] = round(shown / total, 6)
    return kept


def _width_and_height(tree: Tree, node: int) -> tuple[float, float]:
    if isinstance(tree, IntervalTree):
        if tree.is_gap(node):
            return 0.0, 0.0
        span = tree.high[0] - tree.low[0]
        width = (tree.high[node] - tree.low[node]) / span if span else 0.0
        return width, width
    assert isinstance(tree, TaxonomyTree)  # noqa: S101
    taxonomy = tree.taxonomy
    if taxonomy.labels[0] == TOP and taxonomy.depth == 1:  # flat: the value or nothing
        return float(node == 0), float(node == 0)
    return taxonomy.width(node), height_shares(taxonomy)[node]
