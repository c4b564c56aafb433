"""Top-down specialization of one table: the engine's answer, and where bounds let it start."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.anonymity.algorithms.top_down import specialize_table, start_cut
from coterie.anonymity.specialization.specialize import Requirement, specialize
from coterie.anonymity.table.table import Table
from coterie.base.errors import DataError
from tests.anonymity.small_tables import is_truthful, rows_shown, smallest_group, tables

QID = ("place", "sex", "age")


@settings(max_examples=40, deadline=None)
@given(tables(least=3), st.integers(1, 4), st.floats(0, 0.3))
def test_without_bounds_it_is_the_specialization_of_joint_jobs(table, k, share):
    if k > table.records:
        return
    most = int(share * table.records + 1e-9)
    answer = specialize_table(table, [Requirement(QID, k)], most, "ill")
    same = table.take(np.arange(table.records))
    engine = specialize(
        same.columns, table.labels["ill"], [Requirement(QID, k)], max_suppression=share
    )
    assert answer.details["cut"] == engine.cut
    assert answer.suppressed == engine.suppressed <= most
    for name in QID:
        codes, labels = engine.generalized(name)
        assert [answer.columns[name].labels[c] for c in answer.columns[name].codes] == [
            labels[c] for c in codes
        ]
    if len(answer.kept):
        assert smallest_group(answer) >= k
    assert is_truthful(answer)


@settings(max_examples=40, deadline=None)
@given(tables(least=3), st.integers(1, 3))
def test_bounds_are_kept_whether_or_not_they_help_the_class(table, k):
    bounded = Table(table.columns, table.labels, {"place": ("California", "Kansas", "Nebraska")})
    states = np.array([0, 0, 1, 1, 2])[table.columns[0].codes]
    numbers = np.bincount(states)
    small = int(numbers[numbers < k].sum())
    if small == table.records:
        with pytest.raises(DataError):
            specialize_table(bounded, [Requirement(QID, k)], table.records, "ill")
        return
    answer = specialize_table(bounded, [Requirement(QID, k)], small, "ill")
    assert answer.suppressed == small
    assert not {"USA", "West", "Midwest"} & {row[0] for row in rows_shown(answer)}
    assert smallest_group(answer) >= k
    assert is_truthful(answer)


def test_a_leaf_without_a_mark_starts_below_the_root():
    from tests.anonymity.small_tables import table_of

    table = table_of(["Wichita"] * 3, ["F"] * 3, [1, 2, 3])
    above, cut = start_cut(Table(table.columns, {}, {"place": ("California",)}), "place")
    assert sorted(cut) == ["California", "Midwest"]
    assert [table.columns[0].taxonomy.labels[node] for node in above] == ["USA", "West"]
