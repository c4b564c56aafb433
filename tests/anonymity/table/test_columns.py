"""Columns as codes: what they read, what they refuse, what a node covers."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.anonymity.table.columns import (
    IntervalTree,
    categorical_column,
    continuous_column,
    encode_text,
)
from coterie.anonymity.table.scales import number_text
from coterie.anonymity.table.taxonomy import taxonomy_of
from coterie.base.errors import DataError

JOBS = taxonomy_of([("b", "X", "R"), ("a", "X", "R"), ("c", "c", "R")])


@given(st.lists(st.sampled_from("abc"), min_size=1))
def test_a_node_covers_the_codes_of_the_leaves_below_it(texts):
    column = categorical_column("job", texts, JOBS)
    assert [JOBS.leaves[code] for code in column.codes] == texts
    for node, label in enumerate(JOBS.labels):
        low, high = column.span(node)
        below = {"R": "abc", "X": "ab"}.get(label, label)
        assert [low <= code < high for code in column.codes] == [text in below for text in texts]


@given(st.lists(st.sampled_from(["1", "2", "2.5", "-3", "1e1"]), min_size=2), st.data())
def test_an_interval_covers_the_numbers_in_it(texts, data):
    column = continuous_column("pay", texts, (-3, 10))
    numbers = [float(text) for text in texts]
    assert [column.values[code] for code in column.codes] == numbers
    at = data.draw(st.sampled_from([1.0, 2.0, 2.5, 10.0]))
    left, right = column.tree.split(0, at)
    for node, inside in ((left, [n < at for n in numbers]), (right, [n >= at for n in numbers])):
        low, high = column.span(node)
        assert [low <= code < high for code in column.codes] == inside


@given(st.lists(st.integers(0, 20), min_size=1, max_size=30), st.data())
def test_taking_records_leaves_no_rank_without_a_value(numbers, data):
    column = continuous_column("pay", [str(n) for n in numbers])
    rows = data.draw(st.lists(st.integers(0, len(numbers) - 1), min_size=1))
    taken = column.take(np.array(rows))
    assert [taken.values[code] for code in taken.codes] == [numbers[row] for row in rows]
    assert taken.values.tolist() == sorted({numbers[row] for row in rows})
    low, high = min(numbers[r] for r in rows), max(numbers[r] for r in rows)
    assert taken.tree.label(0) == f"[{low}, {high}]"


def test_chunked_columns_are_one_column():
    text = pa.chunked_array([["a", "b"], [], ["b", "c", "a"]], pa.string())
    codes, values = encode_text("x", text, "t")
    assert [values[code] for code in codes] == ["a", "b", "b", "c", "a"]
    assert encode_text("x", pa.chunked_array([], pa.string()), "t")[1] == []


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["a", None], "t.csv: row 2: column 'job' has no value (1 of 2 rows are empty)"),
        (["a", "d", "e"], "t.csv: row 2: column 'job': 'd' is not in its taxonomy"),
        (["X"], "t.csv: row 1: column 'job': 'X' is not a leaf of its taxonomy"),
        (["R"], "t.csv: row 1: column 'job': 'R' is not a leaf of its taxonomy"),
        (["A"], "t.csv: row 1: column 'job': 'A' is not in its taxonomy"),
    ],
)
def test_a_value_that_the_taxonomy_lacks_is_named(texts, message):
    with pytest.raises(DataError) as error:
        categorical_column("job", texts, JOBS, "t.csv")
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["1", None], "row 2: column 'pay' has no value (1 of 2 rows are empty)"),
        (["1", "much"], "row 2: column 'pay': 'much' is not a number"),
        (["nan"], "row 1: column 'pay': 'nan' is not a number"),
        (["inf"], "row 1: column 'pay': 'inf' is not a number"),
        (["1_0"], "row 1: column 'pay': '1_0' is not a number"),
        (["1", "100", "0"], "row 2: column 'pay': '100' is outside the range [1, 99.5]"),
        (["1", "0.99"], "row 2: column 'pay': '0.99' is outside the range [1, 99.5]"),
        (["9007199254740993"], "'9007199254740993' is too large to be exact"),
    ],
)
def test_a_number_that_is_none_or_outside_is_named(texts, message):
    with pytest.raises(DataError) as error:
        continuous_column("pay", texts, (1, 99.5), "t.csv")
    assert message in str(error.value)


def test_both_ends_belong_to_the_range():
    assert continuous_column("pay", ["1", "99"], (1, 99)).span(0) == (0, 2)


def test_an_interval_is_split_once_and_inside():
    tree = IntervalTree(1, 99)
    assert not tree.can_split(0, 1)
    assert not tree.can_split(0, 100)
    assert tree.split(0, 37) == (1, 2)
    assert [tree.label(node) for node in range(3)] == ["[1, 99]", "[1, 37)", "[37, 99]"]
    assert not tree.can_split(0, 50)
    assert not tree.can_split(1, 37)
    assert tree.can_split(2, 99)
    with pytest.raises(ValueError, match=r"\[1, 99\] cannot be split at 50"):
        tree.split(0, 50)


@pytest.mark.parametrize(
    ("number", "text"), [(1.0, "1"), (-5.0, "-5"), (0.5, "0.5"), (-0.0, "0"), (1e20, "1e+20")]
)
def test_numbers_are_written_short(number, text):
    assert number_text(number) == text
