"""The release of condensed records: clipped, put on the data's grid, measured and written."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from coterie.anonymity.condensation.grid import Grid, grid_of, on_grid
from coterie.anonymity.condensation.static import condense, covariance_correlation
from coterie.anonymity.specialization.specialize import suppression_limit
from coterie.anonymity.table.columns import ContinuousColumn
from coterie.anonymity.table.table import Labels
from coterie.base.arrays import Floats, Ints, Mask
from coterie.base.errors import DataError
from coterie.base.randomness import SYSTEM, Bytewise
from coterie.base.text import numbered
from coterie.jobs.file.result_file import RESULT
from coterie.jobs.kinds.integrate.release_table import Coded
from coterie.onetable.methods.registry import table_method
from coterie.onetable.prepare import Prepared
from coterie.onetable.released import RELEASE, MadeOfColumns, about_job
from coterie.onetable.table_file import TableFile


@dataclass(frozen=True)
class Placed:
    """Synthetic records on their grids, and how many values were clipped and rounded."""

    points: Floats
    clipped: dict[str, int]
    rounded: dict[str, int]


@dataclass(frozen=True)
class Release(MadeOfColumns[TableFile]):
    """Synthetic records."""

    def lines(self, out: Path) -> list[str]:
        return lines(self.result, out)


def condense_file(file: TableFile, source: Bytewise = SYSTEM) -> Release:
    """Reads and condenses the table of a table file; writes nothing."""
    begun = time.perf_counter()
    prepared = table_method(file.method).prepared(file)
    columns = [column for column in prepared.table.columns if isinstance(column, ContinuousColumn)]
    points = np.stack([column.values[column.codes] for column in columns], axis=1)
    labels = _classes(file, prepared, len(points))
    k = file.requirements[0].k
    kept = _large_enough(file, labels, k)
    points, labels = points[kept], labels.take(kept).compact()
    read = time.perf_counter()
    answer = condense(points, labels.codes.astype(np.int64), k, source)
    grids = [grid_of(points[:, j]) for j in range(len(columns))]
    spans = [
        column.limits or (float(points[:, j].min()), float(points[:, j].max()))
        for j, column in enumerate(columns)
    ]
    placed = place(answer.points, file, grids, spans)
    done = time.perf_counter()
    sizes = {labels.values[number]: found for number, found in answer.sizes.items()}
    result = {
        **described(file, sizes, placed, grids),
        "suppressed": int((~kept).sum()),
        "dropped": prepared.dropped,
        "copies": copies(points, labels.codes, placed.points, answer.classes),
        "utility": {
            "covariance_correlation": round(covariance_correlation(points, placed.points), 6)
        },
        "seconds": {"read": round(read - begun, 3), "condense": round(done - read, 3)},
        "job": about_job(file),
    }
    shown = coded(file, placed.points, Labels(answer.classes, labels.values))
    return Release(file, result, shown)


def _classes(file: TableFile, prepared: Prepared, records: int) -> Labels:
    if file.class_name is None:
        return Labels(np.zeros(records, np.int64), ("",))
    return prepared.plain[file.class_name]


def _large_enough(file: TableFile, labels: Labels, k: int) -> Mask:
    """The records of classes with at least k; the others must be few enough to be left out."""
    records = len(labels.codes)
    if records < k:
        raise DataError(f"{file.source}: has {numbered(records, 'record')}, fewer than the k = {k}")
    sizes = np.bincount(labels.codes, minlength=len(labels.values))
    kept: Mask = sizes[labels.codes] >= k
    lost = int((~kept).sum())
    if lost > suppression_limit(file.max_suppression, records):
        small = int(np.flatnonzero((sizes > 0) & (sizes < k))[0])
        raise DataError(
            f"the class '{labels.values[small]}' has {numbered(int(sizes[small]), 'record')}, fewer than the k = {k}; "
            f"leaving out small classes costs {lost} of {records} records: a smaller k, or "
            "max_suppression",
            file=str(file.source),
        )
    if lost == records:
        raise DataError(f"{file.source}: no class has {k} records")
    return kept


def place(
    points: Floats,
    file: TableFile,
    grids: Sequence[Grid],
    spans: Sequence[tuple[float, float] | None],
) -> Placed:
    """Synthetic records as a release shows them: within their spans and on the data's grid."""
    columns, clipped, rounded = [], {}, {}
    for j, attribute in enumerate(file.attributes):
        values, clipped[attribute.name], rounded[attribute.name] = on_grid(
            points[:, j], grids[j], spans[j]
        )
        columns.append(values)
    return Placed(np.stack(columns, axis=1), clipped, rounded)


