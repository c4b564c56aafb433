"""Ranges and cuts in numbers, dates and times; and what a table says of its source."""

import pyarrow as pa
import pytest

from coterie.anonymity.table.scales import DATE, DATETIME, NUMBER, TIME, Spelling
from coterie.base.errors import UsageError
from coterie.jobs.data.scaled import read_cuts, read_limits, spelling_of, with_spelling
from coterie.jobs.file.document import read_document


def node(text):
    return read_document(f"range: {text}\n", "job.yaml").required("range")


@pytest.mark.parametrize(
    ("text", "scale", "shown"),
    [
        ("[-10, 10.5]", NUMBER, ["-10", "10.5"]),
        ("[1920-01-01, 2020-12-31]", DATE, ["1920-01-01", "2020-12-31"]),
        (
            "[2020-01-01 00:00, 2020-12-31 23:59:59.5]",
            DATETIME,
            ["2020-01-01 00:00:00", "2020-12-31 23:59:59.500000"],
        ),
        ('["08:00", "18:30"]', TIME, ["08:00:00", "18:30:00"]),
    ],
)
def test_the_ends_say_what_a_range_is_of(text, scale, shown):
    found, limits = read_limits(node(text))
    assert (found, [scale.write(end) for end in limits]) == (scale, shown)
    assert read_cuts(node(text)) == (scale, limits)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("[1920-01-01, 5]", "must be a date (2020-01-31), not '5'"),
        ("[5, 1920-01-01]", "must be a number, not '1920-01-01'"),
        ("[2020-12-31, 1920-01-01]", "the lowest value must be below the highest"),
        ("[blue, red]", "must be a number, not 'blue'"),
    ],
)
def test_what_is_no_range_is_told_with_its_line(text, error):
    with pytest.raises(UsageError, match=r"job\.yaml:1") as caught:
        read_limits(node(text))
    assert str(caught.value).endswith(error)


def test_a_table_carries_the_spelling_of_its_source_through_what_is_done_to_it():
    spelling = Spelling(",", ".", ("%d.%m.%Y",))
    table = with_spelling(pa.table({"a": ["1"], "b": ["2"]}), spelling)
    assert spelling_of(table.select(["b"]).filter(pa.array([True]))) == spelling
    assert spelling_of(pa.table({"a": ["1"]})) == Spelling()


@pytest.mark.parametrize("text", ["01.01.1977", "1/31/77", "31-01-1977"])
def test_a_date_in_a_national_form_is_answered_with_the_form_of_job_files(text):
    node = read_document(f"range: [{text}, 31.12.2020]", "job.yaml").required("range")
    with pytest.raises(UsageError, match="a date is written as 1977-01-31 here"):
        read_limits(node)
