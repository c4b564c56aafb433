"""`coterie advise TABLE|JOB`: which requirement to write for a table or a joint job.

For a data file the answer is a whole table file; for a table file or a job file it is that file with another
`requirement`. Every line has a comment. What the figures rest on is in `anonymity.risk`: which sets of columns may
single people out (`quasi_identifiers`), how many people a group stands for and how many values each
column may keep (`crowd`), which column a slightly smaller k would permit (`cliffs`).

A job is judged on the joined table, so advice needs the parties' files, as a simulation does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from coterie.anonymity.models.options import OPTIONS
from coterie.anonymity.risk.cliffs import cliffs
from coterie.anonymity.risk.crowd import least_group, most_cells
from coterie.anonymity.risk.quasi_identifiers import Finding, possible
from coterie.anonymity.specialization.specialize import Requirement
from coterie.anonymity.table.columns import Column, categorical_column, continuous_column
from coterie.anonymity.table.table import Labels, Table
from coterie.anonymity.table.taxonomy import Taxonomy
from coterie.base.errors import DataError, UsageError
from coterie.house.coded import CodedTable, coded_table
from coterie.house.prepare import prepare
from coterie.house.proposal import Kept, entry, keep_values, level_sizes, qids_for, written
from coterie.house.table_file import load_table_file, parse_table_file
from coterie.jobs.data.batches import batches, column_names
from coterie.jobs.data.filtered import source_of
from coterie.jobs.data.sources import file_source, require_columns
from coterie.jobs.file.document import Node, read_document
from coterie.jobs.kinds.integrate.job import IntegrateJob, apart_warnings
from coterie.jobs.kinds.job_file import load_job

_NEAR = 0.8  # a k that permits a column at this share of the k asked for is a cliff
_TRIED = 200_000  # records up to which cliffs are looked for
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


@dataclass
class Case:
    """A table, what may stand in a qid, and how the answer is written."""

    table: CodedTable
    candidates: list[str]
    taxonomies: Mapping[str, Taxonomy]
    sensitive: list[str]
    flat: set[str] = field(default_factory=set)
    weights: Mapping[str, float] = field(default_factory=dict)
    present: Sequence[Requirement] = ()
    bound: str = ""  # the sensitive part of an entry, as YAML
    warnings: list[str] = field(default_factory=list)


def smallest_of_policy(path: Path) -> int:
    """`policy.smallest_k` of a party file."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: {getattr(error, 'strerror', None) or 'not UTF-8'}") from None
    node = read_document(text, str(path)).required("policy").section().optional("smallest_k")
    if node is None:
        raise UsageError(f"{path}: its policy has no 'smallest_k'")
    return node.integer(minimum=1)


def advise(path: Path, wishes: Wishes, out: Path | None = None) -> dict[str, Any]:
    """The proposal as YAML and as figures."""
    for name, value in (("alpha", wishes.alpha), ("beta", wishes.beta)):
        if not 0 < value < 1:
            raise UsageError(f"{name} must be between 0 and 1, not {value:g}")
    if path.suffix.lower() not in (".yaml", ".yml"):
        return _for_data(path, wishes, out)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: {getattr(error, 'strerror', None) or 'not UTF-8'}") from None
    if read_document(text, str(path)).optional("kind") is not None:
        return _for_job(path, text, wishes)
    return _for_table_file(path, text, wishes)


