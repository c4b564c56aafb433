"""Bounds on generalization: the article's example, and the least that must go."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.anonymity.algorithms.bounds import highest_permitted, keepable
from coterie.anonymity.algorithms.conditions import Condition
from coterie.anonymity.algorithms.mondrian import mondrian
from coterie.anonymity.specialization.specialize import Requirement
from coterie.anonymity.table.table import Table
from coterie.base.errors import DataError
from tests.anonymity.small_tables import PLACES, is_truthful, rows_shown, table_of, tables

MARKS = {"place": ("California", "Kansas", "Midwest")}
CITIES = ["San Diego", "Los Angeles", "Wichita", "Kansas City", "Lincoln", "Lincoln", "Wichita"]


def bounded(table: Table, marks: dict[str, tuple[str, ...]]) -> Table:
    return Table(table.columns, table.labels, marks)


def test_the_highest_permitted_value_is_the_first_mark_on_the_way_up():
    highest = highest_permitted(PLACES, MARKS["place"])
    found = dict(zip(PLACES.leaves, [PLACES.labels[node] for node in highest], strict=True))
    assert found == {
        "San Diego": "California",
        "Los Angeles": "California",
        "Wichita": "Kansas",
        "Kansas City": "Kansas",
        "Lincoln": "Midwest",
    }


def test_the_articles_example_needs_no_suppression_and_shows_nothing_above_a_mark():
    table = table_of(CITIES, list("MMMMFMF"), [32, 30, 42, 30, 35, 20, 25])
    answer = mondrian(bounded(table, MARKS), [Requirement(("place", "sex", "age"), 2)])
    assert [row[0] for row in rows_shown(answer)] == [
        "California", "California", "Kansas", "Kansas", "Lincoln", "Lincoln", "Kansas",
    ]  # fmt: skip
    assert is_truthful(answer)


def test_what_the_bounds_cost_is_told_before_any_search():
    table = bounded(table_of(CITIES, ["F"] * 7, [30] * 7), MARKS)
    with pytest.raises(
        DataError, match=r"cost 4 of 7 records at k = 3, and none may be suppressed"
    ):
        mondrian(table, [Requirement(("place", "sex", "age"), 3)])
    answer = mondrian(table, [Requirement(("place", "sex", "age"), 3)], 4)
    assert answer.suppressed == 4
    assert [row[0] for row in rows_shown(answer)] == ["Kansas"] * 3


@settings(max_examples=50, deadline=None)
@given(
    tables(),
    st.integers(1, 5),
    st.lists(st.sampled_from(PLACES.labels[1:]), max_size=3, unique=True),
)
def test_the_records_that_go_are_those_alike_with_too_few_in_the_most_general_permitted_table(
    table, k, marks
):
    table = bounded(table, {"place": tuple(marks)})
    kept = keepable(table, [Condition(("place", "sex", "age"), k)])
    if not marks:
        assert len(kept) == table.records
        return
    highest = highest_permitted(PLACES, marks)[table.columns[0].codes].tolist()
    assert kept.tolist() == [i for i, own in enumerate(highest) if highest.count(own) >= k]
    if len(kept):
        answer = mondrian(table, [Requirement(("place", "sex", "age"), k)], table.records)
        assert np.array_equal(answer.kept, kept)
        for row, shown in zip(answer.kept.tolist(), rows_shown(answer), strict=True):
            node = PLACES.labels.index(shown[0])
            mark = highest[row]
            assert PLACES.first[mark] <= PLACES.first[node]
            assert PLACES.last[node] <= PLACES.last[mark]
