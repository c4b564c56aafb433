"""The flat trees of several columns say the same as their taxonomies."""

import numpy as np

from coterie.anonymity.table.hierarchy import height_shares, hierarchy_of, joined
from tests.anonymity.small_tables import PLACES, table_of

TABLE = table_of(["San Diego", "Lincoln"], ["F", "M"], [30, 40])


def labels_above(node):
    """The path from a node to the root, found by searching all children."""
    path = [node]
    while path[-1]:
        path.append(next(n for n, below in enumerate(PLACES.children) if path[-1] in below))
    return path


def test_the_lowest_common_node_is_that_of_the_paths():
    found = hierarchy_of(TABLE.columns)
    for code, leaf in enumerate(PLACES.leaves):
        for node in range(len(PLACES.labels)):
            covers = set(labels_above(PLACES.labels.index(leaf)))
            lowest = next(n for n in labels_above(node) if n in covers)
            assert joined(found.parent, found.last, found.first, 0, node, code) == lowest


def test_heights_are_shares_of_the_trees_height():
    heights = dict(zip(PLACES.labels, height_shares(PLACES), strict=True))
    assert (heights["USA"], heights["West"], heights["Kansas"]) == (1, 2 / 3, 1 / 3)
    assert heights["Lincoln"] == 0


def test_a_column_of_numbers_has_no_nodes():
    found = hierarchy_of(TABLE.columns)
    assert found.tree.tolist() == [True, True, False]
    assert len(found.parent) == found.start[2] == len(PLACES.labels) + 3
    assert np.array_equal(found.leaf_node[:5], [PLACES.labels.index(p) for p in PLACES.leaves])
