"""`coterie verify DIR` for condensed records: what can be checked without the random numbers.

From `release.csv` and the table file: the columns, the order of the rows, every number within its
range and on the grid that is claimed, at least k records of every class, and groups that can have
k to 2k - 1 of them. With the table: as many records as it has, class by class, means within six
standard errors, the correlation of the covariances and the number of copies. All of it is counted
with Python's own numbers or NumPy's, not by the modules that made the release.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np

from coterie.anonymity.models.audit import Released
from coterie.base.errors import VerificationError
from coterie.jobs.data.release_file import check_order, read_release
from coterie.jobs.data.sources import read_table
from coterie.onetable.released import RELEASE
from coterie.onetable.table_file import TableFile

UNCHECKED = (
    "which records formed a group: the release does not tell",
    "that the records are made of the table's: --data names the table",
)
STREAMED = (UNCHECKED[0], "that the records are made of the stream's, of which nothing is kept")


def verify_condensed(
    file: TableFile, result: Any, folder: Path, data: Path | None
) -> dict[str, Any]:
    path = folder / RELEASE
    table = read_release(path, file.columns, "the table file")
    check_order(table, path)
    records, k = len(next(iter(table.values())).codes), file.requirements[0].k
    for key, own in (("method", file.method), ("records", records), ("k", k)):
        if result[key] != own:
            raise VerificationError(f"{path}: {key} is {own}, but result.json says {result[key]}")
    suppressed = int(result["suppressed"])
    if suppressed < 0 or suppressed > file.max_suppression * (records + suppressed) + 1e-9:
        raise VerificationError(
            f"{suppressed} records were left out; the table file allows a share of "
            f"{file.max_suppression:g}"
        )
    _check_groups(file, result, table, records, k)
    for attribute in file.attributes:
        where = f"{path}: column '{attribute.name}'"
        decimals, step, offset = result["grid"][attribute.name]
        for value in table[attribute.name].values:
            number = attribute.scale.read(value)
            if not np.isfinite(number):
                raise VerificationError(f"{where}: '{value}' is not {attribute.scale.noun}")
            limits = attribute.limits
            if limits is not None and not limits[0] <= number <= limits[1]:
                raise VerificationError(f"{where}: '{value}' is not in its range")
            if step == 0 or attribute.scale.name != "number":
                continue
            units = Decimal(value).scaleb(decimals) - offset
            if (units != 0) if step is None else (units % step != 0):
                raise VerificationError(f"{where}: '{value}' is not on the grid of the table")
    found: dict[str, Any] = {"records": records, "suppressed": suppressed}
    if data is not None:
        found["measures"] = _check_source(file, result, table, data)
    return {
        "verdict": f"holds: {result['groups']['number']:,} groups of at least k = {k} people, "
        f"{records:,} synthetic records in their ranges and on their grids",
        "unchecked": list(
            STREAMED if result.get("streamed") else UNCHECKED if data is None else UNCHECKED[:1]
        ),
        **found,
    }


def _check_groups(
    file: TableFile, result: Any, table: Mapping[str, Released], records: int, k: int
) -> None:
    groups = result["groups"]
    number, smallest, largest = (int(groups[key]) for key in ("number", "smallest", "largest"))
    parts = {"": {"records": records, "groups": number}}
    if file.class_name is not None:
        parts = result["classes"]
        shown = Counter(_texts(table[file.class_name]))
        if shown != {name: part["records"] for name, part in parts.items()}:
            raise VerificationError("the release has other numbers of records a class than claimed")
        if sum(int(part["groups"]) for part in parts.values()) != number:
            raise VerificationError("the groups of the classes are not those of the release")
    if not k <= smallest <= largest < 2 * k:
        raise VerificationError(f"groups of {smallest} to {largest} people; k = {k} to {2 * k - 1}")
    for name, part in parts.items():
        of = f"class '{name}': " if name else ""
        size, own = int(part["records"]), int(part["groups"])
        if not own * smallest <= size <= own * largest:
            raise VerificationError(
                f"{of}{own} groups of {smallest} to {largest} people cannot have {size} records"
            )


def _texts(column: Released) -> list[str]:
    return [column.values[code] for code in column.codes.tolist()]


def _check_source(
    file: TableFile, result: Any, table: Mapping[str, Released], data: Path
) -> dict[str, Any]:
    if result.get("streamed"):
        raise VerificationError(
            "the records of a stream were not kept: only a release of a whole table is compared "
            "with --data"
        )
    text = read_table(data, file.columns)
    rows: list[tuple[Any, ...]] = []
    gaps = 0
    for row in zip(*(text.column(name).to_pylist() for name in file.columns), strict=True):
        pairs = list(zip(file.attributes, row, strict=False))
        if any(a.missing == "drop" and value in (None, "?") for a, value in pairs):
            gaps += 1
            continue
        rows.append((*(a.scale.read(value or "") for a, value in pairs), *row[len(pairs) :]))
    if file.class_name is not None:
        large = Counter(row[-1] for row in rows)
        rows = [row for row in rows if large[row[-1]] >= result["k"]]
    lost = text.num_rows - gaps - len(rows)
    if gaps != result["dropped"] or lost != result["suppressed"]:
        raise VerificationError(f"{data}: {lost} records in small classes and {gaps} with a gap")
    made = list(
        zip(
            *([a.scale.read(v) for v in _texts(table[a.name])] for a in file.attributes),
            *([_texts(table[file.class_name])] if file.class_name is not None else []),
            strict=True,
        )
    )
    if len(made) != len(rows):
        raise VerificationError(f"{data}: has {len(rows)} records, the release {len(made)}")
    if file.class_name is not None and Counter(r[-1] for r in rows) != Counter(m[-1] for m in made):
        raise VerificationError(f"{data}: has other numbers of records a class than the release")
    width = len(file.attributes)
    real, shown = (np.array([row[:width] for row in found], float) for found in (rows, made))
    spread = real.std(axis=0)
    apart = np.abs(real.mean(axis=0) - shown.mean(axis=0))
    steps = [
        s / 10**d if s else 0.0 for d, s, _ in (result["grid"][a.name] for a in file.attributes)
    ]
    wrong = apart > 6 * spread / np.sqrt(len(rows)) + np.array(steps) + 0.05 * spread
    if wrong.any():
        name = file.attributes[int(wrong.argmax())].name
        raise VerificationError(f"{data}: column '{name}' has another mean than the release")
    held = set(rows)
    copies = sum(row in held for row in made)
    if copies != result["copies"]:
        raise VerificationError(
            f"{copies} records are equal to one of the table; result.json says {result['copies']}"
        )
    return {
        "copies": copies,
        "largest_difference_of_means": float((apart / (spread + 1e-300)).max()),
    }
