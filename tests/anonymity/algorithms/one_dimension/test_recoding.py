"""`method: quantiles` on small tables: k and models hold, and the result tells the groups."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.anonymity.algorithms.one_dimension.recoding import CLUSTERS, Options, quantiles
from coterie.anonymity.models.options import model_from_options
from coterie.anonymity.specialization.specialize import Requirement
from coterie.anonymity.table.columns import categorical_column, continuous_column
from coterie.anonymity.table.table import Labels, Table
from coterie.anonymity.table.taxonomy import flat_taxonomy
from coterie.base.errors import DataError, UsageError


def table_of(ages: list[int], ill: list[int] | None = None) -> Table:
    labels = {} if ill is None else {"ill": Labels(np.array(ill), ("no", "yes"))}
    return Table((continuous_column("Age", [str(age) for age in ages]),), labels)


def released(table: Table, requirements: list[Requirement], options: Options, most: int = 0):
    return quantiles(table, requirements, most, options)


CUTS = {"Age": (3.0, 7.0, 20.0)}
WAYS = [
    Options(clusters, by, 0.1, 0.1, CUTS)
    for clusters in CLUSTERS
    for by in ("value", "rank")
    if by == "value" or clusters not in ("sampled", "given")
]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(0, 15), min_size=1, max_size=40),
    st.integers(1, 7),
    st.sampled_from(WAYS),
)
def test_every_group_has_k_records_that_lie_in_it(ages, k, way):
    if k > len(ages):
        return
    answer = released(table_of(ages), [Requirement(("Age",), k)], way)
    shown = answer.columns["Age"]
    sizes = np.bincount(shown.codes)
    assert sizes.min() >= k
    codes = answer.table.column("Age").codes
    assert (shown.first[shown.codes] <= codes).all()
    assert (codes < shown.last[shown.codes]).all()
    told = answer.details["quantiles"]["Age"]
    assert told["groups"] == len(sizes)
    assert told["smallest"] == sizes.min()
    if way.by == "value":
        ends = sorted(zip(shown.first.tolist(), shown.last.tolist(), strict=True))
        assert all(a[1] <= b[0] for a, b in itertools.pairwise(ends))


def test_by_rank_divides_equal_values_and_by_value_does_not():
    table = table_of([1] * 5 + [2] * 3 + [3] * 4)
    told = {}
    for by in ("rank", "value"):
        answer = released(table, [Requirement(("Age",), 4)], Options("even", by))
        told[by] = sorted(
            zip(answer.columns["Age"].labels, np.bincount(answer.columns["Age"].codes), strict=True)
        )
    assert told["rank"] == [("1", 4), ("3", 4), ("[1, 2]", 4)]
    assert told["value"] == [("3", 4), ("[1, 2]", 8)]


def test_a_model_on_a_sensitive_column_holds_in_every_group():
    rng = np.random.default_rng(4)
    ages = rng.integers(0, 60, 200).tolist()
    ill = [int(age > 40 or age % 7 == 0) for age in ages]
    requirement = Requirement(("Age",), 5, "ill", model_from_options({"l": 2}))
    for way in WAYS:
        answer = released(table_of(ages, ill), [requirement], way)
        codes = answer.columns["Age"].codes
        for group in range(codes.max() + 1):
            assert len({ill[i] for i in np.flatnonzero(codes == group)}) == 2
        answer.anonymity([requirement])


def test_the_result_tells_representatives_and_costs():
    table = table_of([1, 2, 9, 20, 21, 25])
    median = released(table, [Requirement(("Age",), 3)], Options("median"))
    told = median.details["quantiles"]["Age"]
    assert told["representatives"] == {"[1, 9]": 2.0, "[20, 25]": 21.0}
    assert told["costs"] == {"median": 13.0, "centre": 4.0, "cellular": 19.5}
    assert told["rank_difference"] == 4
    centre = released(table, [Requirement(("Age",), 3)], Options("centre"))
    assert centre.details["quantiles"]["Age"]["representatives"]["[1, 9]"] == 5.0


def test_records_without_a_value_are_a_group_or_join_the_last_one():
    ages = ["1", "2", "3", "4", "", "", ""]
    gaps = np.array([age == "" for age in ages])
    table = Table((continuous_column("Age", ages, gaps=gaps),))
    few = released(table, [Requirement(("Age",), 3)], Options())
    assert sorted(few.columns["Age"].labels) == ["?", "[1, 4]"]
    more = released(table, [Requirement(("Age",), 4)], Options())
    assert sorted(more.columns["Age"].labels) == ["[1, 4] or ?"]


def test_several_columns_categories_and_too_few_records_are_refused():
    table = Table(
        (
            continuous_column("Age", ["1", "2"]),
            categorical_column("Town", ["a", "b"], flat_taxonomy(["a", "b"])),
        )
    )
    with pytest.raises(UsageError, match="the qid Age, Town has 2 columns"):
        released(table, [Requirement(("Age", "Town"), 2)], Options())
    with pytest.raises(UsageError, match="column 'Town': quantiles are of numbers"):
        released(table, [Requirement(("Town",), 2)], Options())
    with pytest.raises(DataError, match="fewer than the k = 3"):
        released(table, [Requirement(("Age",), 3)], Options())
