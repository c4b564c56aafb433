"""How many records satisfy some conditions, estimated from an anatomised release.

The formula is that of `anonymity.anatomy.estimate`; here it is computed from the files that a
reader has, for conditions by the names of the columns:

    estimated_count(Path("release"), {"Age": (30, 40), "Sex": "F", "Disease": ["Flu", "Cold"]})

Without a condition on a sensitive column the count is exact: quasi-identifiers are published as they
are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import pyarrow as pa

from coterie.anonymity.anatomy.anatomy import COUNT, GROUP
from coterie.base.errors import UsageError
from coterie.jobs.data.sources import read_table
from coterie.jobs.file.result_file import read_claims

RELEASE = "release.csv"
# A value, some values, or the lowest and the highest number.
Condition: TypeAlias = str | Sequence[str] | tuple[float, float]


def estimated_count(folder: Path, where: Mapping[str, Condition]) -> float:
    """The expected number of records that satisfy all conditions."""
    claims = read_claims(folder)
    method = claims.optional("method")
    if method is None or method.text() != "anatomy":
        raise UsageError(f"{folder}: is not the result of 'method: anatomy'")
    raw = claims.entry("raw").texts()
    tables = {
        tuple(entry.entry("columns").texts()): folder / entry.entry("file").text()
        for entry in claims.entry("sensitive_tables").items()
    }
    known = {name for names in tables for name in names}
    for name in where:
        if name not in raw and name not in known:
            raise UsageError(f"{folder}: has no column '{name}'")
    own = {name: condition for name, condition in where.items() if name in raw}
    people = read_table(folder / RELEASE, [*raw, GROUP])
    groups = people.column(GROUP).to_pylist()
    rows = Counter(g for g, fits in zip(groups, _fits(people, own), strict=True) if fits)
    asked = {name: condition for name, condition in where.items() if name in known}
    if not asked:
        return float(rows.total())
    columns = next((names for names in tables if set(asked) <= set(names)), None)
    if columns is None:
        raise UsageError(
            f"the links between {', '.join(asked)} are not published: ask for one of them, or "
            "release with 'sensitive_table: joint'"
        )
    lines = read_table(tables[columns], [GROUP, *columns, COUNT])
    counts: Counter[str] = Counter()
    for group, times, fits in zip(
        lines.column(GROUP).to_pylist(),
        lines.column(COUNT).to_pylist(),
        _fits(lines, asked),
        strict=True,
    ):
        counts[group] += int(times) if fits else 0
    sizes = Counter(groups)
    return sum(rows[group] * counts[group] / sizes[group] for group in rows)


def _fits(table: pa.Table, where: Mapping[str, Condition]) -> list[bool]:
    """Which rows satisfy all conditions."""
    found = [True] * table.num_rows
    for name, condition in where.items():
        values = table.column(name).to_pylist()
        found = [f and _satisfies(v or "", condition) for f, v in zip(found, values, strict=True)]
    return found


def _satisfies(value: str, condition: Condition) -> bool:
    if isinstance(condition, str):
        return value == condition
    if isinstance(condition, tuple) and not any(isinstance(end, str) for end in condition):
        low, high = condition
        try:
            return float(low) <= float(value) <= float(high)
        except ValueError:
            return False  # a value that is no number lies in no range
    return value in condition
