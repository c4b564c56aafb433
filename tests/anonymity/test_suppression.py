"""Hidden cells stay hidden from whoever knows margins."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonymity.suppression import exposed_cells, hidden_cells

BOTH = [(), (0,), (1,)]


def hide(counts, minimum, attackers):
    counts = np.asarray(counts)
    return hidden_cells((counts > 0) & (counts < minimum), counts == 0, attackers)


def tables_like(counts, hidden, groups):
    """All tables of non-negative counts with the same visible cells and the same known margins."""
    cells = np.argwhere(hidden)
    total = int(counts.sum())
    for values in itertools.product(range(total + 1), repeat=len(cells)):
        other = counts.copy()
        other[tuple(cells.T)] = values
        if all(
            (other.sum(axis=tuple(a for a in range(counts.ndim) if a not in group))
             == counts.sum(axis=tuple(a for a in range(counts.ndim) if a not in group))).all()
            for group in groups
        ):  # fmt: skip
            yield other


def test_a_table_without_small_cells_hides_nothing():
    assert not hide([[10, 0], [7, 9]], 5, [BOTH]).any()


def test_a_small_cell_takes_a_rectangle_with_it_against_both_margins():
    hidden = hide([[1, 10, 10], [10, 10, 10], [10, 10, 10]], 5, [BOTH])
    assert hidden[0, 0]
    assert (hidden.sum(axis=0) != 1).all()
    assert (hidden.sum(axis=1) != 1).all()


def test_two_attackers_who_know_one_margin_each_need_less_than_one_who_knows_both():
    counts = [[1, 10, 10], [10, 10, 10], [10, 10, 10]]
    assert hide(counts, 5, [[(0,)], [(1,)]]).sum() <= hide(counts, 5, [BOTH]).sum()


def test_cells_with_records_are_hidden_before_empty_ones():
    assert hide([[1, 0, 10]], 5, [[(0,)]]).tolist() == [[True, False, True]]


def test_a_line_of_small_cells_only_gets_a_large_one():
    assert hide([[1, 1, 10, 10]], 5, [[(0,)]]).tolist() == [[True, True, True, False]]


def test_one_who_holds_all_attributes_is_no_attacker():
    assert hide([[1, 10]], 5, [[(0, 1)]]).sum() == 1


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.lists(st.integers(0, 6), min_size=3, max_size=3), min_size=2, max_size=3),
    st.integers(2, 5),
    st.sampled_from([[[()]], [[(0,)], [(1,)]], [BOTH]]),
)
def test_nobody_solves_for_a_hidden_cell(rows, minimum, attackers):
    counts = np.array(rows)
    hidden = hide(counts, minimum, attackers)
    small = (counts > 0) & (counts < minimum)
    assert (hidden & small == small).all()
    for groups in attackers:
        if not hidden.all():
            assert not exposed_cells(hidden, groups).any()


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.lists(st.integers(0, 3), min_size=2, max_size=3), min_size=1, max_size=1)
    | st.lists(st.lists(st.integers(0, 2), min_size=2, max_size=2), min_size=2, max_size=2),
    st.integers(2, 4),
)
def test_another_table_agrees_with_all_a_party_knows_of_its_own_margin(rows, minimum):
    counts = np.array(rows)
    small = (counts > 0) & (counts < minimum)
    hidden = hide(counts, minimum, [[(0,)]])
    for cell in np.argwhere(small):
        if counts.shape[1] == 1:
            continue
        seen = {int(table[tuple(cell)]) for table in tables_like(counts, hidden, [(0,)])}
        assert len(seen) > 1


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_three_attributes_work_alike(axis):
    counts = np.full((2, 3, 2), 10)
    counts[0, 0, 0] = 1
    hidden = hide(counts, 5, [[(axis,)], [()]])
    assert hidden[0, 0, 0]
    assert not exposed_cells(hidden, [(axis,), ()]).any()
