"""Joint diversity against its definition, and what paper 5 says of it."""

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.anonymity.models import joint_diversity
from coterie.anonymity.models.joint_diversity import JointDiversity, is_diverse
from coterie.anonymity.models.options import joint_model_from_options
from tests.anonymity.models import plain_joint

NAMES = "abcd"
FIGURE_4 = [(0, 0), (1, 0), (2, 1), (3, 1), (4, 2), (5, 2)]  # diseases, treatments


@st.composite
def groups(draw, most_values=4):
    columns = draw(st.integers(2, 4))
    row = st.tuples(*[st.integers(0, most_values - 1)] * columns)
    rows = draw(st.lists(row, min_size=1, max_size=9, unique=True))
    least = draw(st.integers(2, 4))
    limits = draw(st.dictionaries(st.integers(0, columns - 1), st.integers(0, least)))
    return rows, least, limits


def holds(rows, least, limits=None):
    names = tuple(NAMES[: len(rows[0])])
    most = {NAMES[at]: limit for at, limit in (limits or {}).items()}
    model = JointDiversity(least, names, most).for_tuples(np.array(rows))
    counts = np.ones((1, len(rows)), np.int64)
    return bool(model.holds(counts, counts[0])[0])


@settings(max_examples=400, deadline=None)
@given(groups())
def test_it_is_the_definition(case):
    rows, least, limits = case
    assert holds(rows, least, limits) == plain_joint.is_diverse(rows, least, limits)
    assert holds(rows, least) == plain_joint.is_diverse(rows, least)


@settings(max_examples=200, deadline=None)
@given(groups(), groups())
def test_a_union_of_groups_is_no_less_diverse_than_its_parts(one, other):
    rows, least, limits = one
    more = [row[: len(rows[0])] for row in other[0] if len(row) >= len(rows[0])]
    if holds(rows, least, limits):
        assert holds(sorted({*rows, *more}), least, limits)


@settings(max_examples=100, deadline=None)
@given(st.lists(groups(most_values=3), min_size=1, max_size=5))
def test_several_groups_are_judged_each_for_itself(cases):
    rows, least, limits = cases[0]
    width = len(rows[0])
    parts = [sorted({row[:width] for row in case[0] if len(row) >= width}) for case in cases]
    every = sorted({row for part in parts for row in part})
    counts = np.array([[2 * (row in part) for row in every] for part in parts])
    most = {NAMES[at]: limit for at, limit in limits.items()}
    model = JointDiversity(least, tuple(NAMES[:width]), most).for_tuples(np.array(every))
    found = model.holds(counts, counts.sum(axis=0)).tolist()
    assert found == [not part or plain_joint.is_diverse(part, least, limits) for part in parts]


@settings(max_examples=100, deadline=None)
@given(groups())
def test_whoever_rules_out_l_less_two_values_still_sees_two_in_every_column(case):
    """Theorem 1 of the paper."""
    rows, least, _ = case
    if not holds(rows, least):
        return
    values = sorted({value for row in rows for value in enumerate(row)})
    for ruled_out in itertools.combinations(values, least - 2):
        left = [row for row in rows if not set(enumerate(row)) & set(ruled_out)]
        assert all(len(set(column)) >= 2 for column in zip(*left, strict=True))


def test_a_limited_column_is_protected_less_than_the_paper_says():
    """Figure 4, l = 4 and two treatments: whoever rules out both of T1 and T2 knows the third."""
    assert holds(FIGURE_4, 4, {1: 2})
    assert not holds(FIGURE_4, 4)
    left = [row for row in FIGURE_4 if row[1] not in (0, 1)]
    assert {treatment for _, treatment in left} == {2}


def test_three_equal_rows_which_figure_7_calls_diverse_are_not():
    assert not holds([(0, 0)], 3, {0: 2})


@settings(max_examples=200, deadline=None)
@given(groups(), st.lists(st.integers(1, 3), min_size=9, max_size=9))
def test_frequencies_that_suffice_say_yes_only_to_diverse_groups(case, times):
    """The sum of the l-1 largest counts of values is below the size: by hand, and sound."""
    rows, least, limits = case
    width = len(rows[0])
    counts = np.array([times[: len(rows)]])
    most = {NAMES[at]: limit for at, limit in limits.items()}
    model = JointDiversity(least, tuple(NAMES[:width]), most, by_frequency=True)
    found = bool(model.for_tuples(np.array(rows)).holds(counts, counts[0])[0])
    best = []
    for column in range(width):
        of_value = Counter()
        for row, number in zip(rows, times, strict=False):
            of_value[row[column]] += number
        best += sorted(of_value.values(), reverse=True)[: limits.get(column, least)]
    assert found == (sum(sorted(best, reverse=True)[: least - 1]) < counts.sum())
    assert not found or plain_joint.is_diverse(rows, least, limits)


def test_too_many_steps_are_a_no(monkeypatch):
    rows = np.array([(i % 4, 4 + (i * i + i // 4) % 5, 9 + i // 3) for i in range(14)])
    assert is_diverse(rows, 4, [3, 3, 3])
    monkeypatch.setattr(joint_diversity, "MOST_STEPS", 0)
    assert not is_diverse(rows, 4, [3, 3, 3])


def test_a_report_names_the_columns_and_their_limits():
    model = joint_model_from_options(["Disease", "Treatment"], {"l": 4, "most": {"Treatment": 2}})
    assert model == JointDiversity(4, ("Disease", "Treatment"), {"Treatment": 2})
    assert model.name == "joint 4-diversity of Disease and Treatment (at most 2 of Treatment)"
    counts = np.ones((1, 6), np.int64)
    assert model.for_tuples(np.array(FIGURE_4)).measure(counts, counts[0]).tolist() == [4]


@pytest.mark.parametrize(
    ("columns", "options", "complaint"),
    [
        (["a", "b"], {}, "several sensitive columns need 'l'"),
        (["a", "b"], {"l": 1}, "l must be at least 2, not 1"),
        (["a", "b"], {"l": 2.5}, "'l' must be a whole number for joint diversity, not 2.5"),
        (["a"], {"l": 2}, "must be at least two, each named once"),
        (["a", "a"], {"l": 2}, "must be at least two, each named once"),
        (["a", "b"], {"l": 2, "alpha": 0.5}, "'alpha' bounds one sensitive column"),
        (["a", "b"], {"l": 2, "most": 1}, "'most' must be a mapping"),
        (["a", "b"], {"l": 2, "most": {"c": 1}}, "'most' names 'c', which is not among"),
        (["a", "b"], {"l": 2, "most": {"a": 3}}, "'most' of 'a' must be 0 to l = 2, not 3"),
    ],
)
def test_options_that_cannot_be_meant_are_refused(columns, options, complaint):
    with pytest.raises(ValueError, match=complaint):
        joint_model_from_options(columns, options)
