"""The linkage attack: who in a table of known people is which record of a release?

The textbook chapter, section 20.3 and Tables 20.1 to 20.3. A released value matches a known one if
it is equal, if it is an interval that has it, or a value above it in the taxonomy. Candidates of a
person are the records that match in all columns known of the person; rivals of a record are the
people who match it. A person with one candidate is found; whatever all candidates share is known of
the person, found or not.

What nobody knows matches everything: an empty value or `?` of a person, and `?` in the release.

Guarantee: if a person's known values are true and the person is in the release, the person's record
is among the candidates. Whether the person is in the release at all, the release does not tell.
Cost: for each column its released values times its known ones; then a bit for each pair of a different
person and a different group. Errata: the chapter says that Joy and Sue alone match an HIV record and
William alone hepatitis C; Diana and Peter match the one, too, and Mary the other.
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from coterie.anonymity.models.audit import Released
from coterie.anonymity.risk.grouping import grouped
from coterie.anonymity.table.intervals import read_interval
from coterie.anonymity.table.scales import declared_form
from coterie.anonymity.table.taxonomy import TOP, Taxonomy
from coterie.base.arrays import Array, Ints, Mask

UNKNOWN = ("", "?")

_DAY = r"\d{4}-\d{2}-\d{2}"
_DAYS = re.compile(rf"\[({_DAY}), ({_DAY})([)\]])")
_WORK = 1 << 26  # bits compared at once


@dataclass(frozen=True)
class Linked:
    """What the attack finds of each person."""

    candidates: Ints
    rivals: Ints  # the most people who match any one candidate, the person among them
    inferred: list[dict[str, dict[str, float]]]  # by column, the values and their shares


def matches(
    released: Sequence[str], known: Sequence[str], taxonomy: Taxonomy | None = None
) -> Mask:
    """A row for each released value, a column for each known one."""
    found = np.zeros((len(released), len(known)), bool)
    unknown = np.array([value in UNKNOWN for value in known], bool)
    numbers = np.array([_number(value) for value in known], np.float64)
    places = {value: at for at, value in enumerate(known)}
    leaf = {value: at for at, value in enumerate(taxonomy.leaves)} if taxonomy else {}
    leaves = np.array([leaf.get(declared_form(value, leaf), -1) for value in known], np.int64)
    node_of = {value: at for at, value in enumerate(taxonomy.labels)} if taxonomy else {}
    for row, value in enumerate(released):
        if value in UNKNOWN or value == TOP:
            found[row] = True
            continue
        if value in places:
            found[row, places[value]] = True
        if value in node_of and taxonomy is not None:
            node = node_of[value]
            found[row] |= (leaves >= taxonomy.first[node]) & (leaves < taxonomy.last[node])
        elif (ends := _ends(value)) is not None:
            low, high, closed = ends
            with np.errstate(invalid="ignore"):
                found[row] |= (numbers >= low) & ((numbers <= high) if closed else (numbers < high))
    found[:, unknown] = True
    return found


def _number(text: str) -> float:
    """A number, or a day counted from the year 1; NaN for anything else."""
    if re.fullmatch(_DAY, text):
        try:
            return float(datetime.date.fromisoformat(text).toordinal())
        except ValueError:
            return math.nan
    try:
        number = math.nan if "_" in text else float(text)
    except ValueError:
        return math.nan
    return number if math.isfinite(number) else math.nan


def _ends(text: str) -> tuple[float, float, bool] | None:
    """The ends of an interval of numbers or days, or of a single one."""
    if days := _DAYS.fullmatch(text):
        return _number(days[1]), _number(days[2]), days[3] == "]"
    if interval := read_interval(text):
        return interval.low, interval.high, interval.closed
    number = _number(text)
    return None if math.isnan(number) else (number, number, True)


def link(
    release: Mapping[str, Released],
    people: Mapping[str, Released],
    taxonomies: Mapping[str, Taxonomy],
    targets: Sequence[str],
) -> Linked:
    """Links on the columns that both have; the shares of the `targets` among the candidates."""
    names = [name for name in people if name in release]
    records = len(next(iter(release.values())).codes)
    persons = len(next(iter(people.values())).codes)
    shown = grouped([release[name].codes for name in names], records)
    same_values = grouped([people[name].codes for name in names], persons)
    first_shown, first_person = (
        _first(shown.numbers, shown.count),
        _first(same_values.numbers, same_values.count),
    )
    table = {
        name: matches(release[name].values, people[name].values, taxonomies.get(name))
        for name in names
    }
    columns = {
        name: (release[name].codes[first_shown], people[name].codes[first_person]) for name in names
    }
    sizes = shown.sizes
    people_sizes = same_values.sizes
    found: list[Array] = []
    matched_by = np.zeros(shown.count, np.int64)
    step = max(_WORK // max(shown.count, 1), 1)
    for start in range(0, same_values.count, step):
        part = np.ones((min(step, same_values.count - start), shown.count), bool)
        for name in names:
            groups, persons_of = columns[name]
            part &= table[name][groups[None, :], persons_of[start : start + step, None]]
        matched_by += people_sizes[start : start + step] @ part
        found += [np.flatnonzero(row) for row in part]
    counts = {name: _by_group(shown.numbers, shown.count, release[name]) for name in targets}
    candidates = np.array([int(sizes[groups].sum()) for groups in found], np.int64)
    rivals = np.array([int(matched_by[groups].max(initial=0)) for groups in found], np.int64)
    inferred = [
        {name: _shares(counts[name], groups, release[name].values) for name in targets}
        if len(groups)
        else {}
        for groups in found
    ]
    return Linked(
        candidates[same_values.numbers],
        rivals[same_values.numbers],
        [inferred[at] for at in same_values.numbers.tolist()],
    )


def _first(numbers: Array, count: int) -> Ints:
    """The first record of each group."""
    first = np.zeros(count, np.int64)
    first[numbers[::-1]] = np.arange(len(numbers))[::-1]
    return first


@dataclass(frozen=True)
class _Counts:
    """How often each group has each value: entries in the order of the groups."""

    start: Ints
    value: Ints
    times: Ints


def _by_group(numbers: Array, count: int, column: Released) -> _Counts:
    size = max(len(column.values), 1)
    keys, times = np.unique(numbers.astype(np.int64) * size + column.codes, return_counts=True)
    start = np.searchsorted(keys // size, np.arange(count + 1))
    return _Counts(start, keys % size, times)


def _shares(counts: _Counts, groups: Array, values: Sequence[str]) -> dict[str, float]:
    """The values among the records of some groups, the most frequent first."""
    entries = np.concatenate(
        [np.arange(counts.start[g], counts.start[g + 1]) for g in groups.tolist()]
    )
    total = np.bincount(counts.value[entries], counts.times[entries], minlength=len(values))
    records = total.sum()
    order = np.argsort(-total, kind="stable")
    return {values[at]: float(total[at] / records) for at in order.tolist() if total[at]}
