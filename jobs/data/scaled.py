"""Attributes that have an order, in job and table files: numbers, dates and times.

    Salary: {party: bank, range: [1, 99]}                       numbers
    Born:   {party: bank, range: [1920-01-01, 2020-12-31]}      the form of the ends says what they are
    Seen:   {party: bank, type: datetime}                       or the key `type`

`cuts` are read in the same way. A job does not say how a source writes its numbers and dates: a table
carries that along from the source that it was read from.
"""

from __future__ import annotations

import itertools
import json
import math
import re

import pyarrow as pa

from coterie.anonymity.table.scales import NUMBER, PLAIN, SCALES, Scale, Spelling, scale_of
from coterie.jobs.file.document import Node, Section

_KEY = b"coterie.spelling"
_NATIONAL = re.compile(r"\d{1,2}([./-])\d{1,2}\1(\d\d){1,2}\b", re.ASCII)


def read_type(section: Section) -> Scale | None:
    """The key `type` of an attribute."""
    node = section.optional("type")
    return SCALES[node.choice(*SCALES)] if node else None


def read_limits(node: Node, scale: Scale | None = None) -> tuple[Scale, tuple[float, float]]:
    """The `range` of an attribute, and what its ends are."""
    ends = node.items()
    if len(ends) != 2:
        raise node.error("must be [lowest, highest]")
    scale = scale or _scale(ends[0])
    low, high = (_read_end(end, scale) for end in ends)
    if not low < high:
        raise node.error("the lowest value must be below the highest")
    return scale, (low, high)


def read_cuts(node: Node, scale: Scale | None = None) -> tuple[Scale, tuple[float, ...]]:
    """The `cuts` of an attribute, and what they are."""
    items = node.items()
    scale = scale or (_scale(items[0]) if items else NUMBER)
    cuts = tuple(_read_end(item, scale) for item in items)
    if not cuts or any(low >= high for low, high in itertools.pairwise(cuts)):
        what = "numbers" if scale is NUMBER else f"of the form of {scale.noun}"
        raise node.error(f"must be {what} in ascending order")
    return scale, cuts


def _scale(node: Node) -> Scale:
    found = None if node.is_mapping or node.is_list else scale_of(node.text())
    return NUMBER if found is None else found  # what is no number is then an error about numbers


def _read_end(node: Node, scale: Scale) -> float:
    if not node.is_mapping and not node.is_list and _NATIONAL.match(node.text()):
        raise node.error(
            f"'{node.text()}': a date is written as 1977-01-31 here, however the table writes it; "
            'the table\'s own form stands beside its source: data: {csv: FILE, dates: "%d.%m.%Y"}'
        )
    if scale is NUMBER:
        return node.number()
    number = scale.read(node.text())
    if not math.isfinite(number):
        raise node.error(f"must be {scale.noun}, not '{node.text()}'")
    return number


def with_spelling(table: pa.Table, spelling: Spelling) -> pa.Table:
    """The table with a note of how its source writes numbers and dates."""
    note = json.dumps([spelling.decimal, spelling.thousands, list(spelling.dates)])
    return table.replace_schema_metadata({**(table.schema.metadata or {}), _KEY: note})


def spelling_of(table: pa.Table) -> Spelling:
    """How the source of this table writes numbers and dates."""
    note = (table.schema.metadata or {}).get(_KEY)
    if note is None:
        return PLAIN
    decimal, thousands, dates = json.loads(note)
    return Spelling(decimal, thousands, tuple(dates))
