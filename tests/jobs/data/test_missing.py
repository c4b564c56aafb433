"""Rows without a value: which they are, which take no part, and who is told of them."""

import csv

import numpy as np
import pyarrow as pa
import pytest

from coterie.base.errors import DataError
from coterie.jobs.data.missing import DROPPED, Dropped, gaps_of, refuse_gaps, without_gaps

TABLE = pa.table({"A": ["x", None, "?", "y", "x"], "B": ["1", "2", None, "4", None]})


def test_a_question_mark_is_a_gap_unless_it_is_declared():
    column = TABLE.column("A")
    assert gaps_of(column).tolist() == [False, True, True, False, False]
    assert gaps_of(column, ["x", "?"]).tolist() == [False, True, False, False, False]


def test_the_steward_is_told_all_and_the_coordinator_neither_rows_nor_number():
    with pytest.raises(DataError) as caught:
        refuse_gaps(TABLE.column("A"), (), "A", "people.csv")
    assert str(caught.value).startswith(
        "people.csv: rows 2, 3: column 'A' has no value (2 of 5 rows are empty); say 'missing: value'"
    )
    told = caught.value.message(rows=False)
    assert told.startswith("people.csv: column 'A' has rows without a value; say 'missing: value'")
    assert not any(character.isdigit() for character in told)


def test_rows_are_dropped_and_errors_about_the_others_name_them_as_read():
    left, dropped = without_gaps(TABLE, {"A": (), "B": ()}, "t")
    assert left.to_pydict() == {"A": ["x", "y"], "B": ["1", "4"]}
    assert dropped.rows.tolist() == [2, 3, 5]
    for rows, meant in (([2], "row 4: "), ([(2, 1)], "row 4 repeats 1")):
        with pytest.raises(DataError) as caught, dropped.counted_as_read():
            raise DataError("wrong", rows=rows)
        assert meant in str(caught.value)


def test_the_list_of_dropped_rows_says_what_each_lacks(tmp_path):
    without_gaps(TABLE, {"A": (), "B": ()}, "t")[1].write(tmp_path)
    with (tmp_path / DROPPED).open(newline="") as file:
        assert list(csv.reader(file))[1:] == [["2", "A"], ["3", "A, B"], ["5", "B"]]


def test_where_nothing_is_missing_no_list_is_left(tmp_path):
    whole = pa.table({"A": ["x"]})
    left, dropped = without_gaps(whole, {"A": ()}, "t")
    assert left is whole
    assert dropped == Dropped()
    dropped.write(tmp_path)
    assert not list(tmp_path.iterdir())
    assert np.array_equal(dropped.rows, [])


def test_a_table_of_which_no_row_is_left_is_an_error():
    with pytest.raises(DataError, match="every row lacks a value in columns 'A', 'B'"):
        without_gaps(pa.table({"A": [None, "x"], "B": ["x", None]}), {"A": (), "B": ()}, "t")
