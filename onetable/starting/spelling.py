"""How a source writes numbers and dates, guessed from its values.

A guess is a key of `data` that the written file shows with a remark, so that a person can correct it:
`1.234` may be a number above a thousand or just above one, and `03/04/2020` may be in March or April.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence

import pyarrow.compute as pc

from coterie.anonymity.table.intervals import GAP
from coterie.anonymity.table.scales import DATETIME, PLAIN, Spelling
from coterie.onetable.coded import CodedTable

_MOST = 2_000  # values of a column that are looked at
_NUMBER = re.compile(r"\s*[-+]?\d{1,3}(?:(?P<mark>[.,' \u00a0\u202f’])\d{3})*(?P<rest>[.,]\d*)?\s*")
_BARE = re.compile(r"\s*[-+]?\d+(?P<rest>[.,]\d*)?\s*")
_FORMS = ("%d.%m.%Y", "%d.%m.%y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%Y/%m/%d", "%d.%m.%Y %H:%M",
          "%d.%m.%Y %H:%M:%S", "%d/%m/%Y %H:%M", "%m/%d/%Y %H:%M")  # fmt: skip


def guess_spelling(table: CodedTable) -> tuple[Spelling, list[str]]:
    """How the texts of a table are probably written, and what a person should look at."""
    texts = {
        column.name: [
            value
            for value in pc.drop_null(column.values).slice(0, _MOST).to_pylist()
            if value != GAP
        ]
        for column in table.columns
        if column.kind in ("text", "mixed", "number")
    }
    decimal, thousands, remarks = _marks(texts.values())
    forms: list[str] = []
    for name, values in texts.items():
        found = _forms(values)
        if found and found[0] not in forms:
            forms.append(found[0])
        if len(found) > 1:
            remarks.append(f"{name}: dates may be written {' or '.join(found)}")
    spelling = Spelling(decimal, thousands, tuple(forms))
    return spelling, remarks if spelling != PLAIN else []


def _marks(columns: Iterable[Sequence[str]]) -> tuple[str, str, list[str]]:
    """The decimal mark and the mark between thousands, by all columns that hold numbers only."""
    marks: set[str] = set()
    ends: set[str] = set()
    unsure: set[str] = set()
    for values in columns:
        shapes = [_NUMBER.fullmatch(value) or _BARE.fullmatch(value) for value in values]
        if not values or not all(shapes):
            continue
        for shape in shapes:
            found = shape.groupdict() if shape else {}
            mark, rest = found.get("mark"), found.get("rest")
            if mark and rest:
                marks.add(mark)
                ends.add(rest[0])
            elif mark and mark in ".,":
                unsure.add(mark)
            elif mark:
                marks.add(mark)
            elif rest:
                ends.add(rest[0])
    if ends == {","} and "," not in marks:
        thousands = next(iter(sorted(marks or (unsure & {"."}))), "")
        return ",", thousands, []
    if "." in ends or "," not in unsure:
        return (
            ".",
            next(iter(sorted(marks - {"."})), "," if "." in ends and "," in unsure else ""),
            [],
        )
    return ".", ",", ["numbers such as 1,234 are taken for one thousand and more"]


def _forms(values: Sequence[str]) -> list[str]:
    """The forms in which all values are dates; none if ISO 8601 reads them, or nothing does."""
    if not values or all(math.isfinite(DATETIME.read(value)) for value in values):
        return []
    return [
        form
        for form in _FORMS
        if all(math.isfinite(DATETIME.read_as(value, Spelling(dates=(form,)))) for value in values)
    ]


def keys_of(spelling: Spelling) -> dict[str, str]:
    """The keys of `data` that say so."""
    keys = {}
    if spelling.decimal != ".":
        keys["decimal"] = f'"{spelling.decimal}"'
    if spelling.thousands:
        keys["thousands"] = f'"{spelling.thousands}"'
    if len(spelling.dates) == 1:
        keys["dates"] = f'"{spelling.dates[0]}"'
    elif spelling.dates:
        keys["dates"] = "[" + ", ".join(f'"{form}"' for form in spelling.dates) + "]"
    return keys
