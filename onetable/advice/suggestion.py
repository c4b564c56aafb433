"""What `coterie advise` suggests for one case, and why.

What the figures rest on is in `anonymity.risk`: which sets of columns may single people out
(`quasi_identifiers`), how many people a group stands for and how many values each column may keep
(`crowd`), which column a slightly smaller k would permit (`cliffs`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from coterie.anonymity.algorithms.comparison import MOST_RECORDS, Tried, Way, advised, compared
from coterie.anonymity.risk.cliffs import cliffs
from coterie.anonymity.risk.crowd import least_group, most_cells
from coterie.anonymity.risk.quasi_identifiers import Search, cut_off, possible, values_in_population
from coterie.anonymity.specialization.specialize import Requirement
from coterie.anonymity.table.table import Table
from coterie.anonymity.table.taxonomy import Taxonomy
from coterie.base.errors import DataError, UsageError
from coterie.base.text import numbered
from coterie.jobs.data.released.together import together_warnings
from coterie.jobs.kinds.integrate.cuts.keys import long_warnings
from coterie.jobs.kinds.integrate.requirement_warnings import apart_warnings, covered_warnings
from coterie.onetable.advice.proposal import Kept, entry, keep_values, level_sizes, qids_for
from coterie.onetable.coded import CodedTable

_NEAR = 0.8  # a k that permits a column at this share of the k asked for is a cliff
_TRIED = 200_000  # records up to which cliffs are looked for
_VALUES = 2_000  # different values of a column up to which cliffs are looked for
_SHOWN = 5


@dataclass(frozen=True)
class Wishes:
    """What the steward says; docs/one-table.md has the meaning of each."""

    population: int | None = None
    alpha: float = 0.2
    beta: float = 0.1
    crowd: int = 10
    smallest_k: int = 5
    known: int | None = None
    sensitive: tuple[str, ...] = ()
    class_name: str | None = None
    identifiers: tuple[str, ...] = ()
    qid: tuple[str, ...] = ()  # the columns of the one qid, instead of those to propose
    k: int | None = None  # instead of that to propose


@dataclass(frozen=True)
class CountedColumn:
    """`distinct` is that of the population already."""

    distinct: int
    once: int = 0


@dataclass(frozen=True)
class CountedTable:
    """A joined table of which only numbers are known, as an `identify` job tells them."""

    source: str
    records: int
    values: Mapping[str, int]

    def column(self, name: str) -> CountedColumn:
        return CountedColumn(self.values[name])


@dataclass
class Case:
    """A table, what may stand in a qid, and how the answer is written."""

    table: CodedTable | CountedTable
    candidates: list[str]
    taxonomies: Mapping[str, Taxonomy]
    sensitive: list[str]
    flat: set[str] = field(default_factory=set)
    weights: Mapping[str, float] = field(default_factory=dict)
    present: Sequence[Requirement] = ()
    bound: str = ""  # the sensitive part of an entry, as YAML
    warnings: list[str] = field(default_factory=list)
    methods: list[Tried] = field(default_factory=list)  # the one that keeps most first


@dataclass
class Suggestion:
    """What is proposed, and why."""

    qids: list[tuple[str, ...]]
    k: int
    cells: int
    population: int
    kept: dict[str, Kept]
    search: Search
    why: list[str]

    def lines(self, bound: str, with_columns: bool = False) -> list[str]:
        comments = [f"  # {line}" for line in self.why]
        if with_columns:
            comments += [f"  # {kept.comment(name)}" for name, kept in self.kept.items()]
        return [*comments, *(entry(qid, self.k, bound) for qid in self.qids)]


def suggest(case: Case, wishes: Wishes) -> Suggestion:
    """Which sets of columns to guard with which k, and how many values each column may keep."""
    for name, value in (("alpha", wishes.alpha), ("beta", wishes.beta)):
        if not 0 < value < 1:
            raise UsageError(f"{name} must be between 0 and 1, not {value:g}")
    table = case.table
    population = wishes.population or table.records
    if population < table.records:
        raise UsageError(
            f"a population of {population:,} is smaller than the table, which has "
            f"{table.records:,} records"
        )
    sizes = {
        name: len(case.taxonomies[name].leaves)
        if name in case.taxonomies
        else table.column(name).distinct
        for name in case.candidates
    }
    if not sizes:
        raise DataError(f"{table.source}: no column could be in a qid")
    everywhere = {name: _in_population(case, name, sizes[name], wishes) for name in sizes}
    search = possible(everywhere, population, wishes.alpha)
    minimal = search.sets
    qids = [wishes.qid] if wishes.qid else []
    qids = qids or qids_for(everywhere, population, wishes.alpha, wishes.known)
    share = table.records / population
    from_crowd = least_group(wishes.crowd, wishes.beta, share)
    k = wishes.k or max(wishes.smallest_k, from_crowd)
    if k > table.records:
        raise DataError(
            f"{table.source}: has {numbered(table.records, 'record')}, fewer than the k = {k} to propose"
        )
    cells = min(most_cells(population, wishes.crowd, wishes.beta), table.records // k)
    used = {name: sizes[name] for name in case.candidates if any(name in qid for qid in qids)}
    levels = {
        name: level_sizes(case.taxonomies[name]) if name in case.taxonomies else [sizes[name], 1]
        for name in used
        if name in case.taxonomies or name in case.flat
    }
    kept = keep_values(cells, used, levels, case.weights)
    who = f"{population:,} people" if wishes.population else f"the table's {population:,} records"
    why = []
    if minimal:
        shown = "; ".join(", ".join(f.columns) for f in minimal[:_SHOWN])
        more = f" and {len(minimal) - _SHOWN:,} more" if len(minimal) > _SHOWN else ""
        why.append(f"sets that may single out {wishes.alpha:.0%} of {who}: {shown}{more}")
    else:
        why.append(f"no set of columns may single out {wishes.alpha:.0%} of {who}")
    if not search.complete:
        why.append(cut_off(search.as_dict()))
    if wishes.known is not None:
        why.append(f"for somebody who knows at most {wishes.known} columns of a person")
        if len(qids) == 1 and len(qids[0]) > wishes.known:
            why.append("one qid has all columns: the sets of so many columns are too many, or none")
    reason = (
        f"a group of {from_crowd} represents {wishes.crowd} people with probability "
        f"{1 - wishes.beta:g}"
        if share < 1
        else f"{wishes.crowd} people have the values of every record"
    )
    why.append(f"k = {k}: {reason}; the smallest allowed is {wishes.smallest_k}")
    why.append(
        f"about {cells:,} combinations can be shown while every record is one of at least that many"
    )
    return Suggestion(qids, k, cells, population, kept, search, why)


def _in_population(case: Case, name: str, size: int, wishes: Wishes) -> int:
    """How many values a column may have among all people: those of its taxonomy, or an estimate."""
    column, records = case.table.column(name), case.table.records
    if name in case.taxonomies:
        return size
    people = wishes.population or records
    return values_in_population(
        column.distinct, column.once / records, records, people, wishes.alpha
    )


def add_cliffs(
    case: Case,
    prepared: Callable[[], tuple[Table, Sequence[Requirement]]],
    class_name: str | None,
) -> None:
    """Warns of columns that a slightly smaller k would show; `prepared` gives what to try it on."""
    if case.table.records > _TRIED:
        case.warnings.append(f"cliffs were not looked for: more than {_TRIED:,} records")
        return
    try:
        table, requirements = prepared()
    except DataError as error:
        case.warnings.append(f"the table must be mended first: {error}")
        return
    for column in table.columns:
        if column.size > _VALUES:
            case.warnings.append(
                f"cliffs were not looked for: {column.name} has more than {_VALUES:,} values"
            )
            return
    score = "gain-ratio" if class_name else "discernibility"
    for cliff in cliffs(table, requirements, class_name, score):
        if cliff.permitted >= _NEAR * cliff.k:
            case.warnings.append(
                f"k = {cliff.permitted} would permit {cliff.attribute}, which k = {cliff.k} does "
                "not show at all when the table is specialized"
            )


def add_methods(
    case: Case,
    prepared: Callable[[], tuple[Table, Sequence[Requirement]]],
    class_name: str | None,
    ways: Mapping[str, Way],
) -> None:
    """Tries the methods on what `prepared` gives, with k alone."""
    if case.table.records > MOST_RECORDS:
        case.warnings.append(f"methods were not compared: more than {MOST_RECORDS:,} records")
        return
    try:
        table, requirements = prepared()
    except DataError as error:
        case.warnings.append(f"methods were not compared: {error}")
        return
    known = class_name if class_name in table.labels else None
    case.methods = compared(table, requirements, known, ways)
    if case.methods and case.methods[0].cuts_groups:
        case.warnings += long_warnings(requirements)


def answer(case: Case, plan: Suggestion, text: str) -> dict[str, Any]:
    """The suggestion as YAML, with its warnings as comments, and as figures."""
    proposed = [Requirement(qid, plan.k) for qid in plan.qids]
    warnings = [*covered_warnings(case.present), *apart_warnings(case.present), *case.warnings]
    warnings += together_warnings(proposed) or (
        [
            f"the requirement so far: {w.removeprefix('requirement: ')}"
            for w in together_warnings(case.present)
        ]
    )
    if len(case.sensitive) > 1 and not any(" joined " in w for w in warnings):
        warnings.append(
            f"{', '.join(case.sensitive)}: each may be diverse alone and not together; the entries "
            "bound them together"
        )
    guarded = [set(requirement.qid) for requirement in case.present]
    bare = [f for f in plan.search.sets if not any(set(f.columns) <= qid for qid in guarded)]
    if case.present and bare:
        warnings.append(
            f"the requirement so far has no qid with {', '.join(bare[0].columns)}, which may single "
            f"people out, and {len(bare) - 1:,} more such sets"
        )
    comments = "".join(f"# warning: {' '.join(w.split())}\n" for w in warnings)
    comments += "".join(f"# {line}\n" for line in advised(case.methods))
    return {
        "requirement": [
            {
                "qid": list(qid),
                "k": plan.k,
                **({"sensitive": case.sensitive} if case.sensitive else {}),
            }
            for qid in plan.qids
        ],
        "k": plan.k,
        "population": plan.population,
        "cells": plan.cells,
        "keep": {
            name: {"values": kept.values, "keep": kept.keep, "level": kept.level}
            for name, kept in plan.kept.items()
        },
        "quasi_identifiers": [list(finding.columns) for finding in plan.search.sets],
        "searched": plan.search.as_dict(),
        "methods": [one.as_dict() for one in case.methods],
        "warnings": warnings,
        "yaml": comments + text,
    }
