from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.anonymity.models.audit import Released, audit, group_numbers
from coterie.anonymity.models.options import model_from_options
from coterie.base.errors import VerificationError

Rows = list[tuple[str, ...]]


@st.composite
def tables(draw: st.DrawFn) -> Rows:
    width = draw(st.integers(1, 4))
    value = st.sampled_from("abc")
    return draw(st.lists(st.tuples(*[value] * width), min_size=1, max_size=60))


def released(rows: Rows) -> dict[str, Released]:
    columns = {}
    for at, column in enumerate(zip(*rows, strict=True)):
        values = sorted(set(column))
        codes = np.array([values.index(value) for value in column])
        columns[f"c{at}"] = Released(codes, tuple(values))
    return columns


@given(tables(), st.integers(1, 6))
@settings(deadline=None)
def test_the_smallest_group_is_found_and_named(rows: Rows, k: int) -> None:
    table = released(rows)
    groups = Counter(rows)
    if min(groups.values()) < k:
        with pytest.raises(VerificationError, match=f"fewer than k = {k}") as caught:
            audit(table, list(table), k)
        named = str(caught.value).removeprefix("the group ").partition(" has ")[0]
        values = tuple(part.partition("=")[2] for part in named.split(", "))
        assert groups[values] == min(groups.values())
    else:
        found = audit(table, list(table), k)
        assert (found["smallest"], found["groups"]) == (min(groups.values()), len(groups))


@given(tables())
@settings(deadline=None)
def test_diversity_is_counted_in_each_group(rows: Rows) -> None:
    table = released(rows)
    *qid, sensitive = list(table)
    if not qid:
        return
    fewest = min(
        len({row[-1] for row in rows if row[:-1] == group}) for group in {row[:-1] for row in rows}
    )
    model = model_from_options({"l": 2})
    if fewest >= 2:
        found = audit(table, qid, 1, sensitive, model)
        assert found["models"] == {"distinct 2-diversity": fewest}
    else:
        with pytest.raises(VerificationError, match="violates distinct 2-diversity"):
            audit(table, qid, 1, sensitive, model)


def test_many_columns_with_many_values_do_not_overflow() -> None:
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 10_000, 500)
    column = Released(codes, tuple(map(str, range(10_000))))
    numbers = group_numbers([column] * 20)
    assert len(np.unique(numbers)) == len(np.unique(codes))
    assert all(len(np.unique(codes[numbers == number])) == 1 for number in np.unique(numbers))


def test_values_that_cannot_be_ordered_are_told() -> None:
    table = {"a": Released(np.zeros(2, np.int64), ("x",)), "s": Released(np.arange(2), ("p", "q"))}
    model = model_from_options({"t": 0.5, "distance": "ordered"})
    with pytest.raises(VerificationError, match="s: an ordered distance needs numbers"):
        audit(table, ["a"], 2, "s", model)
