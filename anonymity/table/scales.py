"""What the numbers of a column stand for: themselves, days, or seconds.

A column that has an order is one of numbers, and is generalized to intervals. A scale reads a value's
text as a number and writes a number as the text that releases show:

    number    12.5                   itself
    date      2020-01-31             days since 1970-01-01
    datetime  2020-01-31 12:00:00    seconds since then; a value with a zone is taken in UTC
    time      12:30:00               seconds since midnight

How a source writes its values is another matter: a `Spelling` says which marks it puts into numbers,
and in which forms it has dates.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Container
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

_EXACT = 2**53  # whole numbers up to here are written without a point
_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_DATETIME = re.compile(
    r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[-+]\d\d(:?\d\d)?)?", re.ASCII
)
_TIME = re.compile(r"\d\d:\d\d(:\d\d(\.\d{1,6})?)?", re.ASCII)
_WHOLE = re.compile(r"-?\d+(\.0*)?", re.ASCII)
_FIRST_DAY = date(1970, 1, 1).toordinal()
_FIRST_SECOND = datetime(1970, 1, 1, tzinfo=UTC)
_DAY = 86_400


@dataclass(frozen=True)
class Spelling:
    """How a source writes numbers and dates; `dates` are formats as of strptime."""

    decimal: str = "."
    thousands: str = ""
    dates: tuple[str, ...] = ()


PLAIN = Spelling()


@dataclass(frozen=True)
class Scale:
    """Reads a text as a number (nan if it is none) and writes it; `noun` says what a value is."""

    name: str
    noun: str
    read: Callable[[str], float]
    write: Callable[[float], str]
    read_as: Callable[[str, Spelling], float]


def number_text(number: float) -> str:
    """A number in its shortest form: 37, 0.5."""
    return str(int(number)) if number == int(number) and abs(number) < _EXACT else repr(number)


def declared_form(value: str, declared: Container[str]) -> str:
    """The declared value that a text stands for: programs write 32 as `32.0` in a column with gaps."""
    if value in declared or not _WHOLE.fullmatch(value):
        return value
    whole = value.partition(".")[0]
    return next((form for form in (whole, f"{whole}.0") if form in declared), value)


def _read_number(text: str) -> float:
    try:
        # float() also takes "1_000"; a table does not.
        return math.nan if "_" in text else float(text)
    except ValueError:
        return math.nan


def _spelt_number(text: str, spelling: Spelling) -> float:
    """A number with another decimal mark, or with marks between groups of three digits."""
    if spelling.thousands:
        mark, point = re.escape(spelling.thousands), re.escape(spelling.decimal)
        grouped = rf"\s*[-+]?\d{{1,3}}({mark}\d{{3}})+({point}\d*)?\s*"
        if re.fullmatch(grouped, text, re.ASCII):
            text = text.replace(spelling.thousands, "")
        elif spelling.thousands in text.strip():
            return math.nan
    if spelling.decimal != ".":
        if "." in text:
            return math.nan
        text = text.replace(spelling.decimal, ".")
    return _read_number(text)


def _read_date(text: str) -> float:
    try:
        known = _DATE.fullmatch(text) is not None
        return float(date.fromisoformat(text).toordinal() - _FIRST_DAY) if known else math.nan
    except ValueError:
        return math.nan


def _spelt_date(text: str, spelling: Spelling) -> float:
    found = _by_format(text, spelling)
    if found is None:
        return _read_date(text)
    return float(found.date().toordinal() - _FIRST_DAY) if found.time() == time() else math.nan


def _write_date(number: float) -> str:
    return date.fromordinal(_FIRST_DAY + math.floor(number)).isoformat()


def _read_datetime(text: str) -> float:
    try:
        if _DATE.fullmatch(text):
            return _read_date(text) * _DAY
        known = _DATETIME.fullmatch(text) is not None
        return _seconds(datetime.fromisoformat(text)) if known else math.nan
    except (ValueError, OverflowError):
        return math.nan


def _spelt_datetime(text: str, spelling: Spelling) -> float:
    found = _by_format(text, spelling)
    return _read_datetime(text) if found is None else _seconds(found)


def _seconds(moment: datetime) -> float:
    moment = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    since = moment - _FIRST_SECOND
    return since.days * _DAY + since.seconds + since.microseconds / 1e6


def _write_datetime(number: float) -> str:
    whole = math.floor(number)
    since = timedelta(seconds=whole, microseconds=round((number - whole) * 1e6))
    moment = (_FIRST_SECOND + since).replace(tzinfo=None)
    return moment.isoformat(" ")


def _read_time(text: str) -> float:
    try:
        if not _TIME.fullmatch(text):
            return math.nan
        found = time.fromisoformat(text)
    except ValueError:
        return math.nan
    return found.hour * 3600 + found.minute * 60 + found.second + found.microsecond / 1e6


def _write_time(number: float) -> str:
    return _write_datetime(number)[11:]


def _by_format(text: str, spelling: Spelling) -> datetime | None:
    for form in spelling.dates:
        try:
            return datetime.strptime(text, form)
        except ValueError:
            continue
    return None


NUMBER = Scale("number", "a number", _read_number, number_text, _spelt_number)
DATE = Scale("date", "a date (2020-01-31)", _read_date, _write_date, _spelt_date)
DATETIME = Scale(
    "datetime",
    "a date with a time (2020-01-31 12:00:00)",
    _read_datetime,
    _write_datetime,
    _spelt_datetime,
)
TIME = Scale(
    "time", "a time of day (12:30:00)", _read_time, _write_time, lambda text, _: _read_time(text)
)
SCALES = {scale.name: scale for scale in (NUMBER, DATE, DATETIME, TIME)}


def scale_of(text: str) -> Scale | None:
    """The scale that a text belongs to, as the ends of a range do; None if to none."""
    for scale in (NUMBER, DATE, DATETIME, TIME):
        if math.isfinite(scale.read(text)):
            return scale
    return None
