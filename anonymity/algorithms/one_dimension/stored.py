"""`method: quantiles` of a table on disk, by value: the columns are passed over, and not kept.

The module does what `recoding.quantiles` does with a table in memory, with the same cuts: groups
follow from how often each different number occurs. A pass over the records writes the number of each
record's group into a file. `clusters: sampled` is done by `streamed`, which need not know the
different numbers.

Guarantee: the release of `quantiles`, record by record. In memory: the different values of each column,
the groups and the labels of each group. Not offered: `by: rank`, which sorts the records, and sensitive
columns that are bounded together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from coterie.anonymity.algorithms.conditions import Condition
from coterie.anonymity.algorithms.local_recoding import shown_regions
from coterie.anonymity.algorithms.one_dimension.groups import merged_groups
from coterie.anonymity.algorithms.one_dimension.recoding import (
    Options,
    check_qid,
    described_groups,
    groups_of_codes,
)
from coterie.anonymity.algorithms.stored_recoding import StoredRelease, judged_stored
from coterie.anonymity.specialization.specialize import Requirement
from coterie.anonymity.table.columns import ContinuousColumn
from coterie.anonymity.table.stored import Grouped, StoredTable
from coterie.base.arrays import Array
from coterie.base.errors import UsageError


def quantiles_stored(
    table: StoredTable,
    requirements: Sequence[Requirement],
    options: Options,
    memory: int,
    folder: Path,
) -> StoredRelease:
    """Every quasi-identifier, a single column of numbers, in groups; files go to `folder`."""
    if options.by == "rank":
        raise UsageError("'by: rank' sorts all records in memory; take 'by: value'")
    for requirement in requirements:
        check_qid(requirement.qid)
    table, conditions = judged_stored(table, requirements)
    found, described = [], {}
    for at, condition in enumerate(conditions):
        group, described[condition.attributes[0]] = _grouped(
            table, condition, options, folder / f"groups{at}"
        )
        found.append(group)
    details: dict[str, Any] = {
        "parts": sum(len(group.sizes) for group in found),
        "quantiles": {name: described[name] for name in table.columns if name in described},
    }
    return StoredRelease(table, found, 0, memory, details)


def _grouped(
    table: StoredTable, condition: Condition, options: Options, file: Path
) -> tuple[Grouped, dict[str, Any]]:
    """The groups of one column, and what the result says about them."""
    name = condition.attributes[0]
    column, stored = table.columns[name], table.stored[name]
    assert isinstance(column, ContinuousColumn)  # noqa: S101
    (counts,) = table.frequencies([name])

    def stream() -> Iterator[Array]:
        for rows in table.slices():
            yield column.places[stored.part(rows)]

    group = groups_of_codes(column, counts, condition.k, options, stream)
    number = int(group[counts > 0].max(initial=-1)) + 1
    sizes = np.bincount(group[counts > 0], weights=counts[counts > 0], minlength=number)
    labelled = [_label_counts(table, name, label, group, number) for _, label in condition.models]
    group = merged_groups(sizes.astype(np.int64), labelled, condition)[
        np.minimum(group, number - 1)
    ]
    present = np.flatnonzero(counts)
    number = int(group[present].max(initial=-1)) + 1
    low, high = np.full(number, column.size, np.int64), np.zeros(number, np.int64)
    np.minimum.at(low, group[present], present)
    np.maximum.at(high, group[present], present + 1)
    shown = shown_regions(column, low, high, np.arange(number))
    part = np.memmap(file, np.int32, "w+", shape=(table.records,))
    for rows in table.slices():
        part[rows] = group[stored.part(rows)]
    sizes = np.bincount(group[present], weights=counts[present], minlength=number)
    described = described_groups(
        column.places[present],
        counts[present],
        shown.codes[group[present]],
        shown.labels,
        options,
    )
    return Grouped(part, sizes.astype(np.int64), {name: shown}), described


def _label_counts(table: StoredTable, name: str, label: str, group: Array, number: int) -> Array:
    """How often each label occurs in each group."""
    counts = np.zeros((number, table.size(label)), np.int64)
    for rows in table.slices():
        own = group[table.stored[name].part(rows)]
        np.add.at(counts, (own, table.stored[label].part(rows)), 1)
    return counts
