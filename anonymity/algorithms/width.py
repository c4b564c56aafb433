"""Mondrian by width: one table is cut into groups, the same release as of a joint job.

Each group is cut along the attribute whose cut loses most width for each pair of records that it
tells apart, into two intervals or into the children of a node; small children stay together as a
rest. Every attribute has one cut of a group, the most even one, so that in a joint job
(`protocols.integration.mondrian`) its owner finds it alone, and the release there equals this one
bit for bit. LeFevre, DeWitt, Ramakrishnan, "Mondrian multidimensional k-anonymity" (ICDE 2006) cut
the attribute that is widest in the group at its median; the score here is new.

Only the best cut of a group is judged by the models of the requirement. If it violates one, its
attribute is struck in this group, and the group stays open. A group is final when no unstruck
attribute has a cut.

Guarantee: every group satisfies every requirement. Not promised: as of `mondrian`. A rest also
reveals that its records have none of the values that went off beside it, and overlaps with them: a
learner must not assume that the values of a column exclude each other.

Cost: n d operations a level, about log2(n/k) levels and a few more.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from coterie.anonymity.algorithms.anonymized import Anonymized
from coterie.anonymity.algorithms.bounds import check_limit, keepable
from coterie.anonymity.algorithms.conditions import Condition, condition_of, judged_table
from coterie.anonymity.cuts.candidates import cutter_of
from coterie.anonymity.cuts.groups import (
    Branch,
    Decision,
    Json,
    Partition,
    Start,
    Strike,
    best_cuts,
    branches_of,
    codes_of_cuts,
    listed,
    start_of,
    started_groups,
)
from coterie.anonymity.cuts.joined import joined
from coterie.anonymity.cuts.judging import forbidden
from coterie.anonymity.cuts.regions import Node, Region, Space, space_of
from coterie.anonymity.cuts.scoring import WIDTH, Scoring
from coterie.anonymity.cuts.tight import boxes_of
from coterie.anonymity.specialization.generalized import GeneralizedTable
from coterie.anonymity.specialization.specialize import Requirement
from coterie.anonymity.specialization.starting import start_codes, start_nodes
from coterie.anonymity.table.columns import CategoricalColumn, Column, ContinuousColumn
from coterie.anonymity.table.table import Generalized, Labels, Table
from coterie.anonymity.table.taxonomy import Taxonomy
from coterie.base.arrays import Array
from coterie.base.errors import DataError


@dataclass(frozen=True)
class WidthOptions:
    score: str = WIDTH
    tight: bool = False
    class_name: str | None = None


def cut_by_width(
    table: Table,
    requirements: Sequence[Requirement],
    most_suppressed: int = 0,
    options: WidthOptions | None = None,
) -> Anonymized:
    """One table cut as far as its requirements allow; only bounds leave records out."""
    chosen = options or WidthOptions()
    starts = {name: _start(table, name) for name in table.at_most}
    bounded = replace(
        table,
        at_most={
            name: tuple(_taxonomy(table, name).labels[node] for node in cut)
            for name, cut in starts.items()
        },
    )
    judged = judged_table(bounded, requirements)
    conditions = conditions_of(judged, requirements)
    kept = keepable(judged, conditions)
    required = ", ".join(f"k = {condition.k}" for condition in conditions)
    check_limit(table.records, table.records - len(kept), most_suppressed, required)
    if not len(kept):
        raise DataError("the bounds in at_most leave no record; permit more general values")
    rest = judged if len(kept) == table.records else judged.take(kept)
    scoring = Scoring(chosen.score, dict(table.priority))
    columns, details = cut_groups(
        rest, conditions, _starts(rest, starts), scoring, chosen.class_name, chosen.tight
    )
    if table.at_most:
        details["bounds_cost"] = table.records - len(kept)
    shown = {name: columns[name] for name in table.names if name in columns}
    return Anonymized("mondrian", table, kept, shown, details)


def cut_further(
    table: Table, requirements: Sequence[Requirement], engine: GeneralizedTable
) -> tuple[dict[str, Generalized], dict[str, Any]]:
    """Cuts the groups of a finished specialization of this table, without the records left out."""
    judged = judged_table(table, requirements)
    starts = {name: start_of(engine, name) for name in engine.names}
    return cut_groups(judged, conditions_of(judged, requirements), starts, Scoring(WIDTH, {}))


def cut_groups(
    table: Table,
    conditions: Sequence[Condition],
    starts: Mapping[str, Start],
    scoring: Scoring,
    class_name: str | None = None,
    tight: bool = False,
) -> tuple[dict[str, Generalized], dict[str, Any]]:
    """The released columns and the tree of cuts of a judged table.

    Start groups that violate their condition, as those of short entries together may after a
    specialization, stay as they are, with all others of the condition.
    """
    spaces = {column.name: space_of(column.tree) for column in table.columns}
    classes = table.labels[class_name] if class_name else None
    columns: dict[str, Generalized] = {}
    tree: list[Json] = []
    parts = 0
    for number, condition in enumerate(conditions):
        names = condition.attributes
        partition = started_groups(names, condition.k, table.records, spaces, starts)
        if not condition.holds(partition.numbers(), table.labels).all():
            partition.close()
        branches = grown(table, number, condition, partition, spaces, scoring, classes)
        tree += [listed(branch, partition.names, spaces) for branch in branches]
        parts += sum(len(regions) for _, regions in partition.final)
        for place, name in enumerate(partition.names):
            part, regions = partition.shown(place, table.records)
            columns[name] = _shown(table.column(name), spaces[name], part, regions, tight)
    tree.sort(key=lambda entry: (entry["level"], entry["condition"]))
    return columns, {"parts": parts, "tree": tree}


def conditions_of(table: Table, requirements: Sequence[Requirement]) -> list[Condition]:
    """One condition for all entries that share attributes, on a judged table."""
    return [
        Condition(
            one.names,
            one.k,
            tuple(
                m for place in one.places for m in condition_of(requirements[place], table).models
            ),
        )
        for one in joined(requirements, table.names)
    ]


def _starts(table: Table, cuts: Mapping[str, Sequence[int]]) -> dict[str, Start]:
    """The values that bounds let the groups begin at."""
    return {
        name: (
            [Node(node) for node in cut],
            start_codes(_taxonomy(table, name), cut, table.column(name).codes),
        )
        for name, cut in cuts.items()
    }


def grown(
    table: Table,
    number: int,
    condition: Condition,
    partition: Partition,
    spaces: Mapping[str, Space],
    scoring: Scoring,
    classes: Labels | None,
) -> list[Branch]:
    """Cuts a condition's groups until all are final; the cuts in their order."""
    cutters = {name: cutter_of(spaces[name], table.column(name)) for name in condition.attributes}
    models = [(model, table.labels[name]) for model, name in condition.models]
    found: list[Branch] = []
    for level in itertools.count(1):
        if not partition.regions:
            return found
        for attribute, name in enumerate(partition.names):
            partition.settle(attribute, partition.settled(attribute, cutters[name]))
        best = best_cuts(partition, spaces, cutters, scoring, classes)
        cuts = {at: cut for at, cut in enumerate(best) if cut is not None}
        codes = codes_of_cuts(partition, cuts, cutters)
        refused = forbidden(partition.open, cuts, codes, models)
        decisions: list[Decision] = [
            Strike(cut.attribute, "") if cut is not None and at in refused else cut
            for at, cut in enumerate(best)
        ]
        found += branches_of(partition, decisions, level, number)
        partition.apply(decisions, codes)
    raise AssertionError


def _start(table: Table, name: str) -> list[int]:
    return start_nodes(_taxonomy(table, name), table.at_most[name])[1]


def _taxonomy(table: Table, name: str) -> Taxonomy:
    column = table.column(name)
    if not isinstance(column, CategoricalColumn):
        raise DataError(f"column '{name}': at_most needs a taxonomy")
    return column.taxonomy


def _shown(
    column: Column, space: Space, part: Array, regions: Sequence[Region], tight: bool
) -> Generalized:
    """The released column; tight boxes show the ends of a group's numbers."""
    if tight and isinstance(column, ContinuousColumn):
        regions = boxes_of(column, part, len(regions))
    number = {region: at for at, region in enumerate(dict.fromkeys(regions))}
    texts = [space.text(region) for region in number]
    label = {text: at for at, text in enumerate(dict.fromkeys(texts))}
    spans = {text: space.codes(column, r) for text, r in zip(texts, number, strict=True)}
    of_part = np.array([label[space.text(region)] for region in regions], np.int64)
    return Generalized(
        of_part[part],
        tuple(label),
        np.array([spans[text][0] for text in label], np.int64),
        np.array([spans[text][1] for text in label], np.int64),
    )