def _for_data(path: Path, wishes: Wishes, out: Path | None) -> dict[str, Any]:
    source = file_source(path)
    names = column_names(source)
    chosen = [*wishes.sensitive, *wishes.identifiers, *filter(None, [wishes.class_name])]
    require_columns(chosen, names, str(source))
    table = coded_table(batches(source, names), names, str(source))
    alone = [c.name for c in table.columns if c.distinct == table.records > 1]
    identifiers = list(dict.fromkeys([*wishes.identifiers, *(n for n in alone if n not in chosen)]))
    apart = {*identifiers, *wishes.sensitive, wishes.class_name}
    candidates = [c.name for c in table.columns if c.name not in apart and c.distinct > 1]
    if not candidates:
        raise DataError(f"{source}: no column is left that could be in a qid")
    flat = {n for n in candidates if table.column(n).kind != "number"}
    case = Case(table, candidates, {}, list(wishes.sensitive), flat, bound=_bound(wishes.sensitive))
    plan = _plan(case, wishes)
    place = path if out is None else _relative(path, out.parent)
    lines = [f"data: {written(str(place))}"]
    if identifiers:
        told = "another value in every record: left out"
        lines.append(f"id: [{', '.join(map(written, identifiers))}]  # {told}")
    if wishes.class_name:
        lines.append(f"class: {written(wishes.class_name)}  # released as it is")
    lines.append("attributes:")
    for column in table.columns:
        if column.name in identifiers or column.name == wishes.class_name:
            continue
        in_qid = any(column.name in qid for qid in plan.qids)
        keys = []
        if in_qid and column.name in flat:
            keys.append("flat: true")
        if in_qid and column.missing:
            keys.append("missing: value" if column.name in flat else "missing: drop")
        told = (
            plan.kept[column.name].comment(column.name).partition(": ")[2]
            if in_qid
            else "sensitive: released as it is"
            if column.name in wishes.sensitive
            else "in no qid: released as it is"
        )
        lines.append(f"  {written(column.name)}: {{{', '.join(keys)}}}  # {told}")
    text = "\n".join([*lines, "requirement:", *plan.lines(case.bound)]) + "\n"
    folder = Path() if out is None else out.parent
    return _checked_table(case, plan, text, folder, wishes.class_name)


def _relative(path: Path, folder: Path) -> Path:
    try:
        return path.resolve().relative_to(folder.resolve())
    except ValueError:
        return path.resolve()


def _for_table_file(path: Path, text: str, wishes: Wishes) -> dict[str, Any]:
    file = load_table_file(path)
    names = file.columns
    table = coded_table(batches(file.source, names), names, str(file.source))
    sensitive = list(
        dict.fromkeys(
            [*(n for r in file.requirements for n in r.sensitive_columns), *wishes.sensitive]
        )
    )
    require_columns(sensitive, names, str(path))
    candidates, flat, taxonomies = [], set(), {}
    case_warnings = []
    for attribute in file.attributes:
        if attribute.name in sensitive:
            continue
        usable = attribute.taxonomy or attribute.limits or attribute.flat
        if not usable and table.column(attribute.name).kind != "number":
            case_warnings.append(
                f"'{attribute.name}' is released as it is: it has no taxonomy; 'flat: true' would "
                "let it stand in a qid"
            )
            continue
        candidates.append(attribute.name)
        if attribute.taxonomy is not None:
            taxonomies[attribute.name] = attribute.taxonomy
        if attribute.flat:
            flat.add(attribute.name)
    document = read_document(text, str(path))
    case = Case(
        table,
        candidates,
        taxonomies,
        sensitive,
        flat,
        {a.name: max(a.priority, 1e-6) for a in file.attributes},
        file.requirements,
        _bound_of(document.required("requirement"), sensitive, text),
        case_warnings,
    )
    plan = _plan(case, wishes)
    proposed = _replaced(text, document.required("requirement"), plan.lines(case.bound, True))
    return _checked_table(case, plan, proposed, path.parent, file.class_name)


