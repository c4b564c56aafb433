"""What `verify` computes of a distance is what the models compute, by another way."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.anonymity.models.audit import Released, audit
from coterie.anonymity.models.distances.audit import distances_again
from coterie.anonymity.models.distances.divergence import DivergenceCloseness
from coterie.anonymity.models.distances.given_costs import CostCloseness, Costs
from coterie.anonymity.models.distances.over_taxonomy import TaxonomyCloseness
from coterie.anonymity.models.privacy import DistinctDiversity, Together
from coterie.anonymity.table.taxonomy import taxonomy_of
from coterie.base.errors import VerificationError

VALUES = ("a", "b", "c", "d")
TREE = taxonomy_of([["a", "x", "*"], ["b", "x", "*"], ["c", "y", "*"], ["d", "*"]])
COSTS = Costs(VALUES, ((0, 1, 4, 2), (1, 0, 2, 9), (4, 2, 0, 3), (2, 9, 3, 0)))
MODELS = [DivergenceCloseness(0.2), TaxonomyCloseness(0.3, TREE), CostCloseness(0.8, COSTS)]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
@settings(max_examples=80, deadline=None)
@given(
    groups=st.lists(
        st.lists(st.integers(0, 8), min_size=4, max_size=4).filter(any), min_size=1, max_size=4
    )
)
def test_both_ways_give_the_same_distances_and_verdicts(model, groups):
    counts = np.array(groups)
    overall = counts.sum(axis=0)
    bound = model.for_values(VALUES)
    measures, verdicts = distances_again(model, VALUES, counts, overall)
    assert measures == pytest.approx(bound.measure(counts, overall), abs=1e-9)
    assert verdicts == bound.holds(counts, overall).tolist()


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_an_audit_reports_the_distance_and_names_the_group_that_is_too_far(model):
    group = np.repeat([0, 1], 8)
    good = {"q": Released(group, ("g", "h")), "s": Released(np.tile([0, 1, 2, 3], 4), VALUES)}
    found = audit(good, ("q",), 2, "s", Together((model,)))
    assert found["models"] == {model.name: 0.0}
    bad = good | {"s": Released(np.repeat([0, 2], 8), VALUES)}
    with pytest.raises(VerificationError, match=r"the group q=g violates .* of s"):
        audit(bad, ("q",), 2, "s", Together((model,)))


def test_other_models_are_not_computed_again():
    assert distances_again(DistinctDiversity(2), VALUES, np.ones((1, 4)), np.ones(4)) is None
