"""The compiled searches against trying every set of values."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.anonymity.models.deletion_search import (
    DELETED,
    DIVERSE,
    UNDECIDED,
    covered,
    decided,
    diverse_tuples,
    matched,
    packed,
)
from tests.anonymity.models import plain_joint

STEPS = 10_000


@st.composite
def groups(draw, columns=None):
    width = columns or draw(st.integers(2, 4))
    row = st.tuples(*[st.integers(0, 3)] * width)
    rows = draw(st.lists(row, min_size=1, max_size=10, unique=True))
    least = draw(st.integers(2, 5))
    limits = draw(st.lists(st.integers(0, least - 1), min_size=width, max_size=width))
    return rows, least, limits


def numbered(rows):
    """Values of different columns have different numbers."""
    return np.array(rows, np.int64) + 4 * np.arange(len(rows[0]))


@settings(max_examples=300, deadline=None)
@given(groups())
def test_branch_and_bound_finds_a_deletion_exactly_if_there_is_one(case):
    rows, least, limits = case
    expected = plain_joint.is_diverse(rows, least, dict(enumerate(limits)))
    found = covered(numbered(rows), 16, least, np.array(limits), STEPS)
    assert found == (DIVERSE if expected else DELETED)
    assert decided(numbered(rows), 16, least, np.array(limits), STEPS) == found


@settings(max_examples=200, deadline=None)
@given(groups(columns=2))
def test_two_columns_need_as_many_deletions_as_rows_share_no_value(case):
    """König's theorem, which makes the check polynomial; the paper calls it NP-hard."""
    rows, least, _ = case
    assert matched(numbered(rows), 8, least) == plain_joint.is_diverse(rows, least)


@settings(max_examples=200, deadline=None)
@given(groups())
def test_a_packing_never_says_yes_to_a_group_that_is_not_diverse(case):
    rows, least, _ = case
    starts = np.array([0, len(rows)])
    if packed(numbered(rows), starts, least, 16)[0]:
        assert plain_joint.is_diverse(rows, least)


def test_a_search_that_is_cut_off_says_so():
    rows = numbered([(i % 4, (i * i + i // 4) % 4, i // 4) for i in range(12)])
    assert covered(rows, 16, 4, np.full(3, 3), 0) == UNDECIDED


def test_records_that_repeat_a_tuple_count_once():
    tuples = numbered([(0, 0), (1, 1), (2, 2)])
    seen = np.full(3, -1)
    limits = np.full(2, 2)
    records = np.array([0, 0, 1, 1, 1])
    assert not diverse_tuples(records, tuples, 8, 3, limits, STEPS, seen, 1)
    assert diverse_tuples(np.array([0, 2, 1]), tuples, 8, 3, limits, STEPS, seen, 2)
