"""`coterie advise TABLE|JOB`: which requirement to write for a table or a joint job.

For a data file the answer is a whole table file; for a table file or a job file it is that file
with another `requirement`. Every line has a comment. This module reads the three kinds of files
and writes the answer; `onetable.advice.suggestion` says what to propose.

A job is judged on the joined table, so advice needs the parties' files, as a simulation does; or the
result of an `identify` job about the same columns, which has the numbers that advice rests on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from coterie.anonymity.algorithms.comparison import OF_JOBS, OF_TABLES, Tried
from coterie.anonymity.models.options import OPTIONS
from coterie.anonymity.specialization.specialize import Requirement
from coterie.anonymity.table.table import Labels, Table
from coterie.base.errors import DataError, UsageError
from coterie.jobs.data.batches import batches, column_names
from coterie.jobs.data.own_columns import qid_column
from coterie.jobs.data.require import require_columns
from coterie.jobs.data.sources import Source, file_source
from coterie.jobs.file.document import Node, read_document, read_text
from coterie.jobs.file.result_file import read_claims
from coterie.jobs.kinds.identify.verify_sets import read_sets
from coterie.jobs.kinds.integrate.cuts.keys import SPECIALIZE
from coterie.jobs.kinds.integrate.job import IntegrateJob
from coterie.jobs.kinds.job_file import load_job
from coterie.onetable.advice.joined import joined_tables
from coterie.onetable.advice.proposal import written
from coterie.onetable.advice.suggestion import (
    Case,
    CountedTable,
    Suggestion,
    Wishes,
    add_cliffs,
    add_methods,
    answer,
    suggest,
)
from coterie.onetable.coded import CodedTable, coded_table
from coterie.onetable.methods.reading import load_table_file, parse_table_file
from coterie.onetable.methods.registry import table_method
from coterie.onetable.table_file import TableFile

_TELLS_APART = 0.999  # a set that tells so many pairs apart is mentioned


def smallest_of_policy(path: Path) -> int:
    """`policy.smallest_k` of a party file."""
    text = read_text(path)
    node = read_document(text, str(path)).required("policy").section().optional("smallest_k")
    if node is None:
        raise UsageError(f"{path}: its policy has no 'smallest_k'")
    return node.integer(minimum=1)


def advise(
    path: Path, wishes: Wishes, out: Path | None = None, identified: Path | None = None
) -> dict[str, Any]:
    """The proposal as YAML and as figures; `identified` is the result folder of an `identify` job."""
    if path.suffix.lower() not in (".yaml", ".yml"):
        if identified is not None:
            raise UsageError(f"{path}: the result of an identify job needs a job file")
        return _for_data(path, wishes, out)
    text = read_text(path)
    if read_document(text, str(path)).optional("kind") is not None:
        if identified is not None:
            return _for_identified(path, text, wishes, identified)
        return _for_job(path, text, wishes)
    if identified is not None:
        raise UsageError(f"{path}: the result of an identify job needs a job file")
    return _for_table_file(path, text, wishes)


def proposed_table(path: Path, wishes: Wishes) -> TableFile:
    """The table file for a data file, where the wishes leave something open by the advice."""
    _, _, text = _proposed(path, wishes, None)
    return parse_table_file(text, Path(), str(path))


def _for_data(path: Path, wishes: Wishes, out: Path | None) -> dict[str, Any]:
    case, plan, text = _proposed(path, wishes, out)
    folder = Path() if out is None else out.parent
    return _checked_table(case, plan, text, folder, wishes.class_name)


def advise_source(source: Source, data: str, wishes: Wishes, folder: Path) -> dict[str, Any]:
    """The proposal for a source; `data` is the key of this name as a table file in `folder` has it."""
    case, plan, text = _proposed_for(source, data, wishes)
    return _checked_table(case, plan, text, folder, wishes.class_name, source)


def _proposed(path: Path, wishes: Wishes, out: Path | None) -> tuple[Case, Suggestion, str]:
    """What is proposed for a data file, and the text of its table file."""
    place = path if out is None else _relative(path, out.parent)
    return _proposed_for(file_source(path), written(str(place)), wishes)


def _proposed_for(source: Source, data: str, wishes: Wishes) -> tuple[Case, Suggestion, str]:
    names = column_names(source)
    chosen = [*wishes.sensitive, *wishes.identifiers, *filter(None, [wishes.class_name])]
    chosen += wishes.qid
    require_columns(chosen, names, str(source))
    table = coded_table(batches(source, names), names, str(source))
    alone = [c.name for c in table.columns if c.distinct == table.records > 1]
    identifiers = list(dict.fromkeys([*wishes.identifiers, *(n for n in alone if n not in chosen)]))
    apart = {*identifiers, *wishes.sensitive, wishes.class_name}
    if wrong := [name for name in wishes.qid if name in apart]:
        raise UsageError(
            f"'{wrong[0]}' cannot be in the qid and an identifier, sensitive or the class"
        )
    candidates = list(wishes.qid) or [
        c.name for c in table.columns if c.name not in apart and c.distinct > 1
    ]
    if not candidates:
        raise DataError(f"{source}: no column is left that could be in a qid")
    flat = {n for n in candidates if table.column(n).kind not in ("number", "date")}
    case = Case(table, candidates, {}, list(wishes.sensitive), flat, bound=_bound(wishes.sensitive))
    plan = suggest(case, wishes)
    lines = [f"data: {data}"]
    if identifiers:
        comment = "a different value in every record: left out"
        lines.append(f"id: [{', '.join(map(written, identifiers))}]  # {comment}")
    if wishes.class_name:
        lines.append(f"class: {written(wishes.class_name)}  # released unchanged")
    lines.append("attributes:")
    for column in table.columns:
        if column.name in identifiers or column.name == wishes.class_name:
            continue
        in_qid = any(column.name in qid for qid in plan.qids)
        keys = []
        if in_qid and column.name in flat:
            keys.append("flat: true")
        if in_qid and column.kind == "date":
            keys.append(f"type: {column.type_of_dates}")
        if in_qid and column.missing:
            keys.append("missing: value" if column.name in flat else "missing: drop")
        comment = (
            plan.kept[column.name].comment(column.name).partition(": ")[2]
            if in_qid
            else "sensitive: released unchanged"
            if column.name in wishes.sensitive
            else "in no qid: released unchanged"
        )
        lines.append(f"  {written(column.name)}: {{{', '.join(keys)}}}  # {comment}")
    return case, plan, "\n".join([*lines, "requirement:", *plan.lines(case.bound)]) + "\n"


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
        usable = attribute.taxonomy or attribute.limits or attribute.flat or attribute.type
        if not usable and table.column(attribute.name).kind != "number":
            case_warnings.append(
                f"'{attribute.name}' is released unchanged: it has no taxonomy; 'flat: true' would "
                "let it stand in a qid"
            )
            continue
        candidates.append(attribute.name)
        if attribute.taxonomy is not None:
            taxonomies[attribute.name] = attribute.taxonomy
        if attribute.flat:
            flat.add(attribute.name)
    document = read_document(text, str(path))
    node = document.optional("requirement")
    case = Case(
        table,
        candidates,
        taxonomies,
        sensitive,
        flat,
        {a.name: max(a.priority, 1e-6) for a in file.attributes},
        file.requirements,
        "" if node is None else _bound_of(node, sensitive, text),
        case_warnings,
    )
    plan = suggest(case, wishes)
    if own_qids := table_method(file.method).own_qids:
        plan.qids = list(dict.fromkeys(requirement.qid for requirement in file.requirements))
        plan.why.append(f"{own_qids}: only k is proposed")
        plan.kept.clear()
    if node is None:
        proposed = _with_k(text, document.required("k"), plan)
    else:
        proposed = _replaced(text, node, plan.lines(case.bound, True))
    return _checked_table(case, plan, proposed, path.parent, file.class_name)


def _for_job(path: Path, text: str, wishes: Wishes) -> dict[str, Any]:
    job = load_job(path)
    if not isinstance(job, IntegrateJob):
        raise UsageError(f"{path}: a job of kind '{job.kind}' has no requirement to advise on")
    case, joined = _case_of_job(job, path, text)
    plan = suggest(case, wishes)
    node = read_document(text, str(path)).required("requirement")
    proposed = _replaced(text, node, plan.lines(case.bound, True))

    prepared = _prepared(job, path, case, plan, joined)
    add_methods(case, prepared, job.class_name, OF_JOBS)
    if job.method == SPECIALIZE:  # a cut of a few people is never far below k
        add_cliffs(case, prepared, job.class_name)
    return answer(case, plan, proposed)


def proposed_for_job(
    job: IntegrateJob, path: Path, text: str, wishes: Wishes
) -> tuple[Suggestion, list[Tried]]:
    """What is proposed for a job whose tables are at hand; `path` is the place of the job file."""
    case, joined = _case_of_job(job, path, text)
    plan = suggest(case, wishes)
    add_methods(case, _prepared(job, path, case, plan, joined), job.class_name, OF_JOBS)
    return plan, case.methods


def _prepared(
    job: IntegrateJob, path: Path, case: Case, plan: Suggestion, joined: pa.Table
) -> Callable[[], tuple[Table, Sequence[Requirement]]]:
    """The joined table as the methods read it, and the proposed requirement."""

    def prepared() -> tuple[Table, Sequence[Requirement]]:
        needs = [Requirement(qid, plan.k) for qid in plan.qids]
        used = {name for qid in plan.qids for name in qid}
        columns = [
            qid_column(attribute, joined[attribute.name], str(path))
            for attribute in job.attributes
            if attribute.name in used
        ]
        labels = {}
        if job.class_name is not None:
            assert isinstance(case.table, CodedTable)  # noqa: S101
            column = case.table.column(job.class_name)
            labels[job.class_name] = Labels(column.codes, tuple(column.values.to_pylist()))
        return Table(tuple(columns), labels), needs

    return prepared


def _case_of_job(job: IntegrateJob, path: Path, text: str) -> tuple[Case, pa.Table]:
    """What advice on a job rests on, and the parties' joined table."""
    joined = joined_tables(job, path.parent)
    names = [name for name in joined.column_names if name not in job.matching.columns]
    table = coded_table([joined.select(names)], names, str(path))
    sensitive = list(dict.fromkeys(n for r in job.requirements for n in r.sensitive_columns))
    candidates = [
        a.name
        for a in job.attributes
        if a.name not in sensitive
        and (a.taxonomy or a.limits or a.flat or a.type or table.column(a.name).kind == "number")
    ]
    case = Case(
        table,
        candidates,
        {a.name: a.taxonomy for a in job.attributes if a.taxonomy is not None},
        sensitive,
        {a.name for a in job.attributes if a.flat},
        present=job.requirements,
        bound=_bound_of(read_document(text, str(path)).required("requirement"), sensitive, text),
    )
    return case, joined


