"""Conditions on shared sums give the models' own verdicts, evaluated in plain."""

import itertools

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from coterie.anonymity.models.distances.given_costs import Costs
from coterie.anonymity.models.options import (
    joint_model_from_options,
    model_from_options,
    with_taxonomy,
)
from coterie.anonymity.table.taxonomy import taxonomy_of
from coterie.base.errors import DataError
from coterie.protocols.circuits.boolean import evaluate, to_bits
from coterie.protocols.integration.sensitive.condition_forms import (
    ClosenessForm,
    forms_of,
    most_within,
    separating_fraction,
)

decimals = st.decimals("0.01", "0.99", places=2).map(float)
factors = st.sampled_from([0.07, 0.1, 0.3, 0.7, 1, 1.25, 2, 3, 7.5])


@st.composite
def options(draw, values):
    kind = draw(st.sampled_from(["distinct", "recursive", "alpha", "confidence", "t", "ordered"]))
    if kind == "distinct":
        return {"l": draw(st.integers(2, 5))}
    if kind == "recursive":
        return {"l": draw(st.integers(2, 4)), "c": draw(factors), "diversity": "recursive"}
    if kind == "alpha":
        return {"alpha": draw(decimals)}
    if kind == "confidence":
        names = st.sampled_from([*(str(i) for i in range(values)), "nobody's"])
        return {"confidence": draw(st.dictionaries(names, decimals, min_size=1))}
    return {"t": draw(decimals), "distance": "ordered" if kind == "ordered" else "variational"}


@st.composite
def cases(draw):
    values = draw(st.integers(1, 6))
    group = st.lists(st.integers(0, 12), min_size=values, max_size=values)
    groups = draw(st.lists(group, min_size=1, max_size=6))
    return draw(options(values)), groups


def verdicts(model, counts, seed=3):
    """What the forms decide from random shares of the sums over each group's records."""
    overall, sizes = counts.sum(axis=0), counts.sum(axis=1)
    records, values = int(overall.sum()), [str(i) for i in range(counts.shape[1])]
    found = np.ones(len(counts), bool)
    for part, form in forms_of(model):
        columns = form.columns(len(values))
        bits = form.bits(int(sizes.max()), records, columns)
        sums = (counts @ form.rows(part.for_values(values), overall)).astype(np.uint64)
        ours = np.random.default_rng(seed).integers(0, 2**64, sums.shape, np.uint64)
        words = form.words(ours, sizes, records)
        circuit = form.circuit(columns, bits, records)
        inputs = {
            "proposer": to_bits(words.reshape(-1), 64)[:, :bits].reshape(len(counts), -1),
            "holder": to_bits((sums - ours).reshape(-1), 64)[:, :bits].reshape(len(counts), -1),
        }
        found &= evaluate(circuit, inputs)["holds"][:, 0].astype(bool)
    return found


@settings(max_examples=600, deadline=None)
@given(cases())
@example(({"alpha": 0.6}, [[3, 2], [31, 19], [2, 3]]))
@example(({"l": 2, "c": 0.07, "diversity": "recursive"}, [[7, 0], [7, 100]]))
@example(({"t": 0.2}, [[7, 3], [3, 7]]))
def test_every_form_has_the_verdicts_of_its_model(case):
    asked, groups = case
    counts = np.array(groups, np.int64)
    if not counts.any():
        return
    model = model_from_options(asked)
    bound = model.for_values([str(i) for i in range(counts.shape[1])])
    expected = bound.holds(counts, counts.sum(axis=0))
    assert verdicts(model, counts).tolist() == expected.tolist()


def test_several_models_of_one_entry_are_all_decided():
    model = model_from_options({"l": 2, "alpha": 0.6})
    counts = np.array([[5, 5, 0], [9, 1, 0], [6, 0, 0], [0, 0, 0]])
    assert verdicts(model, counts).tolist() == [True, False, False, True]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.lists(st.integers(0, 9), min_size=4, max_size=4), min_size=1, max_size=4),
    st.sampled_from([0.1, 0.25, 0.3, 0.5]),
)
def test_closeness_over_a_taxonomy_has_the_verdicts_of_its_model(groups, t):
    counts = np.array(groups, np.int64)
    if not counts.any():
        return
    tree = taxonomy_of([["3", "x", "*"], ["0", "x", "*"], ["1", "y", "*"], ["2", "*"], ["4", "*"]])
    model = with_taxonomy(model_from_options({"t": t, "distance": "taxonomy"}), tree)
    bound = model.for_values([str(i) for i in range(4)])
    expected = bound.holds(counts, counts.sum(axis=0))
    assert verdicts(model, counts).tolist() == expected.tolist()


def test_a_taxonomy_of_one_value_is_never_far():
    model = with_taxonomy(
        model_from_options({"t": 0.1, "distance": "taxonomy"}), taxonomy_of([["0"]])
    )
    assert verdicts(model, np.array([[3], [0]])).tolist() == [True, True]


def test_divergences_and_given_costs_have_no_form():
    costs = Costs(("0", "1"), ((0, 1), (1, 0)))
    for asked in ({"t": 0.1, "distance": "kl"}, {"t": 1, "distance": "costs", "costs": costs}):
        assert forms_of(model_from_options(asked)) is None


def test_entropy_and_joint_diversity_have_no_form():
    assert forms_of(model_from_options({"l": 2, "diversity": "entropy", "alpha": 0.5})) is None
    assert forms_of(joint_model_from_options(["a", "b"], {"l": 2})) is None


@pytest.mark.parametrize("bound", [0.07, 0.1, 0.29, 0.3, 1 / 3, 0.57, 0.7, 0.999])
def test_the_largest_count_within_a_share_is_found_by_the_models_own_division(bound):
    divisors = np.array([0, 1, 7, 10, 29, 30, 100, 45222, 10**9 + 7, 2**50 + 3])
    most = most_within(bound, divisors)
    assert most[0] == 0
    assert (most[1:] / divisors[1:] <= bound).all()
    assert ((most[1:] + 1) / divisors[1:] > bound).all()


@pytest.mark.parametrize("bound", [0.001, 0.07, 0.1, 1 / 3, 0.7, 1, 1.1, 2, 2.5, 3.14159, 40, 900])
def test_a_fraction_separates_the_quotients_that_the_bound_separates(bound):
    above, below = separating_fraction(bound, 60)
    for a, b in itertools.product(range(61), range(1, 61)):
        assert (a / b < bound) == (a * below < above * b), (a, b)


def test_a_table_too_large_for_exact_distances_is_refused_with_the_way_out():
    with pytest.raises(DataError, match="only with 'conditions: holder'"):
        ClosenessForm(0.2, False).bits(10, 10**8, 4)
