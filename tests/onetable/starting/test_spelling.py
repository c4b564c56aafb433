"""How a file writes numbers and dates is guessed from its values, and what is unsure is said."""

import pyarrow as pa
import pytest

from coterie.onetable.coded import coded_table
from coterie.onetable.starting.spelling import guess_spelling, keys_of


def guessed(**columns):
    texts = {name: pa.array(values, pa.string()) for name, values in columns.items()}
    spelling, remarks = guess_spelling(coded_table([pa.table(texts)], list(texts), "t"))
    return keys_of(spelling), remarks


@pytest.mark.parametrize(
    ("columns", "keys"),
    [
        ({"a": ["1.5", "2.25"]}, {}),
        ({"a": ["1,5", "2,25"]}, {"decimal": '","'}),
        ({"a": ["1.234,5", "12,0"]}, {"decimal": '","', "thousands": '"."'}),
        ({"a": ["1,234.5", "12.0"]}, {"thousands": '","'}),
        ({"a": ["1 234 567", "12"]}, {"thousands": '" "'}),
        ({"a": ["1.234", "2.345"]}, {}),  # as everywhere: a little more than one
        ({"a": ["1.234", "2.345"], "b": ["1,5", "2,5"]}, {"decimal": '","', "thousands": '"."'}),
        ({"a": ["1,5", "n/a"]}, {}),  # a column of texts says nothing
        ({"a": ["31.12.2001", "01.02.1999"]}, {"dates": '"%d.%m.%Y"'}),
        ({"a": ["12/31/2001", "1/2/1999"]}, {"dates": '"%m/%d/%Y"'}),
        ({"a": ["31.12.2001"], "b": ["2001/12/31"]}, {"dates": '["%d.%m.%Y", "%Y/%m/%d"]'}),
        ({"a": ["2001-12-31", "?"]}, {}),
    ],
)
def test_numbers_and_dates_are_read_as_they_are_written(columns, keys):
    longest = max(map(len, columns.values()))
    assert guessed(**{n: v + v[:1] * (longest - len(v)) for n, v in columns.items()})[0] == keys


def test_what_could_be_meant_in_two_ways_is_said():
    _, remarks = guessed(seen=["03/04/2020", "05/06/2020"])
    assert remarks == ["seen: dates may be written %d/%m/%Y or %m/%d/%Y"]
    keys, remarks = guessed(a=["1,234", "5,678"])
    assert keys == {"thousands": '","'}
    assert remarks == ["numbers such as 1,234 are taken for one thousand and more"]