def described(
    file: TableFile, sizes: Mapping[str, Ints], placed: Placed, grids: Sequence[Grid]
) -> dict[str, Any]:
    """What `result.json` says of any release of synthetic records."""
    every = np.concatenate(list(sizes.values()))
    return {
        "method": file.method,
        "k": file.requirements[0].k,
        "records": len(placed.points),
        "groups": {
            "number": len(every), "smallest": int(every.min()), "largest": int(every.max())
        },
        **(
            {
                "classes": {
                    name: {"records": int(found.sum()), "groups": len(found)}
                    for name, found in sizes.items()
                }
            }
            if file.class_name is not None
            else {}
        ),
        "clipped": placed.clipped,
        "rounded": placed.rounded,
        "grid": {
            attribute.name: [grid.decimals, grid.step, grid.offset]
            for attribute, grid in zip(file.attributes, grids, strict=True)
        },
    }  # fmt: skip


def copies(real: Floats, classes: Ints, made: Floats, of: Ints) -> int:
    """How many synthetic records are equal, in all columns, to a record of the table."""
    both = np.vstack([np.column_stack([real, classes]), np.column_stack([made, of])])
    _, number = np.unique(both, axis=0, return_inverse=True)
    number = number.reshape(-1)
    seen = np.zeros(int(number.max()) + 1, bool)
    seen[number[: len(real)]] = True
    return int(seen[number[len(real) :]].sum())


def coded(file: TableFile, points: Floats, classes: Labels) -> dict[str, Coded]:
    """The columns of the release, as the texts that it shows."""
    columns = {}
    for j, attribute in enumerate(file.attributes):
        values, codes = np.unique(points[:, j] + 0.0, return_inverse=True)  # no negative zero
        texts = [attribute.scale.write(value) for value in values.tolist()]
        columns[attribute.name] = Coded(codes, texts)
    if file.class_name is not None:
        columns[file.class_name] = Coded(classes.codes, classes.values)
    return columns


def lines(result: dict[str, Any], out: Path) -> list[str]:
    """The result in a few lines for a person."""
    groups = result["groups"]
    left = f", {result['suppressed']:,} suppressed" if result.get("suppressed") else ""
    dropped = f", {result['dropped']:,} dropped for missing values" if result.get("dropped") else ""
    found = [
        f"condense: {numbered(result['records'], 'synthetic record')}{left}{dropped}",
        f"  {numbered(groups['number'], 'group')} of {groups['smallest']} to {groups['largest']} people "
        f"(k = {result['k']})",
        f"  {sum(result['clipped'].values()):,} values clipped, "
        f"{sum(result['rounded'].values()):,} moved to the data's grid",
    ]
    if "copies" in result:
        found.append(
            f"  {numbered(result['copies'], 'synthetic record')} "
            f"{'is' if result['copies'] == 1 else 'are'} equal to a real one"
        )
    if "utility" in result:
        likeness = result["utility"]["covariance_correlation"]
        found.append(f"  covariances agree with the table's: correlation {likeness:.4f}")
    for name, number in result.get("waiting", {}).items():
        of = f" of class '{name}'" if name else ""
        found.append(
            f"  {numbered(number, 'record')}{of} {'is' if number == 1 else 'are'} not in it: fewer than 2k = {2 * result['k']}"
        )
    return [*found, f"release: {out / RELEASE}", f"result: {out / RESULT}"]