def _for_identified(path: Path, text: str, wishes: Wishes, folder: Path) -> dict[str, Any]:
    """The job's requirement from the numbers of an `identify` result, without anybody's table."""
    job = load_job(path)
    if not isinstance(job, IntegrateJob):
        raise UsageError(f"{path}: a job of kind '{job.kind}' has no requirement to advise on")
    result = read_claims(folder)
    distinct = {n: size.integer(1) for n, size in result.entry("distinct").entries().items()}
    if (records := result.optional("records")) is None:
        raise UsageError(f"{folder}: the identify job matched no records; give it an 'id'")
    sensitive = list(dict.fromkeys(n for r in job.requirements for n in r.sensitive_columns))
    candidates = [
        a.name
        for a in job.attributes
        if a.name not in sensitive and a.name in distinct and (a.taxonomy or a.limits)
    ]
    document = read_document(text, str(path))
    case = Case(
        CountedTable(str(folder), records.integer(1), distinct),
        candidates,
        {a.name: a.taxonomy for a in job.attributes if a.taxonomy is not None},
        sensitive,
        present=job.requirements,
        bound=_bound_of(document.required("requirement"), sensitive, text),
    )
    unknown = [a.name for a in job.attributes if a.name not in distinct]
    if unknown:
        case.warnings.append(f"the identify job has not looked at {', '.join(unknown)}")
    people = wishes.population or result.entry("population").integer(1)
    plan = suggest(case, replace(wishes, population=people))
    for one in read_sets(result):
        if one.separation is not None and one.separation >= _TELLS_APART:
            plan.why.append(
                f"{', '.join(one.columns)} tell {one.separation:.2%} of pairs of people apart"
            )
    proposed = _replaced(text, document.required("requirement"), plan.lines(case.bound, True))
    return answer(case, plan, proposed)


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


