"""Columns of numbers and of categories, from text to what models compute with."""

import numpy as np
import pyarrow as pa
import pytest

from coterie.anonymity.table.scales import Spelling
from coterie.base.errors import DataError, UsageError
from coterie.jobs.data.numbers import NumberAttribute, binary_column
from coterie.jobs.kinds.job_file import parse_job


def column(*values):
    return pa.chunked_array([pa.array(values, pa.string())])


def test_numbers_are_read_as_they_are_written():
    read = NumberAttribute("x").read(column("1", "-2.5", "1e3"), "t.csv")
    np.testing.assert_array_equal(read, [[1.0], [-2.5], [1000.0]])
    german = NumberAttribute("x").read(column("1.000,5", "2"), "t.csv", Spelling(",", "."))
    np.testing.assert_array_equal(german, [[1000.5], [2.0]])


@pytest.mark.parametrize(
    ("values", "limits", "says"),
    [
        (("1", "two"), None, "'two' is not a number; list its values by 'values'"),
        (("1", "nan"), None, "is not a number"),
        (("1", "1e31"), None, "too large"),
        (("1", "9"), (0, 5), "outside the range"),
        (("1", None), None, "has no value"),
        (("1", "?"), None, "has no value"),
    ],
)
def test_what_is_no_number_is_named_with_its_row(values, limits, says):
    with pytest.raises(DataError, match="row 2") as caught:
        NumberAttribute("x", limits=limits).read(column(*values), "t.csv")
    assert says in str(caught.value)
    assert "column 'x'" in str(caught.value)


def test_categories_are_columns_of_zeros_and_ones_without_the_first():
    attribute = NumberAttribute("Job", values=("A", "B", "C"))
    assert attribute.columns == ("Job=B", "Job=C")
    read = attribute.read(column("C", "A", "B"), "t.csv")
    np.testing.assert_array_equal(read, [[0, 1], [0, 0], [1, 0]])
    with pytest.raises(DataError, match="'D' is not among the attribute's values"):
        attribute.read(column("A", "D"), "t.csv")


def test_an_outcome_of_two_values_is_zero_or_one():
    plain, named = NumberAttribute("y"), NumberAttribute("y", values=("no", "yes"))
    np.testing.assert_array_equal(binary_column(plain, column("1", "0"), "t.csv"), [1, 0])
    np.testing.assert_array_equal(binary_column(plain, column("1", "-1"), "t.csv"), [1, 0])
    np.testing.assert_array_equal(binary_column(named, column("yes", "no"), "t.csv"), [1, 0])
    with pytest.raises(DataError, match="neither 0 nor 1"):
        binary_column(plain, column("1", "2"), "t.csv")


@pytest.mark.parametrize(
    ("attributes", "says"),
    [
        ("{z: {}}", "'z' is used nowhere"),
        ("{x: {party: a}}", "every party has it"),
        ("{x: {values: [A]}}", "at least two different values"),
        ("{x: {range: [5, 1]}}", "lowest value must be below"),
        ("{x: {range: [2020-01-01, 2021-01-01]}}", "must be numbers"),
        ("{x: {values: [A, B], range: [0, 1]}}", "is for numbers"),
        ("{x: {missing: value}}", "not a number"),
        ("{y: {values: [A, B, C]}}", "two values"),
    ],
)
def test_an_attribute_that_makes_no_sense_is_an_error_of_its_line(attributes, says):
    text = (
        "kind: regress\nname: t\nparties: {a: {}, b: {}}\npartition: horizontal\n"
        f"model: logistic\noutcome: y\nfeatures: [x]\nattributes: {attributes}\n"
    )
    with pytest.raises(UsageError, match=says):
        parse_job(text, {})


def test_values_match_whole_numbers_as_pandas_writes_them():
    column = pa.chunked_array([["1.0", "2", "2.0"], ["1"]], pa.string())
    attribute = NumberAttribute("A", values=("1", "2"))
    assert attribute.read(column, "t.csv").tolist() == [[0.0], [1.0], [1.0], [0.0]]
    with pytest.raises(DataError, match=r"row 2: column 'A': '2\.5' is not among"):
        attribute.read(pa.chunked_array([["1.0", "2.5"]], pa.string()), "t.csv")
