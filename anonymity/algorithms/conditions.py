"""The conditions on the groups of a table, in the form that the algorithms use.

Requirements whose quasi-identifiers share an attribute are joined: a local recoding that satisfies
the strictest of their conditions in every group of all their attributes satisfies each of them,
since a group of fewer attributes is a union of such groups and every model survives a union.
Requirements without a common attribute stay separate, so that they do not make each other more
expensive.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from coterie.anonymity.models.closeness import unfit
from coterie.anonymity.models.privacy import Model, TupleModel
from coterie.anonymity.specialization.generalized import joined_labels
from coterie.anonymity.specialization.specialize import Requirement
from coterie.anonymity.table.table import Labels, Table
from coterie.base.arrays import Array
from coterie.base.errors import DataError
from coterie.base.text import numbered


@dataclass(frozen=True)
class Condition:
    """Every group of records equal in `attributes` has k records and satisfies each model."""

    attributes: tuple[str, ...]
    k: int
    models: tuple[tuple[Model, str], ...] = ()

    def holds(self, groups: Array, labels: Mapping[str, Labels]) -> Array:
        """One answer per group; `groups` has the number of each record's group."""
        sizes = np.bincount(groups)
        good: Array = sizes >= self.k
        for model, name in self.models:
            if isinstance(model, TupleModel):  # too many tuples for a matrix
                good = good & model.holds_for(groups, labels[name].codes, len(sizes))
            else:
                counts = counts_of(groups, len(sizes), labels[name])
                good = good & model.holds(counts, counts.sum(axis=0))
        return good

    def holds_counted(self, sizes: Array, counts: Mapping[str, Array]) -> Array:
        """The same, from the sizes of all groups and how often each label occurs in each of them."""
        good: Array = sizes >= self.k
        for model, name in self.models:
            good = good & model.holds(counts[name], counts[name].sum(axis=0))
        return good


def counts_of(groups: Array, number: int, labels: Labels) -> Array:
    """How often each value occurs in each group."""
    values = len(labels.values)
    key = groups.astype(np.int64) * values + labels.codes
    return np.bincount(key, minlength=number * values).reshape(number, values)


def overall_of(labels: Labels) -> Array:
    return np.bincount(labels.codes, minlength=len(labels.values)).astype(np.int64)


def judged_table(table: Table, requirements: Sequence[Requirement]) -> Table:
    """The table with one column of labels for every set of sensitive columns that is bounded
    together.

    A requirement that even one group of all records violates can never hold and is an error.
    """
    labels = dict(table.labels)
    for requirement in requirements:
        check_possible(requirement, table.records)
        if requirement.model is None:
            continue
        columns = [table.labels[name] for name in requirement.sensitive_columns]
        labels[judged_key(requirement)], _ = joined_labels(columns, requirement)
        model, _ = condition_of(requirement, replace(table, labels=labels)).models[0]
        check_possible(
            requirement, table.records, model, overall_of(labels[judged_key(requirement)])
        )
    return replace(table, labels=labels)


def check_possible(
    requirement: Requirement, records: int, model: Model | None = None, overall: Array | None = None
) -> None:
    """Raises if even one group of all records violates a requirement."""
    if records < requirement.k:
        raise DataError(
            f"the table has {numbered(records, 'record')}, fewer than the k = {requirement.k} of "
            f"the requirement on {', '.join(requirement.qid)}"
        )
    if (
        model is not None
        and overall is not None
        and not model.holds(overall[None, :], overall).all()
    ):
        # The name of a model of several columns has their names in it.
        whose = "" if isinstance(model, TupleModel) else f" of '{requirement.sensitive}'"
        raise DataError(f"not even the whole table satisfies {model.name}{whose}")


def judged_key(requirement: Requirement) -> str:
    """The name of the labels that a requirement bounds, in a judged table; no column has this name."""
    return "\0".join(("", *requirement.sensitive_columns))


def condition_of(requirement: Requirement, table: Table) -> Condition:
    """One requirement on a judged table; its model knows which code represents which value."""
    if requirement.model is None:
        return Condition(requirement.qid, requirement.k)
    columns = [table.labels[name] for name in requirement.sensitive_columns]
    labels, model = joined_labels(columns, requirement)
    try:
        model = model.for_values(labels.values)
    except ValueError as error:
        names = ", ".join(requirement.sensitive_columns)
        raise unfit(error, column=names) from None
    return Condition(requirement.qid, requirement.k, ((model, judged_key(requirement)),))


def joint_conditions(requirements: Sequence[Requirement], table: Table) -> list[Condition]:
    """One condition for all requirements that share attributes, directly or through others."""
    found: list[Condition] = []
    for requirement in requirements:
        own = condition_of(requirement, table)
        touching = [other for other in found if set(other.attributes) & set(own.attributes)]
        found = [other for other in found if other not in touching]
        parts = [*touching, own]
        used = {name for part in parts for name in part.attributes}
        found.append(
            Condition(
                tuple(name for name in table.names if name in used),
                max(part.k for part in parts),
                tuple(model for part in parts for model in part.models),
            )
        )
    return found
