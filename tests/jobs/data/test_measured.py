"""Numbers that are added up are whole multiples of a unit."""

from dataclasses import replace
from fractions import Fraction

import pyarrow as pa
import pytest

from coterie.base.errors import DataError
from coterie.jobs.data.measured import MeasuredAttribute

PAY = MeasuredAttribute("Pay", "bank", -5.0, 99.5, True, 2)


def column(*values):
    return pa.chunked_array([pa.array(values, pa.string())])


def test_numbers_become_units_and_back():
    assert PAY.encode(column("1.25", "-5", "99.5", "0.1"), "t").tolist() == [125, -500, 9950, 10]
    assert [PAY.number(units) for units in (125, 300, Fraction(1, 3))] == [1.25, 3, 1 / 300]
    assert PAY.ends == (-500, 9950)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("1.255", "1.255' has more than 2 decimals"),
        ("100", "outside the range"),
        ("x", "not a number"),
        (None, "no value"),
    ],
)
def test_other_values_are_named_with_their_row(value, said):
    with pytest.raises(DataError, match=f"row.* 2.*{said}"):
        PAY.encode(column("1", value), "t")


def test_sums_that_would_not_be_exact_are_refused():
    wide = MeasuredAttribute("x", None, 0.0, float(1 << 50), True, 0)
    wide.check_records(4000, False, "t")
    with pytest.raises(DataError, match="'x' can be too large"):
        wide.check_records(4097, False, "t")
    with pytest.raises(DataError, match="narrower 'range' or fewer 'decimals'"):
        wide.check_records(4096, True, "t")


def test_with_noise_numbers_are_moved_into_the_range():
    clipping = replace(PAY, clips=True)
    values = column("1.257", "1e30", "-77", "99.504", "2")
    assert clipping.encode(values, "t").tolist() == [126, 9950, -500, 9950, 200]
    with pytest.raises(DataError, match="not a number"):
        clipping.encode(column("x"), "t")