def _for_job(path: Path, text: str, wishes: Wishes) -> dict[str, Any]:
    job = load_job(path)
    if not isinstance(job, IntegrateJob):
        raise UsageError(f"{path}: a job of kind '{job.kind}' has no requirement to advise on")
    joined = _joined(job, path.parent)
    names = [name for name in joined.column_names if name not in job.matching.columns]
    table = coded_table([joined.select(names)], names, str(path))
    sensitive = list(dict.fromkeys(n for r in job.requirements for n in r.sensitive_columns))
    candidates = [
        a.name
        for a in job.attributes
        if a.name not in sensitive
        and (a.taxonomy or a.limits or table.column(a.name).kind == "number")
    ]
    document = read_document(text, str(path))
    case = Case(
        table,
        candidates,
        {a.name: a.taxonomy for a in job.attributes if a.taxonomy is not None},
        sensitive,
        present=job.requirements,
        bound=_bound_of(document.required("requirement"), sensitive, text),
    )
    plan = _plan(case, wishes)
    proposed = _replaced(text, document.required("requirement"), plan.lines(case.bound, True))

    def prepared() -> tuple[Table, Sequence[Requirement]]:
        needs = [Requirement(qid, plan.k) for qid in plan.qids]
        columns: list[Column] = []
        used = {name for qid in plan.qids for name in qid}
        for attribute in job.attributes:
            if attribute.name in used and attribute.taxonomy is not None:
                columns.append(
                    categorical_column(
                        attribute.name, joined[attribute.name], attribute.taxonomy, str(path)
                    )
                )
            elif attribute.name in used:
                columns.append(
                    continuous_column(
                        attribute.name, joined[attribute.name], attribute.limits, str(path)
                    )
                )
        labels = {}
        if job.class_name is not None:
            column = table.column(job.class_name)
            labels[job.class_name] = Labels(column.codes, tuple(column.values.to_pylist()))
        return Table(tuple(columns), labels), needs

    _look_for_cliffs(case, prepared, job.class_name)
    return _answer(case, plan, proposed)


def _joined(job: IntegrateJob, folder: Path) -> pa.Table:
    """The parties' tables, joined on equal identifiers; the first holder's class."""
    ids = list(job.matching.columns)
    found: pa.Table | None = None
    for party in job.parties:
        source = source_of(party, folder)
        own = [attribute.name for attribute in job.of_party(party.name)]
        if job.class_name in column_names(source) and (
            found is None or job.class_name not in found.column_names
        ):
            own.append(job.class_name or "")
        table = source.read([*ids, *own])
        found = table if found is None else found.join(table, ids, join_type="inner")
    assert found is not None  # noqa: S101
    if not found.num_rows:
        raise DataError(f"{folder}: the parties' tables have no identifier in common")
    return found


@dataclass
class Suggestion:
    """What is proposed, and why."""

    qids: list[tuple[str, ...]]
    k: int
    cells: int
    population: int
    kept: dict[str, Kept]
    minimal: list[Finding]
    why: list[str]

    def lines(self, bound: str, with_columns: bool = False) -> list[str]:
        told = [f"  # {line}" for line in self.why]
        if with_columns:
            told += [f"  # {kept.comment(name)}" for name, kept in self.kept.items()]
        return [*told, *(entry(qid, self.k, bound) for qid in self.qids)]


