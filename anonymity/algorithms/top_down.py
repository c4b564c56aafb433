"""Top-down specialization of one table, with the interface of the other methods.

Fung, Wang, Yu, "Top-down specialization for information and privacy preservation" (ICDE 2005). The
algorithm is `specialization.specialize`, which joint jobs run too: all values start at the topmost
value, and the best valid specialization is done first, where the best is the one that helps a
classifier most. The algorithm recodes whole columns, but by values rather than levels: Europe may
be shown beside Canada.

Guarantee: every requirement holds, and no single further specialization would satisfy them all and
improve the score. Cost: records times attributes in each step. Errata: those that
`specialization.specialize` documents.

With `refine: columns` the search goes on by the score of discernibility; with `refine: groups` the
groups of the result are then cut one by one (`width`).

Bounds on generalization set where the algorithm starts (`specialization.starting`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from coterie.anonymity.algorithms.anonymized import Anonymized
from coterie.anonymity.algorithms.bounds import check_limit, keepable
from coterie.anonymity.algorithms.conditions import condition_of, judged_table
from coterie.anonymity.algorithms.width import cut_further
from coterie.anonymity.specialization.generalized import GeneralizedTable
from coterie.anonymity.specialization.scores import COLUMNS, GROUPS, SCALE
from coterie.anonymity.specialization.specialize import Requirement
from coterie.anonymity.specialization.starting import StartedSpecializer, start_nodes
from coterie.anonymity.table.columns import CategoricalColumn, Column
from coterie.anonymity.table.table import Generalized, Table
from coterie.base.distinct import distinct, ranks
from coterie.base.errors import DataError, UsageError


@dataclass(frozen=True)
class SpecializeOptions:
    """`refine` adds a second phase: of `columns` without regard to the class, or of `groups`."""

    score: str = "gain-ratio"
    refine: str | None = None


def specialize_table(
    table: Table,
    requirements: Sequence[Requirement],
    most_suppressed: int = 0,
    class_name: str | None = None,
    options: SpecializeOptions | None = None,
) -> Anonymized:
    """One table specialized as far as its requirements allow."""
    chosen = options or SpecializeOptions()
    models = any(requirement.model for requirement in requirements)
    if most_suppressed and models and not table.at_most:
        raise UsageError(
            "max_suppression is only for requirements on k alone: leaving records out can break a condition on a "
            "sensitive column"
        )
    starts = {name: start_cut(table, name) for name in table.at_most}
    judged = judged_table(
        replace(table, at_most={name: labels for name, (_, labels) in starts.items()}), requirements
    )
    conditions = [condition_of(requirement, judged) for requirement in requirements]
    kept = keepable(judged, conditions)
    gone = table.records - len(kept)
    required = ", ".join(f"k = {condition.k}" for condition in conditions)
    check_limit(table.records, gone, most_suppressed, required)
    if not len(kept):
        raise DataError("the bounds in at_most leave no record; permit more general values")
    rest = table.take(kept)  # a copy of the interval trees, because they grow
    used = {name for requirement in requirements for name in requirement.qid}
    columns = {column.name: column for column in rest.columns if column.name in used}
    engine = StartedSpecializer(
        {name: column.tree for name, column in columns.items()},
        columns,
        rest.labels,
        requirements,
        rest.records,
        class_name,
        chosen.score,
        0 if models else most_suppressed - gone,
    )
    for attribute, node in engine.steps({name: nodes for name, (nodes, _) in starts.items()}):
        engine.follow(engine.forced(attribute, node))
    engine.begun()
    _run(engine)
    if chosen.refine == COLUMNS:
        engine.refine()
        _run(engine)
    rows = kept[engine.kept] if engine.suppressed else kept
    winners = [
        {
            "attribute": winner.attribute,
            "value": winner.value,
            "children": list(winner.children),
            "score": winner.score / SCALE,
            **({"phase": winner.phase} if chosen.refine else {}),
        }
        for winner in engine.winners
    ]
    details: dict[str, Any] = {"winners": winners, "cut": engine.cut}
    if chosen.refine == GROUPS:
        shown, more = cut_further(table.take(rows), requirements, engine)
        details |= more
    else:
        shown = {name: shown_column(engine, column) for name, column in columns.items()}
    if table.at_most:
        details["bounds_cost"] = gone
    return Anonymized("specialize", table, rows, shown, details)


def _run(engine: StartedSpecializer) -> None:
    """Specializes until no candidate is left."""
    while (candidate := engine.propose()) is not None:
        engine.apply(engine.instruction(candidate))


def start_cut(table: Table, name: str) -> tuple[list[int], tuple[str, ...]]:
    """The values to specialize first, parents first; and the values of the cut after that."""
    column = table.column(name)
    if not isinstance(column, CategoricalColumn):
        raise DataError(f"column '{name}': at_most needs a taxonomy")
    above, cut = start_nodes(column.taxonomy, table.at_most[name])
    return above, tuple(column.taxonomy.labels[node] for node in cut)


def shown_column(engine: GeneralizedTable, column: Column) -> Generalized:
    """A column as a specialization shows it; the column may have records that were left out."""
    attribute = engine.names.index(column.name)
    every = engine.partitions.generalized(attribute)
    if engine.suppressed:
        every = every[engine.kept]
    nodes, codes = distinct(every), ranks(every)
    spans = [column.span(node) for node in nodes.tolist()]
    return Generalized(
        codes,
        tuple(column.tree.label(node) for node in nodes.tolist()),
        np.array([first for first, _ in spans], np.int64),
        np.array([last for _, last in spans], np.int64),
    )
