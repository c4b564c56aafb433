"""A first job file of kind `integrate`: one anonymous table of the columns of several parties."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from coterie.anonymity.algorithms.comparison import Tried, advised
from coterie.base.errors import UsageError
from coterie.jobs.kinds.integrate.job import IntegrateJob
from coterie.jobs.kinds.job_file import parse_job
from coterie.jobs.matching.identifiers import Matching
from coterie.jobs.matching.would_match import would_match
from coterie.onetable.advice.advise import proposed_for_job
from coterie.onetable.advice.proposal import written
from coterie.onetable.advice.suggestion import Wishes
from coterie.onetable.coded import CodedColumn
from coterie.onetable.starting.look import Looked, common_id, roles


@dataclass(frozen=True)
class JobPlan:
    """What the analyst has said about a job."""

    tables: Mapping[str, Looked]
    addresses: Mapping[str, str]
    identifiers: tuple[str, ...] = ()
    class_name: str | None = None
    name: str = "first-job"
    wishes: Wishes = field(default_factory=Wishes)


def job_text(plan: JobPlan, out: Path) -> str:
    """The text of the job file `out`."""
    if len(plan.tables) < 2:
        raise UsageError("a job has at least two parties: NAME=TABLE NAME=TABLE")
    identifiers = plan.identifiers or (common_id(list(plan.tables.values())),)
    head = _head(plan, identifiers, out)
    attributes, names = _attributes(plan, identifiers)
    if not names:
        raise UsageError("no column is left that could be released; name the class and the id")
    listed = ", ".join(map(written, names))
    draft = [
        *head,
        "method: mondrian",
        *attributes,
        "requirement:",
        f"  - {{qid: [{listed}], k: 2}}",
    ]
    job = parse_job("\n".join(draft) + "\n", {})
    assert isinstance(job, IntegrateJob)  # noqa: S101
    advice, methods = proposed_for_job(job, out, "\n".join(draft) + "\n", plan.wishes)
    lines = [
        *head,
        *method_lines(methods),
        "",
        "# the columns of the release, each from the party that has it. 'flat: true': the value or *",
        *attributes,
        "",
        "# the promise: in each line, people equal in the columns of 'qid' are at least k. Every",
        "# party's policy must permit this k ('smallest_k')",
        "requirement:",
        *advice.lines("", True),
    ]
    return "\n".join(lines) + "\n"


def _head(plan: JobPlan, identifiers: Sequence[str], out: Path) -> list[str]:
    columns = [name for one in plan.tables.values() for name in one.names]
    lines = [
        "# A job file of 'coterie init job'. Look through it, then try it on the tables at hand:",
        f"#   coterie simulate {out} --out try",
        "# and at the parties' servers, with your certificate:",
        f"#   coterie doctor {out} --identity FOLDER",
        f"#   coterie run {out} --identity FOLDER --out result",
        "# Every key is in docs/job-file.md.",
        "",
        "# one anonymous table of the parties' columns; other kinds answer one question",
        "kind: integrate",
        "# the job's name, for lists and reports",
        f"name: {plan.name}",
        "# the parties, by the names in their certificates, and where their servers listen; 'data' is",
        "# what 'coterie simulate' reads: a server reads the table that its own party file names",
        "parties:",
    ]
    for name, looked in plan.tables.items():
        address = f"address: {written(plan.addresses[name])}, " if name in plan.addresses else ""
        lines.append(
            f"  {name}: {{{address}data: {looked.data(out.parent)}}}  # {looked.described()}"
        )
        lines += [f"  # look here: {remark}" for remark in looked.remarks]
    shown = identifiers[0] if len(identifiers) == 1 else list(identifiers)
    named = written(shown) if isinstance(shown, str) else f"[{', '.join(map(written, shown))}]"
    lines += ["# people are matched by this column, which is never released", f"id: {named}"]
    lines += _matching(plan, identifiers)
    if plan.class_name is not None:
        if plan.class_name not in columns:
            raise UsageError(f"no party has the class '{plan.class_name}'")
        lines += [
            "# all parties learn the class of every common person; their policies must permit it",
            f"class: {written(plan.class_name)}",
        ]
    return lines


def method_lines(methods: Sequence[Tried]) -> list[str]:
    """The method that keeps most of the tables at hand, and what others would keep."""
    chosen = methods[0].lines if methods else ["method: mondrian"]
    return [*(f"# {line}" for line in advised(methods)), *chosen]


def _matching(plan: JobPlan, identifiers: Sequence[str]) -> list[str]:
    """What is done to identifiers before they are compared, where that makes more people match."""
    tables = {name: one.source.read(list(identifiers)) for name, one in plan.tables.items()}
    lines = []
    for name, table in tables.items():
        if _repeated(table):
            lines = [
                f"# {name} has identifiers more than once: only the first row of each counts",
                "deduplicate: first",
            ]
    tries = would_match(Matching(tuple(identifiers), {}), tables).get("would_match", [])
    best = max(tries, key=lambda one: int(one["records"]), default=None)
    if best is None or not best["records"]:
        return lines
    return [
        *lines,
        f"# identifiers are written differently; by this rule {best['records']:,} people match",
        str(best["rule"]),
    ]


def _repeated(table: pa.Table) -> bool:
    return bool(table.group_by(table.column_names).aggregate([]).num_rows < table.num_rows)


def _attributes(plan: JobPlan, identifiers: Sequence[str]) -> tuple[list[str], list[str]]:
    """The lines below `attributes`, and the names of the columns."""
    lines, names = ["attributes:"], []
    for party, looked in plan.tables.items():
        apart = [plan.class_name] if plan.class_name in looked.names else []
        found = roles(looked, identifiers, [name for name in apart if name])
        for column in found.usable:
            if column.name in names:
                lines.append(f"  # {written(column.name)} of {party}: another party has it, too")
                continue
            names.append(column.name)
            lines.append(f"  {written(column.name)}: {_keys(column, party)}  # {_about(column)}")
        lines += [f"  # left out: {name} of {party}: {why}" for name, why in found.left_out.items()]
    return lines, names


def _keys(column: CodedColumn, party: str) -> str:
    keys = [f"party: {party}"]
    if column.kind == "date":
        keys.append(f"type: {column.type_of_dates}")
    elif column.kind != "number":
        keys.append("flat: true")
    if column.missing:
        keys.append("missing: value")
    return "{" + ", ".join(keys) + "}"


def _about(column: CodedColumn) -> str:
    kind = {"number": "numbers", "date": "dates"}.get(column.kind, "different texts")
    gaps = f", {column.missing:,} without a value: shown as ?" if column.missing else ""
    return f"{column.distinct:,} {kind}{gaps}"
