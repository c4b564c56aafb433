"""The earth mover's distance over a taxonomy: the paper's example, and a linear programme."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.anonymity.models.closeness import Closeness, UnlistedValueError
from coterie.anonymity.models.distances.audit import over_tree
from coterie.anonymity.models.distances.over_taxonomy import TaxonomyCloseness
from coterie.anonymity.models.distances.transport import least_work
from coterie.anonymity.table.taxonomy import taxonomy_of

# Li et al., figure 1, in part: diseases by the system they affect.
DISEASES = taxonomy_of(
    [
        ["flu", "respiratory infection", "respiratory", "*"],
        ["pneumonia", "respiratory infection", "respiratory", "*"],
        ["bronchitis", "respiratory infection", "respiratory", "*"],
        ["gastric ulcer", "stomach", "digestive", "*"],
        ["gastritis", "stomach", "digestive", "*"],
        ["stomach cancer", "stomach", "digestive", "*"],
    ]
)
UNEVEN = taxonomy_of([["a", "x", "y", "*"], ["b", "x", "y", "*"], ["c", "y", "*"], ["d", "*"]])


def ancestors(tree, leaf):
    parent = {child: node for node, below in enumerate(tree.children) for child in below}
    path = [tree.labels.index(leaf)]
    while path[-1]:
        path.append(parent[path[-1]])
    return path


def height(tree, node):
    return max((1 + height(tree, child) for child in tree.children[node]), default=0)


def distance(tree, one, other):
    """The definition: the height of the lowest common ancestor over that of the tree."""
    above = ancestors(tree, other)
    common = next(node for node in ancestors(tree, one) if node in above)
    return height(tree, common) / height(tree, 0)


@pytest.mark.parametrize("tree", [DISEASES, UNEVEN])
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_it_is_the_optimum_of_the_transport_with_the_defined_distances(tree, data):
    n = len(tree.leaves)
    row = st.lists(st.integers(0, 8), min_size=n, max_size=n).filter(any)
    counts = np.array(data.draw(st.lists(row, min_size=1, max_size=3)))
    overall = counts.sum(axis=0)
    model = TaxonomyCloseness(0.3, tree).for_values(tree.leaves)
    found = model.measure(counts, overall)
    costs = np.array([[distance(tree, a, b) for b in tree.leaves] for a in tree.leaves])
    total, sizes = overall.sum(), counts.sum(axis=1)
    gaps = counts * total - overall * sizes[:, None]
    assert found == pytest.approx(least_work(gaps, costs) / (sizes * total), abs=1e-9)
    again = [over_tree(tree, tree.leaves, row, overall.tolist()) for row in counts.tolist()]
    assert found.tolist() == [float(d) for d in again]


def test_three_diseases_of_the_stomach_are_further_than_three_of_everything():
    values = DISEASES.leaves
    model = TaxonomyCloseness(0.4, DISEASES).for_values(values)
    counts = np.array([[0, 0, 0, 1, 1, 1], [1, 0, 0, 1, 0, 1]])
    overall = np.ones(6, np.int64)
    # Half of the weight crosses the root, at height 3 of 3; then 1/6 moves within each stomach.
    assert model.measure(counts, overall).tolist() == [0.5, pytest.approx(float(Fraction(5, 18)))]
    assert model.holds(counts, overall).tolist() == [False, True]
    assert Closeness(0.4).measure(counts, overall).tolist() == [0.5, 0.5]


def test_under_one_top_it_is_the_variational_distance():
    flat = taxonomy_of([[v, "*"] for v in "abcd"])
    counts = np.array([[3, 1, 0, 0], [0, 2, 2, 9]])
    overall = counts.sum(axis=0)
    found = TaxonomyCloseness(0.5, flat).for_values("abcd").measure(counts, overall)
    assert found == pytest.approx(Closeness(0.5).measure(counts, overall))


def test_columns_of_counts_may_be_some_leaves_in_any_order():
    values = ("gastritis", "flu")
    model = TaxonomyCloseness(0.5, DISEASES).for_values(values)
    assert model.measure(np.array([[4, 0]]), np.array([4, 4])).tolist() == [0.5]


def test_a_value_that_is_no_leaf_and_a_missing_taxonomy_are_named():
    with pytest.raises(UnlistedValueError, match="the taxonomy lacks the value 'gout'"):
        TaxonomyCloseness(0.2, DISEASES).for_values(["flu", "gout"])
    with pytest.raises(ValueError, match="needs a taxonomy of the sensitive attribute"):
        TaxonomyCloseness(0.2).for_values(["flu"])
    with pytest.raises(ValueError, match="t must be above 0 and below 1"):
        TaxonomyCloseness(1.0)
