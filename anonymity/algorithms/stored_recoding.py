"""Mondrian of a table on disk: what `local_recoding.recode` does, slice by slice.

The records that bounds on generalization cost are found from counts of the highest permitted
values; then every condition has its pieces cut (`mondrian_pieces`), and each record the number of
its part in a file. The parts themselves, at most one for every k records, are in memory.

Guarantee: the release of `mondrian`, record by record. Not offered: sensitive columns that are
bounded together, whose tuples would have to be listed first.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from coterie.anonymity.algorithms.bounds import check_limit, permitted_values
from coterie.anonymity.algorithms.conditions import (
    Condition,
    check_possible,
    condition_of,
    joint_conditions,
    judged_key,
)
from coterie.anonymity.algorithms.local_recoding import shown_regions
from coterie.anonymity.algorithms.mondrian import (
    Options,
    sensitive_labels,
    settings_of,
)
from coterie.anonymity.algorithms.mondrian_pieces import (
    Boxes,
    FilePiece,
    Piece,
    Rules,
    partition_pieces,
)
from coterie.anonymity.models.audit import Released, audit_counted, group_numbers
from coterie.anonymity.models.privacy import TupleModel
from coterie.anonymity.specialization.specialize import Requirement
from coterie.anonymity.table.stored import Grouped, StoredTable
from coterie.base.arrays import Array
from coterie.base.distinct import ranks
from coterie.base.errors import DataError
from coterie.base.memory import give_back, let_go, read_part

# Makes the first pieces, from the rules and from slices of records, each with its piece's number.
MakePieces = Callable[[Rules, Iterator[tuple[int, Array, Array]]], Sequence[Piece]]
_SHARE = 2  # a piece takes at most 1/_SHARE of the memory; counts and boxes need the rest


@dataclass(frozen=True)
class StoredRelease:
    """An anonymous version of a stored table; requirements without a common attribute have parts
    of their own."""

    table: StoredTable
    groups: Sequence[Grouped]
    suppressed: int
    memory: int
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def columns(self) -> dict[str, Grouped]:
        """For every released column in a qid the parts that it is shown by."""
        found = {name: group for group in self.groups for name in group.columns}
        return {name: found[name] for name in self.table.columns if name in found}

    def anonymity(self, requirements: Sequence[Requirement]) -> list[dict[str, Any]]:
        """The anonymity that is counted anew on the release; a violation is an error."""
        return [self._audited(requirement) for requirement in requirements]

    def _audited(self, requirement: Requirement) -> dict[str, Any]:
        parts = self.columns[requirement.qid[0]]
        shown = [
            Released(parts.columns[name].codes.astype(np.int64), parts.columns[name].labels)
            for name in requirement.qid
        ]
        group = group_numbers(shown)  # of each part
        sizes = np.bincount(group, weights=parts.sizes).astype(np.int64)

        def describe(at: int) -> str:
            part = int(np.argmax(group == at))
            return ", ".join(
                f"{name}={column.values[column.codes[part]]}"
                for name, column in zip(requirement.qid, shown, strict=True)
            )

        if requirement.model is None or not isinstance(requirement.sensitive, str):
            return audit_counted(requirement.qid, requirement.k, sizes, describe)
        name = requirement.sensitive
        values = self.table.labels[name].values
        overall = np.zeros(len(values), np.int64)
        for rows in self.table.slices():
            stays = parts.parts(rows) >= 0
            overall += np.bincount(self.table.stored[name].part(rows)[stays], minlength=len(values))
        return audit_counted(
            requirement.qid,
            requirement.k,
            sizes,
            describe,
            name,
            requirement.model,
            values,
            overall,
            lambda: self._label_counts(parts, group, len(sizes), name),
        )

    def _label_counts(
        self, parts: Grouped, group: Array, groups: int, name: str
    ) -> Iterator[tuple[int, Array]]:
        """How often each label occurs in the groups, as many groups at a time as the memory holds."""
        values = len(self.table.labels[name].values)
        room = max(self.memory // (8 * _SHARE * values), 1)
        for start in range(0, groups, room):
            count = min(room, groups - start)
            found = np.zeros(count * values, np.int64)
            for rows in self.table.slices():
                part = parts.parts(rows)
                own = np.where(part >= 0, group[part] - start, -1)
                inside = (own >= 0) & (own < count)
                labels = self.table.stored[name].part(rows)[inside]
                found += np.bincount(own[inside] * values + labels, minlength=len(found))
            yield start, found.reshape(count, values)


def mondrian_stored(
    table: StoredTable,
    requirements: Sequence[Requirement],
    most_suppressed: int,
    options: Options,
    memory: int,
    folder: Path,
    make: MakePieces | None = None,
    most: int | None = None,
) -> StoredRelease:
    """Partitions a stored table within `memory` bytes; files go to `folder`.

    `make` puts the pieces elsewhere than into files; pieces of at most `most` records are cut in
    memory.
    """
    table, conditions = judged_stored(table, requirements)
    keep, gone = _kept(table, conditions, folder)
    required = ", ".join(f"k = {condition.k}" for condition in conditions)
    check_limit(table.records, gone, most_suppressed, required)
    found = [
        _grouped(table, condition, keep, options, memory, folder / f"parts{at}", make, most)
        for at, condition in enumerate(conditions)
    ]
    details: dict[str, Any] = {"parts": sum(len(group.sizes) for group in found)}
    if table.at_most:
        details["bounds_cost"] = gone
    return StoredRelease(table, found, gone, memory, details)


def judged_stored(
    table: StoredTable, requirements: Sequence[Requirement]
) -> tuple[StoredTable, list[Condition]]:
    """The table with the labels that conditions bound, and the conditions."""
    labels, stored = dict(table.labels), dict(table.stored)
    whole = table.without_records()
    for requirement in requirements:
        check_possible(requirement, table.records)
        if requirement.model is None:
            continue
        if isinstance(requirement.model, TupleModel):
            raise DataError(
                f"the columns {', '.join(requirement.sensitive_columns)} are bounded together, "
                "which takes the whole table in memory; give the command more --memory"
            )
        name = requirement.sensitive_columns[0]
        labels[judged_key(requirement)], stored[judged_key(requirement)] = (
            table.labels[name],
            table.stored[name],
        )
        model, _ = condition_of(requirement, whole).models[0]
        check_possible(requirement, table.records, model, table.frequencies([name])[0])
    judged = StoredTable(
        table.records, table.columns, labels, stored, table.at_most, table.priority
    )
    return judged, joint_conditions(requirements, judged.without_records())


class _Permitted:
    """The groups of records with equal highest permitted values in some columns."""

    def __init__(self, table: StoredTable, names: Sequence[str]) -> None:
        self.table = table
        self.names = [name for name in names if table.at_most.get(name)]
        self.values = [
            ranks(permitted_values(table.columns[n], table.at_most[n])) for n in self.names
        ]
        self.sizes = [int(values.max(initial=0)) + 1 for values in self.values]

    @property
    def number(self) -> int:
        return int(np.prod(self.sizes, dtype=np.int64)) if self.sizes else 1

    def of(self, rows: slice) -> Array:
        found = np.zeros(rows.stop - rows.start, np.int64)
        for name, values, size in zip(self.names, self.values, self.sizes, strict=True):
            found = found * size + values[self.table.stored[name].part(rows)]
        return found

    def among(self, wider: _Permitted) -> Array:
        """For every group of more columns the group of these columns that it is part of."""
        places = np.unravel_index(np.arange(wider.number), wider.sizes or (1,))
        found = np.zeros(wider.number, np.int64)
        for name, size in zip(self.names, self.sizes, strict=True):
            found = found * size + places[wider.names.index(name)]
        return found


def _kept(
    table: StoredTable, conditions: Sequence[Condition], folder: Path
) -> tuple[Array | None, int]:
    """Which records can stay, None for all, and how many cannot; as `bounds.keepable`."""
    every = _Permitted(table, list(table.columns))
    if not every.names:
        return None, 0
    names = list(dict.fromkeys(name for c in conditions for _, name in c.models))
    sizes = np.zeros(every.number, np.int64)
    counts = {name: np.zeros((every.number, table.size(name)), np.int64) for name in names}
    for rows in table.slices():
        group = every.of(rows)
        sizes += np.bincount(group, minlength=every.number)
        for name in names:
            np.add.at(counts[name], (group, table.stored[name].part(rows)), 1)
    stays = np.ones(every.number, bool)
    before = -1
    while before != int(stays.sum()):
        before = int(stays.sum())
        for condition in conditions:
            own = _Permitted(table, condition.attributes)
            group = own.among(every)
            there = np.bincount(group, weights=sizes * stays, minlength=own.number)
            labelled = {}
            for _, name in condition.models:
                labelled[name] = np.zeros((own.number, counts[name].shape[1]), np.int64)
                np.add.at(labelled[name], group[stays], counts[name][stays])
            good = np.zeros(own.number, bool)
            some = there > 0
            good[some] = condition.holds_counted(
                there[some].astype(np.int64), {name: n[some] for name, n in labelled.items()}
            )
            stays &= good[group]
    keep = np.memmap(folder / "keep", np.bool_, "w+", shape=(table.records,))
    for rows in table.slices():
        keep[rows] = stays[every.of(rows)]
        let_go(keep)
    return keep, int(sizes[~stays].sum())


def _grouped(
    table: StoredTable,
    condition: Condition,
    keep: Array | None,
    options: Options,
    memory: int,
    folder: Path,
    make: MakePieces | None,
    most: int | None,
) -> Grouped:
    """The parts of one condition, and what its columns show for each of them."""
    folder.mkdir()
    names = condition.attributes
    columns = [table.columns[name] for name in names]
    judged = sensitive_labels(
        condition, {name: len(labels.values) for name, labels in table.labels.items()}
    )
    room = sum(column.size for column in columns) * (1 + judged.values) * 8
    if room > memory // _SHARE:
        widest = max(columns, key=lambda column: column.size)
        raise DataError(
            f"column '{widest.name}' has {widest.size:,} different values, too many to be counted "
            "in the memory; give the command more --memory"
        )
    counts = table.frequencies([*names, *judged.names], keep)
    totals = np.concatenate([np.zeros(0, np.int64), *counts[len(names) :]])
    settings = settings_of(columns, counts[: len(names)], table.priority, condition.k, options)
    rules = Rules(settings, judged, totals)
    part = np.memmap(folder / "part", np.int32, "w+", shape=(table.records,))
    for rows in table.slices():
        part[rows] = -1
        let_go(part)
    tight = options.boxes == "tight"
    boxes = Boxes.into(part, tight)
    records = _records(table, condition, rules, keep)
    pieces = _in_files(folder, rules, records) if make is None else make(rules, records)
    partition_pieces(pieces, rules, most or records_within(memory, rules), boxes)
    sizes = np.concatenate([np.zeros(0, np.int64), *boxes.sizes])
    give_back()
    each = np.arange(len(sizes))
    shown = {}
    for j, (name, column) in enumerate(zip(names, columns, strict=True)):
        first, last = (
            np.concatenate([np.zeros(0, np.int64), *(ends[:, j] for ends in side)]).astype(np.int64)
            for side in (boxes.low, boxes.high)
        )
        shown[name] = shown_regions(column, first, last, each, tight)
    return Grouped(part, sizes, shown)


def records_within(memory: int, rules: Rules) -> int:
    """How many records a piece may have to be finished within the memory."""
    columns, labels = len(rules.sizes), len(rules.judged.names)
    return max(memory // _SHARE // (24 * columns + 20 * labels + 64), 1)


def _records(
    table: StoredTable, condition: Condition, rules: Rules, keep: Array | None
) -> Iterator[tuple[int, Array, Array]]:
    """Slices of records that can be in one group: the group's number, codes and labels, rows."""
    permitted = _Permitted(table, condition.attributes)
    for rows in table.slices():
        groups = permitted.of(rows)
        numbers = np.arange(rows.start, rows.stop)
        codes = [table.stored[name].part(rows) for name in condition.attributes]
        labels = [
            table.stored[name].part(rows) + at
            for name, at in zip(rules.judged.names, rules.judged.offsets, strict=False)
        ]
        matrix = np.stack([*codes, *labels], axis=1).astype(np.int32)
        stays = np.ones(len(groups), bool) if keep is None else read_part(keep, rows)
        for group in np.unique(groups[stays]).tolist():
            chosen = stays & (groups == group)
            yield group, matrix[chosen], numbers[chosen]


def _in_files(
    folder: Path, rules: Rules, records: Iterator[tuple[int, Array, Array]]
) -> Sequence[Piece]:
    names = itertools.count()
    pieces: dict[int, FilePiece] = {}
    for group, matrix, rows in records:
        if group not in pieces:
            pieces[group] = FilePiece(folder, names, rules)
        pieces[group].append(matrix, rows)
    return [pieces[group] for group in sorted(pieces)]
