from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.anonymity.algorithms.datafly import datafly, raised
from coterie.anonymity.table.columns import categorical_column, continuous_column
from coterie.anonymity.table.intervals import read_interval
from coterie.anonymity.table.levels import Ladder, groups, ladder
from coterie.anonymity.table.taxonomy import taxonomy_of

JOB = taxonomy_of(
    [
        ["Janitor", "Non-Technical", "Blue-collar", "ANY"],
        ["Mover", "Non-Technical", "Blue-collar", "ANY"],
        ["Carpenter", "Technical", "Blue-collar", "ANY"],
        ["Technician", "Technical", "Blue-collar", "ANY"],
        ["Manager", "Manager", "White-collar", "ANY"],
        ["Accountant", "Professional", "White-collar", "ANY"],
        ["Lawyer", "Professional", "White-collar", "ANY"],
    ]
)


@st.composite
def tables(draw: st.DrawFn, least: int = 1) -> list[Ladder]:
    size = draw(st.integers(least, 40))
    jobs = draw(st.lists(st.sampled_from(JOB.leaves), min_size=size, max_size=size))
    numbers = draw(st.lists(st.integers(0, 30), min_size=size, max_size=size))
    return [
        ladder(categorical_column("Job", jobs, JOB)),
        ladder(continuous_column("Age", [str(number) for number in numbers])),
    ]


def test_a_taxonomy_is_climbed_level_by_level_and_short_branches_wait() -> None:
    column = ladder(categorical_column("Job", ["Mover", "Manager", "Lawyer"], JOB))
    assert [column.texts(level) for level in range(4)] == [
        ["Mover", "Manager", "Lawyer"],
        ["Non-Technical", "Manager", "Professional"],
        ["Blue-collar", "White-collar", "White-collar"],
        ["ANY", "ANY", "ANY"],
    ]


@given(tables())
@settings(deadline=None)
def test_an_interval_holds_its_numbers_and_lies_in_the_one_above(
    table: list[Ladder],
) -> None:
    column = table[1]
    numbers = [float(text) for text in column.texts(0)]
    above = column.texts(len(column.levels) - 1)
    assert len(set(above)) == 1
    for level in range(1, len(column.levels)):
        for number, text in zip(numbers, column.texts(level), strict=True):
            interval = read_interval(text)
            assert interval
            inside = interval.low <= number < interval.high
            assert inside or (number == interval.high and interval.closed)
        if level > 1:
            pairs = set(zip(column.texts(level - 1), column.texts(level), strict=True))
            assert len(pairs) == len({inner for inner, _ in pairs})


@given(tables(), st.integers(1, 8))
@settings(deadline=None)
def test_every_group_has_k_records_and_one_step_less_would_not_do(
    table: list[Ladder], k: int
) -> None:
    if len(table[0].codes) < k:
        with pytest.raises(ValueError, match=f"fewer than k = {k} records"):
            datafly(table, k)
        return
    levels = datafly(table, k)
    path: list[tuple[int, ...]] = [(0, 0)]
    while path[-1] != levels:
        following = raised(table, path[-1])
        assert following
        path.append(following)
    for step in path:
        rows = zip(*[c.texts(level) for c, level in zip(table, step, strict=True)], strict=True)
        smallest = min(Counter(rows).values())
        assert (smallest >= k) == (step == levels)
        assert smallest == np.bincount(groups(table, step)).min()


def test_the_column_with_most_values_is_raised_first() -> None:
    table = [
        ladder(categorical_column("Job", ["Mover", "Janitor", "Mover"], JOB)),
        ladder(continuous_column("Age", ["1", "2", "3"])),
    ]
    assert raised(table, (0, 0)) == (0, 1)
    assert raised(table, (3, 2)) is None
