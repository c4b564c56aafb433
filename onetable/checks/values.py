"""Which values a release of one table may show: the checks of `coterie verify`, column by column."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime, time
from pathlib import Path

import numpy as np

from coterie.anonymity.table.taxonomy import Taxonomy
from coterie.base.errors import VerificationError
from coterie.onetable.table_file import TableAttribute

_DAY = 86_400
_NUMBER = r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?"
_END = rf"{_NUMBER}|\d{{4}}-\d\d-\d\d(?: [\d:.]+)?|\d\d:[\d:.]+"  # a date or a time
_INTERVAL = re.compile(rf"\[({_END}), ({_END})([\])])")
Spans = Mapping[str, tuple[int, int]]  # the leaves below each value of a taxonomy


def check_values(attribute: TableAttribute, values: Sequence[str], path: Path, local: bool) -> None:
    """Checks the different values of a column; `local`: one value may be shown in several ways."""
    where = f"{path}: column '{attribute.name}'"
    taxonomy, limits = attribute.taxonomy, attribute.limits
    if limits is not None and attribute.scale.name == "date":
        limits = limits[0] * _DAY, limits[1] * _DAY  # from days to seconds
    spans_of = {} if taxonomy is None else _spans(taxonomy)
    if not attribute.in_qid:
        leaves = set(() if taxonomy is None else taxonomy.leaves)
        for value in values:
            if taxonomy is not None and value not in leaves:
                raise VerificationError(f"{where}: '{value}' is not a leaf of its taxonomy")
            if attribute.type is not None and not (value == "?" and attribute.gap):
                number = _place(value, where, attribute.type.name)
                _in_range(number, limits, value, where)
        return
    if attribute.flat:
        return
    kind = attribute.scale.name
    spans: list[tuple[float, float, str]] = []
    for value in values:
        if value == "?" and attribute.missing == "value":
            continue
        if taxonomy is not None:
            spans.append((*_leaves(spans_of, value, where), value))
            _check_bounds(spans_of, attribute.at_most, value, where)
            continue
        known, mark, rest = value.partition(" or ?")
        if rest or (mark and attribute.missing != "value"):
            raise VerificationError(f"{where}: '{value}' stands for missing values, too")
        interval = _INTERVAL.fullmatch(known)
        low = _place(interval[1] if interval else known, where, kind)
        high = _place(interval[2], where, kind) if interval else low
        # A column of one value, generalized as a whole, is shown as [20, 20].
        empty = low == high and interval is not None and interval[3] == ")"
        if low > high or empty:
            raise VerificationError(f"{where}: '{value}' is not an interval")
        _in_range(low, limits, value, where)
        _in_range(high, limits, value, where)
        closed = not interval or interval[3] == "]"
        spans.append((low, np.nextafter(high, np.inf) if closed else high, value))
    if local or attribute.at_most:
        return
    spans.sort()
    for (_, end, one), (begin, _, other) in itertools.pairwise(spans):
        if begin < end:
            raise VerificationError(
                f"{where}: '{one}' and '{other}' overlap, but each value is to be shown in one way"
            )


def _spans(taxonomy: Taxonomy) -> Spans:
    found: dict[str, tuple[int, int]] = {}
    for label, first, last in zip(taxonomy.labels, taxonomy.first, taxonomy.last, strict=True):
        found.setdefault(label, (first, last))
    return found


def _leaves(spans: Spans, value: str, where: str) -> tuple[int, int]:
    if value not in spans:
        raise VerificationError(f"{where}: '{value}' is not in its taxonomy")
    return spans[value]


def _check_bounds(spans_of: Spans, marks: tuple[str, ...], value: str, where: str) -> None:
    """Raises if no leaf under the value may be generalized as far as the value."""
    first, last = _leaves(spans_of, value, where)
    spans = [(mark, *_leaves(spans_of, mark, where)) for mark in marks]
    below = [s for s in spans if first <= s[1] and s[2] <= last and (s[1], s[2]) != (first, last)]
    covered = {leaf for _, a, b in below for leaf in range(a, b)}
    if below and value not in marks and len(covered) == last - first:
        raise VerificationError(f"{where}: '{value}' is above the bounds {', '.join(marks)}")


def _place(value: str, where: str, kind: str) -> float:
    """A number, or a date or time as seconds."""
    if kind == "number":
        return _number(value, where)
    try:
        if kind == "time":
            moment = datetime.combine(date(1970, 1, 1), time.fromisoformat(value))
        elif kind == "date":
            moment = datetime.combine(date.fromisoformat(value), time())
        else:
            moment = datetime.fromisoformat(value)
    except ValueError:
        raise VerificationError(f"{where}: '{value}' is neither a {kind} nor an interval") from None
    return (moment - datetime(1970, 1, 1)).total_seconds()


def _number(value: str, where: str) -> float:
    if not re.fullmatch(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", value):
        raise VerificationError(f"{where}: '{value}' is neither a number nor an interval")
    return float(value)


def _in_range(number: float, limits: tuple[float, float] | None, value: str, where: str) -> None:
    if limits is not None and not limits[0] <= number <= limits[1]:
        raise VerificationError(f"{where}: '{value}' is not in its range")
