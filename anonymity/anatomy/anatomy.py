"""Anatomy: exact quasi-identifiers in one table, the sensitive values of each group in another.

Xiao, Tao, "Anatomy: simple and effective privacy preservation" (VLDB 2006), in the form of paper 5
(definition 3 and figure 5): Mondrian divides the records into groups that satisfy every
requirement; the quasi-identifier table (QIT) then has a row for each record with its exact values
and the number of its group, and a sensitive table (ST) has for each group how often each sensitive
value occurs. With several sensitive columns there is an ST for each, which drops the links between
them, or one joint ST of tuples, which keeps the links and with them what joint diversity is for.

Guarantee: who knows the quasi-identifiers of a person knows the group, and of the sensitive values
what the group shows: at least k records, which satisfy every model. Group numbers are random, and
both tables are sorted by what they show, so that no order tells which row has which value.

Not promised: k-anonymity. Every quasi-identifier is published as it is. Whoever looks for a person
in the QIT sees whether the person is in the table, and everything else in the row; the quasi-
identifiers of everybody are released raw. Paper 5 repeats that anatomy and generalization
protect equally: that is so for sensitive values only, not for membership or identity. Dependencies
between a quasi-identifier and a sensitive column (birth date, date of diagnosis and age at
diagnosis, in the paper's own data) separate the records of a group from outside.

Nor does anatomy hide why a group was not divided further: where the cuts fall depends on sensitive
values, so that somebody who repeats the method learns that some division would have violated a
requirement (minimality), as with Mondrian.

Equal quasi-identifiers stay in one group, so that the group of a record follows from its values;
`coterie verify --data` uses that.

Cost: that of Mondrian, and a sort of the groups' values.

Errata (figure 5): the paper's procedure goes on with one half where only that half satisfies the
model, and loses the other half's records; it adds T where it means G. Here both halves must satisfy
the model.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from coterie.anonymity.algorithms.conditions import Condition, joint_conditions, judged_table
from coterie.anonymity.algorithms.local_recoding import shown_regions
from coterie.anonymity.algorithms.mondrian import Options, partition_table
from coterie.anonymity.models.audit import Released, audit
from coterie.anonymity.models.tuple_model import join_columns
from coterie.anonymity.specialization.specialize import Requirement
from coterie.anonymity.table.table import Generalized, Labels, Table
from coterie.base.arrays import Array, Ints

GROUP, COUNT = "Group", "Count"


@dataclass(frozen=True)
class SensitiveTable:
    """How often each value, or tuple of values, occurs in each group; sorted by group and value."""

    columns: tuple[str, ...]
    groups: Ints  # the number of the group of each line
    values: tuple[Labels, ...]  # for each column the value of each line
    counts: Ints


@dataclass(frozen=True)
class Anatomised:
    """A table divided into groups: which number each record's group has, from 1."""

    table: Table
    groups: Ints
    sensitive: tuple[str, ...]
    joint: bool

    @property
    def sizes(self) -> Ints:
        """The number of records of each group."""
        return np.bincount(self.groups)[1:].astype(np.int64)

    def columns(self) -> dict[str, Generalized]:
        """The quasi-identifiers as they are: a region of one code for every record."""
        return {column.name: _exact(column) for column in self.table.columns}

    def sensitive_tables(self) -> list[SensitiveTable]:
        sets = [self.sensitive] if self.joint else [(name,) for name in self.sensitive]
        return [counted(self.groups, {n: self.table.labels[n] for n in names}) for names in sets]

    def anonymity(self, requirements: Sequence[Requirement]) -> list[dict[str, Any]]:
        """What every group satisfies, counted anew; a violation is an error."""
        numbers = tuple(map(str, range(len(self.sizes) + 1)))
        table = {GROUP: Released(self.groups, numbers)}
        for name in self.sensitive:
            labels = self.table.labels[name]
            table[name] = Released(labels.codes.astype(np.int64), labels.values)
        return [
            audit(table, (GROUP,), r.k, r.sensitive, r.model) | {"qid": list(r.qid)}
            for r in requirements
        ]

    @property
    def discernibility(self) -> int:
        """The sum of the squared sizes of the groups: what a record's sensitive values hide among."""
        return int((self.sizes.astype(np.float64) ** 2).sum())


def anatomise(
    table: Table,
    requirements: Sequence[Requirement],
    joint: bool = False,
    rng: random.Random | None = None,
    options: Options | None = None,
) -> Anatomised:
    """Divides a table into groups that satisfy all requirements; none of its records is lost."""
    judged = judged_table(table, requirements)
    conditions = joint_conditions(requirements, judged)
    condition = Condition(
        table.names,
        max(own.k for own in conditions),
        tuple(model for own in conditions for model in own.models),
    )
    # What bounds forbid to generalize may be published as it is.
    part = partition_table(replace(judged, at_most={}), condition, options or Options()).part
    numbers = list(range(1, int(part.max()) + 2))
    (rng or random.SystemRandom()).shuffle(numbers)
    sensitive = dict.fromkeys(name for r in requirements for name in r.sensitive_columns)
    return Anatomised(table, np.array(numbers, np.int64)[part], tuple(sensitive), joint)


def counted(groups: Ints, columns: Mapping[str, Labels]) -> SensitiveTable:
    """The lines of a sensitive table: the tuples that occur in each group, and how often."""
    codes, tuples, _ = join_columns([(c.codes, c.values) for c in columns.values()])
    lines, counts = np.unique(groups * len(tuples) + codes, return_counts=True)
    group, number = np.divmod(lines, len(tuples))
    values = [
        Labels(tuples[number, at], column.values) for at, column in enumerate(columns.values())
    ]
    return SensitiveTable(tuple(columns), group, tuple(values), counts)


def _exact(column: Any) -> Generalized:
    each: Array = np.arange(column.size)
    shown = shown_regions(column, each, each + 1, each)
    return replace(shown, codes=shown.codes[column.codes])
