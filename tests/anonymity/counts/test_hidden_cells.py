"""Hidden cells stay hidden from whoever holds some of the attributes."""

import itertools
import os
import subprocess
import sys

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.anonymity.counts.hidden_cells import Table, exposed_cells, hidden_cells


def tables_of(*arrays, names=None):
    names = names or ["xyz"[: np.ndim(array)] for array in arrays]
    return [Table(tuple(n), np.shape(a)) for n, a in zip(names, arrays, strict=True)]


def hide(arrays, minimum, attackers, names=None):
    arrays = [np.asarray(array) for array in arrays]
    flat = [array.ravel() for array in arrays]
    hidden = hidden_cells(
        tables_of(*arrays, names=names),
        [(cells > 0) & (cells < minimum) for cells in flat],
        [cells == 0 for cells in flat],
        attackers,
    )
    return [mask.reshape(array.shape) for mask, array in zip(hidden, arrays, strict=True)]


def test_a_table_without_small_cells_hides_nothing():
    [hidden] = hide([[[10, 0], [7, 9]]], 5, ["x", "y"])
    assert not hidden.any()


def test_each_party_finds_two_hidden_cells_in_a_line_of_its_own_or_none():
    [hidden] = hide([[[1, 10, 10], [10, 10, 10], [10, 10, 10]]], 5, ["x", "y"])
    assert hidden[0, 0]
    assert (hidden.sum(axis=0) != 1).all()
    assert (hidden.sum(axis=1) != 1).all()


def test_cells_with_records_are_hidden_before_empty_ones():
    [hidden] = hide([[[1, 0, 10]]], 5, ["x"])
    assert hidden.tolist() == [[True, False, True]]


def test_a_line_of_small_cells_only_gets_a_large_one():
    [hidden] = hide([[[1, 1, 10, 10]]], 5, ["x"])
    assert hidden.tolist() == [[True, True, True, False]]


def test_from_one_who_holds_all_attributes_nothing_is_hidden_in_vain():
    [hidden] = hide([[[1, 10]]], 5, ["xy"])
    assert hidden.sum() == 1


def test_margins_in_other_tables_take_more_cells_with_them():
    joint = np.array([[1, 20], [30, 40]])
    [alone] = hide([joint], 5, [""])
    assert alone.sum() == 2
    arrays = [joint, joint.sum(axis=1), joint.sum(axis=0)]
    names = [("x", "y"), ("x",), ("y",)]
    hidden = hide(arrays, 5, [""], names)
    assert sum(mask.sum() for mask in hidden) > 2
    exposed = exposed_cells(tables_of(*arrays, names=names), [mask.ravel() for mask in hidden], "")
    assert not any(mask.any() for mask in exposed)


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.lists(st.integers(0, 6), min_size=3, max_size=3), min_size=2, max_size=3),
    st.integers(2, 5),
    st.sampled_from([[""], ["x", "y"], ["x"]]),
    st.booleans(),
)
def test_nobody_solves_for_a_hidden_cell(rows, minimum, attackers, with_margin):
    counts = np.array(rows)
    arrays = [counts, counts.sum(axis=0)] if with_margin else [counts]
    names = [("x", "y"), ("y",)][: len(arrays)]
    hidden = hide(arrays, minimum, attackers, names)
    for array, mask in zip(arrays, hidden, strict=True):
        small = (array > 0) & (array < minimum)
        assert (mask & small == small).all()
    tables = tables_of(*arrays, names=names)
    for own in attackers:
        exposed = exposed_cells(tables, [mask.ravel() for mask in hidden], own)
        assert not any(mask.any() for mask in exposed) or all(mask.all() for mask in hidden)


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.lists(st.integers(0, 3), min_size=2, max_size=3), min_size=1, max_size=1)
    | st.lists(st.lists(st.integers(0, 2), min_size=2, max_size=2), min_size=2, max_size=2),
    st.integers(2, 4),
)
def test_another_table_agrees_with_all_that_a_party_knows(rows, minimum):
    counts = np.array(rows)
    [hidden] = hide([counts], minimum, ["x"])
    cells = np.argwhere(hidden)
    possible = [set() for _ in cells]
    for values in itertools.product(range(int(counts.sum()) + 1), repeat=len(cells)):
        other = counts.copy()
        other[tuple(cells.T)] = values
        if (other.sum(axis=1) == counts.sum(axis=1)).all():
            for seen, value in zip(possible, values, strict=True):
                seen.add(value)
    for cell, seen in zip(cells, possible, strict=True):
        if 0 < counts[tuple(cell)] < minimum:
            assert len(seen) > 1


def test_three_attributes_work_alike():
    counts = np.full((2, 3, 2), 10)
    counts[0, 0, 0] = 1
    for own in ("x", "y", "z", "xz"):
        [hidden] = hide([counts], 5, [own])
        assert hidden[0, 0, 0]
        [exposed] = exposed_cells(tables_of(counts), [hidden.ravel()], own)
        assert not exposed.any()


SCRIPT = """
import numpy as np
from coterie.anonymity.counts.hidden_cells import Table, hidden_cells
rng = np.random.default_rng(3)
for _ in range(20):
    tables = [Table(("x", "y"), (3, 4)), Table(("y", "z"), (4, 3))]
    counts = [rng.integers(0, 12, table.cells) for table in tables]
    hidden = hidden_cells(
        tables, [(c > 0) & (c < 5) for c in counts], [c == 0 for c in counts], ["x", "yz", "z"]
    )
    print([mask.astype(int).tolist() for mask in hidden])
"""


def test_every_process_hides_the_same_cells():
    found = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            capture_output=True,
            check=True,
        ).stdout
        for seed in range(5)
    }
    assert len(found) == 1
