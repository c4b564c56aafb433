"""Intervals are read as they are written, and nothing else is read as one."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.anonymity.table.intervals import (
    Interval,
    lower_end,
    read_interval,
)

NUMBERS = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e15, max_value=1e15)


@pytest.mark.parametrize(
    ("text", "interval"),
    [
        ("[1, 37)", Interval(1, 37, False)),
        ("[37, 99]", Interval(37, 99, True)),
        ("[-10, -5)", Interval(-10, -5, False)),
        ("[0.5, 1.25)", Interval(0.5, 1.25, False)),
        ("[1e-05, 1)", Interval(1e-5, 1, False)),
        ("[44, 44]", Interval(44, 44, True)),
        ("[44, 44)", None),
        ("[37, 1)", None),
        ("[1-37)", None),
        ("(1, 37)", None),
        ("[1,37)", None),
        ("[1, )", None),
        ("Any", None),
        ("37", None),
    ],
)
def test_intervals_are_read_as_they_are_written(text, interval):
    assert read_interval(text) == interval
    if interval:
        assert str(interval) == text


@given(NUMBERS, NUMBERS, st.booleans())
def test_every_interval_is_read_back(low, high, closed):
    low, high = sorted((low, high))
    if low < high or closed:
        assert read_interval(str(Interval(low, high, closed))) == Interval(low, high, closed)


@pytest.mark.parametrize(
    ("text", "number"),
    [("37", 37), ("+3", 3), (".5", 0.5), ("1E2", 100), ("[1, 37)", 1), ("[1-37)", None),
     ("1_000", None), ("nan", None), ("inf", None), ("", None), ("Any", None)],
)  # fmt: skip
def test_a_number_is_what_a_table_may_have_as_one(text, number):
    assert lower_end(text) == number
    assert number is None or math.isfinite(number)
