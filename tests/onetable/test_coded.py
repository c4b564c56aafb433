"""Codes of columns, in memory and in files."""

import numpy as np
import pyarrow as pa
import pytest

from coterie.base.errors import DataError
from coterie.onetable.coded import coded_table


def pieces(values, size=7):
    table = pa.table({"a": pa.array(values, pa.string())})
    return [table.slice(at, size) for at in range(0, len(values), size)]


@pytest.mark.parametrize("memory", [None, 0, 10])
def test_codes_stand_for_the_values_also_where_they_are_in_files(memory):
    values = [f"v{i * i % 13}" if i % 4 else None for i in range(50)]
    table = coded_table(pieces(values), ["a"], "t", memory)
    column = table.column("a")
    read = [column.values[int(code)].as_py() for code in column.codes]
    assert read == [value or "?" for value in values]
    assert column.distinct == len({value or "?" for value in values})
    assert column.missing == 13
    assert isinstance(column.codes, np.memmap) == (memory is not None)


def test_an_empty_value_and_a_question_mark_are_one_value():
    column = coded_table(pieces(["?", None, "x"]), ["a"], "t").column("a")
    assert (column.distinct, column.missing) == (2, 2)


def test_many_values_take_wider_codes():
    column = coded_table(pieces([str(i) for i in range(300)], 100), ["a"], "t").column("a")
    assert column.codes.tolist() == list(range(300))
    assert column.codes.dtype == np.uint16


@pytest.mark.parametrize(
    ("values", "kind"),
    [(["1", "-2.5", "1e3", None], "number"), (["1971-03-13", "2000-01-01"], "date"),
     (["x", "1"], "mixed"), (["x", "y", "1"], "text"), ([None, "?"], "empty")],
)  # fmt: skip
def test_the_type_of_a_column(values, kind):
    assert coded_table(pieces(values), ["a"], "t").column("a").kind == kind


def test_odd_values_are_noted_with_row_and_value():
    column = coded_table(pieces(["1", "2", "3", "nan", "4", "old"]), ["a"], "t").column("a")
    assert column.notes() == [
        "row 4: column 'a': 'nan' is not finite, as 2 of its 6 values are not"
    ]
    constant = coded_table(pieces(["x", "x"]), ["a"], "t").column("a")
    assert constant.notes() == ["column 'a' has only one value, which distinguishes nobody"]


def test_no_records():
    with pytest.raises(DataError, match="t: the table has no records"):
        coded_table(pieces([]), ["a"], "t")
