"""Numbers, dates and times as texts: what each scale reads, and that it writes it back."""

import math
from datetime import date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.anonymity.table.scales import (
    DATE,
    DATETIME,
    NUMBER,
    TIME,
    Spelling,
    declared_form,
    scale_of,
)


@given(st.dates())
def test_a_date_is_a_whole_number_of_days_and_comes_back(day):
    number = DATE.read(day.isoformat())
    assert number == (day - date(1970, 1, 1)).days
    assert DATE.write(number) == day.isoformat()


@given(st.datetimes(min_value=datetime(1700, 1, 1), max_value=datetime(2200, 1, 1)))
def test_a_moment_comes_back(moment):
    text = moment.isoformat(" ")
    assert DATETIME.write(DATETIME.read(text)) == text


@given(st.times())
def test_a_time_of_day_comes_back(time):
    assert TIME.write(TIME.read(time.isoformat())) == time.isoformat()


def test_moments_with_a_zone_are_taken_in_utc():
    assert DATETIME.read("2020-01-31 12:00:00+00") == DATETIME.read("2020-01-31 12:00:00")
    assert DATETIME.write(DATETIME.read("2020-01-31T12:00:00+02:00")) == "2020-01-31 10:00:00"


@pytest.mark.parametrize(
    "text", ["2020-02-30", "20200131", "2020-W05-5", "31.01.2020", "2020-01-31 12:00", ""]
)
def test_other_forms_are_no_dates(text):
    assert math.isnan(DATE.read(text))


@pytest.mark.parametrize(
    ("text", "decimal", "thousands", "number"),
    [
        ("12,5", ",", "", 12.5),
        ("-1.234.567,25", ",", ".", -1234567.25),
        ("1 234", ".", " ", 1234),
        ("1'234.5", ".", "'", 1234.5),
        ("1234,5", ",", ".", 1234.5),
        ("12.5", ",", "", None),
        ("1.23,5", ",", ".", None),
        ("1,234", ".", "", None),
        ("12.34.567", ",", ".", None),
    ],
)
def test_marks_in_numbers_are_read_as_declared_or_not_at_all(text, decimal, thousands, number):
    read = NUMBER.read_as(text, Spelling(decimal, thousands))
    assert read == number if number is not None else math.isnan(read)


def test_dates_are_read_in_the_forms_declared():
    forms = Spelling(dates=("%d.%m.%Y", "%m/%d/%y"))
    for text in ("31.01.2020", "01/31/20", "2020-01-31"):
        assert DATE.write(DATE.read_as(text, forms)) == "2020-01-31"
    assert math.isnan(DATE.read_as("31.13.2020", forms))
    with_time = Spelling(dates=("%d.%m.%Y %H:%M",))
    assert DATETIME.write(DATETIME.read_as("31.01.2020 08:30", with_time)) == "2020-01-31 08:30:00"


def test_the_form_of_a_text_says_its_scale():
    texts = {"12": NUMBER, "2020-01-31": DATE, "2020-01-31 12:00": DATETIME, "12:30": TIME}
    assert {text: scale_of(text) for text in texts} == texts
    assert scale_of("blue") is None


@pytest.mark.parametrize(
    ("value", "declared", "form"),
    [
        ("32.0", ["32"], "32"), ("32.", ["32"], "32"), ("-5.00", ["-5"], "-5"), ("32", ["32.0"], "32.0"),
        ("32.0", ["32", "32.0"], "32.0"), ("32.5", ["32"], "32.5"), ("032.0", ["32"], "032.0"),
        ("32.0", ["33"], "32.0"), ("x.0", ["x"], "x.0"), ("٣.0", ["٣"], "٣.0"),
    ],
)  # fmt: skip
def test_a_whole_number_has_the_form_in_which_it_is_declared(value, declared, form):
    assert declared_form(value, declared) == form