def _with_k(text: str, node: Node, plan: Suggestion) -> str:
    """The file of a condensation with another k, and the reasons above its line."""
    begin, end = node.raw.start_mark.index, node.raw.end_mark.index
    line = text.rfind("\n", 0, begin) + 1
    comment = "".join(f"# {reason}\n" for reason in plan.why)
    return f"{text[:line]}{comment}{text[line:begin]}{plan.k}{text[end:]}"


def _replaced(text: str, node: Node, lines: Sequence[str]) -> str:
    """The file with another list under `requirement`."""
    begin, end = node.raw.start_mark.index, node.raw.end_mark.index
    head, rest = text[:begin].rstrip(), text[end:].lstrip("\n")
    return head + "\n" + "\n".join(lines) + "\n" + rest


def _checked_table(
    case: Case,
    plan: Suggestion,
    text: str,
    folder: Path,
    class_name: str | None,
    source: Source | None = None,
) -> dict[str, Any]:
    """The proposal is read as `coterie anonymise` reads it before it is given out."""
    file = parse_table_file(text, folder, "the proposed table file")
    file = file if source is None else replace(file, source=source)

    def prepared() -> tuple[Table, Sequence[Requirement]]:
        return table_method(file.method).prepared(file).table, [
            Requirement(r.qid, r.k) for r in file.requirements
        ]

    if not table_method(file.method).own_qids:
        add_methods(case, prepared, class_name, OF_TABLES)
        add_cliffs(case, prepared, class_name)
    return answer(case, plan, text) | {"identifiers": list(file.identifiers)}