def _plan(case: Case, wishes: Wishes) -> Suggestion:
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
    minimal = possible(sizes, population, wishes.alpha)
    qids = qids_for(sizes, population, wishes.alpha, wishes.known)
    share = table.records / population
    from_crowd = least_group(wishes.crowd, wishes.beta, share)
    k = max(wishes.smallest_k, from_crowd)
    if k > table.records:
        raise DataError(
            f"{table.source}: has {table.records} records, fewer than the k = {k} to propose"
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
    if wishes.known is not None:
        why.append(f"for somebody who knows at most {wishes.known} columns of a person")
    reason = (
        f"a group of {from_crowd} represents {wishes.crowd} people with probability "
        f"{1 - wishes.beta:g}"
        if share < 1
        else f"{wishes.crowd} people have the values of every record"
    )
    why.append(f"k = {k}: {reason}; the smallest allowed is {wishes.smallest_k}")
    why.append(f"about {cells:,} combinations can be told apart so that every record has its crowd")
    return Suggestion(qids, k, cells, population, kept, minimal, why)


def _bound(sensitive: Sequence[str]) -> str:
    """At least two different values of a sensitive column in every group."""
    if not sensitive:
        return ""
    names = ", ".join(map(written, sensitive))
    return f"sensitive: {names if len(sensitive) == 1 else f'[{names}]'}, l: 2"


def _bound_of(node: Node, sensitive: Sequence[str], text: str) -> str:
    """What the file says of its one sensitive column, as it stands; several are bounded together."""
    parts: list[str] = []
    for item in node.items():
        section = item.section()
        for key in ("sensitive", *OPTIONS):
            value = section.optional(key)
            if value is not None and not any(part.startswith(f"{key}:") for part in parts):
                written_as = text[value.raw.start_mark.index : value.raw.end_mark.index]
                parts.append(f"{key}: {' '.join(written_as.split())}")
        if parts:
            named = section.optional("sensitive")
            same = named is not None and set(named.texts()) == set(sensitive)
            return ", ".join(parts) if same else _bound(sensitive)
    return _bound(sensitive)


def _replaced(text: str, node: Node, lines: Sequence[str]) -> str:
    """The file with another list under `requirement`."""
    begin, end = node.raw.start_mark.index, node.raw.end_mark.index
    head, rest = text[:begin].rstrip(), text[end:].lstrip("\n")
    return head + "\n" + "\n".join(lines) + "\n" + rest


def _checked_table(
    case: Case, plan: Suggestion, text: str, folder: Path, class_name: str | None
) -> dict[str, Any]:
    """The proposal is read as `coterie anonymise` reads it before it is given out."""
    file = parse_table_file(text, folder, "the proposed table file")

    def prepared() -> tuple[Table, Sequence[Requirement]]:
        return prepare(file).table, [Requirement(r.qid, r.k) for r in file.requirements]

    _look_for_cliffs(case, prepared, class_name)
    return _answer(case, plan, text)


def _look_for_cliffs(case: Case, prepared: Any, class_name: str | None) -> None:
    if case.table.records > _TRIED:
        case.warnings.append(f"cliffs were not looked for: more than {_TRIED:,} records")
        return
    try:
        table, requirements = prepared()
    except DataError as error:
        case.warnings.append(f"the table must be mended first: {error}")
        return
    score = "gain-ratio" if class_name else "discernibility"
    for cliff in cliffs(table, requirements, class_name, score):
        if cliff.permitted >= _NEAR * cliff.k:
            case.warnings.append(
                f"k = {cliff.permitted} would permit {cliff.attribute}, which k = {cliff.k} does "
                "not show at all when the table is specialized"
            )


def _answer(case: Case, plan: Suggestion, text: str) -> dict[str, Any]:
    warnings = [*_covered(case.present), *apart_warnings(case.present), *case.warnings]
    if len(case.sensitive) > 1 and not any(" joined " in w for w in warnings):
        warnings.append(
            f"{', '.join(case.sensitive)}: each may be diverse alone and not together; the entries "
            "bound them together"
        )
    guarded = [set(requirement.qid) for requirement in case.present]
    bare = [f for f in plan.minimal if not any(set(f.columns) <= qid for qid in guarded)]
    if case.present and bare:
        warnings.append(
            f"the requirement so far has no qid with {', '.join(bare[0].columns)}, which may single "
            f"people out, and {len(bare) - 1:,} more such sets"
        )
    told = "".join(f"# warning: {' '.join(w.split())}\n" for w in warnings)
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
        "quasi_identifiers": [list(finding.columns) for finding in plan.minimal],
        "warnings": warnings,
        "yaml": told + text,
    }


def _covered(requirements: Sequence[Requirement]) -> list[str]:
    """Entries that another one implies."""
    found = []
    for i, one in enumerate(requirements):
        for j, other in enumerate(requirements):
            wider = set(one.qid) < set(other.qid) or (set(one.qid) == set(other.qid) and j < i)
            if i != j and wider and one.k <= other.k and one.model is None:
                found.append(
                    f"requirement: entry {i + 1} ({', '.join(one.qid)}, k = {one.k}) is covered by "
                    f"entry {j + 1}"
                )
                break
    return found
