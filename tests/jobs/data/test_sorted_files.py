"""Rows sorted on disk come back as a sort in memory would have them."""

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.jobs.data.sorted_files import SortedRows


def sorted_on_disk(rows: np.ndarray, sizes: list[int], most: int) -> list[list[int]]:
    with tempfile.TemporaryDirectory() as folder:
        files = SortedRows(Path(folder), sizes, most)
        for start in range(0, len(rows), 5):
            files.add(rows[start : start + 5])
        found = [row for part in files.read() for row in part.tolist()]
        assert not list(Path(folder).iterdir())  # nothing is left
    return found


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9), st.integers(0, 1)), max_size=60),
    st.integers(1, 20),
)
def test_the_order_is_that_of_a_sort_in_memory(rows, most):
    array = np.array(rows, np.uint32).reshape(-1, 3)
    assert sorted_on_disk(array, [4, 10, 2], most) == sorted(map(list, rows))


@pytest.mark.parametrize("most", [1, 3])
def test_equal_rows_need_no_room(most):
    assert sorted_on_disk(np.ones((12, 2), np.uint32), [2, 2], most) == [[1, 1]] * 12


def test_no_rows():
    assert sorted_on_disk(np.zeros((0, 2), np.uint32), [2, 2], 3) == []
