"""Every key that a job file may have, by kind, as the code that reads job files asks for it.

`EXAMPLES` are jobs that have every key between them. While they are parsed, all keys that the code
asks for are recorded, also those that the job does not have. A key that the code asks for in a place
that no example reaches is found by its line (`unreached`).
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from coterie.jobs.file import document
from coterie.jobs.file.document import Section, read_document
from coterie.jobs.kinds.aggregate.job import WHAT
from coterie.jobs.kinds.job_file import parse_job
from coterie.jobs.kinds.registry import KINDS
from tests import ROOT

Key = tuple[str, str]  # a kind, and a path such as `attributes.NAME.missing`

TWO = """\
name: pilot
purpose: test
parties:
  lender: {address: "lender:7000", data: lender.csv, table: people}
  bank: {address: "bank:7000", data: bank.csv, where: {Age: {at_least: 18}}, exclude: {data: out.csv, on: ID}, tables: {people: {data: bank.csv}}}
"""
THREE = TWO + "  card: {address: 'card:7000'}\n"
MATCHING = """\
id: [First, Birth]
normalise: {First: [trim, lower], Birth: [{date: ["%d.%m.%Y"]}]}
deduplicate: first
reveal: intersection
protocol: ring
pad_to: 1000
compute: local
"""
CODED = """\
missing: drop
attributes:
  Sex: {party: lender, values: [F, M], missing: value}
  Job: {party: bank, taxonomy: Job.csv}
  Age: {party: bank, cuts: [2000-01-01], type: date}
  Town: {party: bank, flat: true}
"""
EVERYWHERE = """\
attributes:
  Sex: {values: [F, M]}
  Job: {taxonomy: Job.csv}
"""
FILES = {
    "Job.csv": b"Lawyer;White collar;ANY\nCook;Blue collar;ANY\n",
    "costs.csv": b",flu,cold\nflu,0,1\ncold,1,0\n",
}

EXAMPLES = {
    "intersect": ("kind: intersect\n" + TWO + MATCHING,),
    "integrate": (
        "kind: integrate\n" + TWO + MATCHING + "class: Class\nmissing: drop\nscore: gain-ratio\n"
        "attributes:\n"
        "  Job: {party: bank, taxonomy: Job.csv, at_most: [White collar], missing: value}\n"
        "  Born: {party: bank, range: [1900-01-01, 2000-01-01], type: date}\n"
        "  Town: {party: lender, flat: true}\n"
        "  Illness: {party: lender}\n"
        "  Loan: {party: lender}\n"
        "requirement:\n"
        "  - {qid: [Job, Born, Town], k: 4, sensitive: Illness, l: 2, diversity: recursive, c: 3}\n"
        "  - {qid: [Job], k: 4, sensitive: Illness, alpha: 0.5, confidence: {flu: 0.5}}\n"
        "  - {qid: [Job], k: 4, sensitive: Illness, t: 0.5, distance: ordered, order: [flu, cold]}\n"
        "  - {qid: [Job], k: 4, sensitive: Illness, t: 0.5, distance: costs, costs: costs.csv}\n"
        "  - {qid: [Job], k: 4, sensitive: [Illness, Loan], l: 2, most: {Loan: 2}}\n"
        "adversary: malicious\nepsilon: 0.1\nhide_scores: true\nconditions: holder\n"
        "recipients: all\n",
        "kind: integrate\n" + TWO + "id: ID\nscore: discernibility\nsplit: quantile\n"
        "attributes: {Age: {party: bank, range: [1, 99]}}\n"
        "requirement: [{qid: [Age], k: 4}]\nmax_suppression: 0.1\nrefine: groups\n",
        "kind: integrate\n" + TWO + "id: ID\nscore: discernibility\n"
        "attributes: {Age: {party: bank, range: [1, 99]}}\n"
        "requirement: [{qid: [Age], k: 4}]\nslack: tell\n",
        "kind: integrate\n" + TWO + "id: ID\nmethod: mondrian\nscore: width\nboxes: tight\n"
        "attributes: {Age: {party: bank, range: [1, 99], priority: 2}}\n"
        "requirement: [{qid: [Age], k: 4}]\n",
        "kind: integrate\n" + THREE + "id: ID\nscore: discernibility\nuniverse: card\n"
        "attributes: {Age: {party: bank, range: [1, 99]}}\n"
        "requirement: [{qid: [Age], k_map: 20}]\n",
    ),
    "count": (
        "kind: count\n" + TWO + MATCHING + CODED + "class: Class\npartition: vertical\n"
        "tables: [[Sex, Class], [Sex, Job]]\nminimum: 5\nzeros: show\noutput: shares\n"
        "servers: [lender, bank]\n",
        "kind: count\n" + TWO + EVERYWHERE + "partition: horizontal\ntables: [[Sex]]\n",
        "kind: count\n" + TWO + EVERYWHERE + "id: ID\npartition: mixed\ntables: [[Sex]]\n",
    ),
    "tree": (
        "kind: tree\n" + TWO + MATCHING + CODED + "class: Class\npartition: vertical\n"
        "max_depth: 3\nprecision: high\nminimum: 20\nminimum_gain: 0.1\nprune: true\nopen: true\n"
        "predict: bank\nshow: [records, accuracy]\nkeep: model\nservers: [lender, bank]\n",
    ),
    "bayesnet": (
        "kind: bayesnet\n" + TWO + MATCHING + CODED + "class: Class\npartition: vertical\n"
        "structure: search\norder: [Class, Sex, Job]\nmax_parents: 2\nparameters: true\n"
        "precision: high\nminimum: 5\nzeros: show\nkeep: model\nservers: [lender, bank]\n",
        "kind: bayesnet\n"
        + TWO
        + CODED
        + "id: ID\nclass: Class\nstructure: naive\nparameters: true\n",
    ),
    "aggregate": (
        "kind: aggregate\n" + TWO + MATCHING + CODED + "  Salary: {party: bank, range: [0, 99], "
        "decimals: 1}\npartition: vertical\nby: [Sex]\nminimum: 5\nround: 5\n"
        "dominance: {largest: 1, share: 0.8}\nservers: [lender, bank]\nmeasures:\n"
        "  - {count: true}\n  - {sum: Salary}\n  - {mean: Salary}\n  - {variance: Salary}\n"
        "  - {quantile: [Salary, 0.5]}\n  - {smallest: Salary}\n  - {largest: Salary}\n",
        "kind: aggregate\n" + TWO + "id: ID\nattributes: {Sex: {party: bank, values: [F, M]}}\n"
        "by: [Sex]\nmeasures: [{count: true}]\nnoise: {epsilon: 1, delta: 1e-7}\n",
        "kind: aggregate\n"
        + TWO
        + "id: ID\nattributes: {Sex: {values: [F, M]}, Pay: {range: [0, 9]}}\n"
        "by: [Sex]\nmeasures: [{sum: Pay}]\npartition: mixed\n",
        "kind: aggregate\n" + TWO + "attributes: {Pay: {range: [0, 9]}}\nmeasures: [{sum: Pay}]\n"
        "partition: horizontal\n",
    ),
    "regress": (
        "kind: regress\n" + TWO + MATCHING + "model: ridge\noutcome: Pay\nfeatures: [Sex, Age]\n"
        "attributes:\n  Sex: {party: lender, values: [F, M], missing: drop}\n"
        "  Age: {party: lender, range: [0, 99]}\n  Pay: {party: bank, range: [0, 99]}\n"
        "missing: drop\nminimum: 10\npenalty: 2\niterations: 30\npartition: vertical\n"
        "servers: [lender, bank]\nnoise: {epsilon: 1, delta: 1e-7}\n",
        "kind: regress\n" + TWO + "model: cox\nevent: Died\ntime: Days\nfeatures: [Age]\n"
        "grid: {step: 10, end: 100}\npartition: horizontal\nattributes: {Age: {range: [0, 99]}}\n",
        "kind: regress\n" + TWO + "id: ID\nmodel: logistic\noutcome: Sick\nfeatures: [Age]\n"
        "attributes: {Age: {party: bank, range: [0, 99]}, Sick: {party: lender}}\n",
    ),
    "cluster": (
        "kind: cluster\n" + TWO + MATCHING + "clusters: 2\niterations: 5\nstandardise: true\n"
        "attributes: {Age: {party: lender, range: [0, 99], missing: drop}}\nmissing: drop\n"
        "minimum: 10\npartition: vertical\nservers: [lender, bank]\nnoise: {epsilon: 1, delta: 1e-7}\n",
        "kind: cluster\n" + TWO + "clusters: 2\npartition: horizontal\nattributes: {Age: {}}\n",
    ),
    "identify": (
        "kind: identify\n" + TWO + MATCHING + CODED + "population: 1000\nalpha: 0.1\nlongest: 2\n"
        "pairs: 1024\nround: 0.01\nuniques: [[Sex, Job]]\nservers: [lender, bank]\n",
        "kind: identify\n" + TWO + CODED + "population: 1000\n",
    ),
    "rules": (
        "kind: rules\n" + TWO + MATCHING + CODED + "support: 0.1\nconfidence: 0.5\nlongest: 2\n"
        "minimum: 5\nround: 0.01\npartition: vertical\nservers: [lender, bank]\n",
    ),
    "predict": (
        "kind: predict\n" + TWO + MATCHING + "model: model\nrecipients: [bank]\n"
        "attributes: {Sex: {party: lender}}\npartition: vertical\nservers: [lender, bank]\n",
    ),
}

# Keys that a kind asks for so that its error explains why they are not there.
REFUSED = {
    ("aggregate", "class"): "C",
    ("rules", "class"): "C",
    ("cluster", "attributes.NAME.values"): "[a, b]",
    **{
        ("predict", f"attributes.NAME.{key}"): value
        for key, value in {
            "values": "[F, M]",
            "taxonomy": "Job.csv",
            "cuts": "[1]",
            "flat": "true",
            "missing": "drop",
            "type": "date",
        }.items()
    },
}
# Files of jobs/ that read what a party file has: where its own table is, and what is left out of it.
# A job names such things for a simulation only, and a server ignores them.
OF_A_PARTY = (
    "jobs/data/filtered.py",
    "jobs/data/sources.py",
    "jobs/file/document.py",  # reads every key of every file
    "jobs/kinds/job_file.py",  # looks for the kind before the job is parsed
)
# Calls that only look for the place of an error.
FOR_ERRORS = {"jobs/kinds/identify/kind.py: section.required('attributes')"}
_NAMED = re.compile(r"^(parties|attributes|normalise)\.[^.\[]+")


def parse(text: str) -> None:
    """Parses a job with the files that it names."""
    job = parse_job(text, {name: content for name, content in FILES.items() if name in text})
    for party in job.party_names:
        KINDS[job.kind].needs(job, party)  # which reads some keys again


def pattern(path: str) -> str:
    """The path of a key with NAME for names that a job gives, and without numbers of entries."""
    return re.sub(r"\[\d+\]", "", _NAMED.sub(r"\1.NAME", path))


def asked(kind: str, text: str) -> tuple[set[Key], set[Key], set[tuple[str, int]]]:
    """The keys that parsing asks for, those of them that the job has, and the lines that ask."""
    keys: set[Key] = set()
    present: set[Key] = set()
    lines: set[tuple[str, int]] = set()
    original = Section.optional

    def optional(section: Section, key: str) -> document.Node | None:
        found = original(section, key)
        path = pattern(f"{section.node.path}.{key}" if section.node.path else key)
        keys.add((kind, path))
        if found is not None:
            present.add((kind, path))
        frame = sys._getframe(1)
        while frame.f_code.co_filename == document.__file__ and frame.f_back is not None:
            frame = frame.f_back
        lines.add((str(Path(frame.f_code.co_filename).resolve()), frame.f_lineno))
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Section, "optional", optional)
        parse(text)
    return keys, present, lines


def all_keys() -> tuple[set[Key], set[Key], set[tuple[str, int]]]:
    """As `asked`, of all examples."""
    found = [asked(kind, text) for kind, texts in EXAMPLES.items() for text in texts]
    keys, present, lines = (set().union(*part) for part in zip(*found, strict=True))
    measures = {("aggregate", f"measures.{what}") for what in WHAT}  # a key each, read as a name
    return keys | measures, present | measures, lines


def unreached(lines: set[tuple[str, int]]) -> list[str]:
    """Where the code asks for a key of a job, and no example gets there."""
    found = []
    for path in sorted((ROOT / "jobs").rglob("*.py")):
        if str(path.relative_to(ROOT)) in OF_A_PARTY:
            continue
        here = {line for file, line in lines if file == str(path.resolve())}
        calls = [
            (ast.unparse(call.args[0]), call, bool(here & set(range(call.lineno, _end(call) + 1))))
            for call in _asking(ast.parse(path.read_text()))
        ]
        known = {key for key, _, reached in calls if reached and key.startswith(("'", '"'))}
        found += [
            f"{path.relative_to(ROOT)}:{call.lineno}: {ast.unparse(call)}"
            for key, call, reached in calls
            if not reached
            and key not in known
            and f"{path.relative_to(ROOT)}: {ast.unparse(call)}" not in FOR_ERRORS
        ]
    return found


def _end(call: ast.Call) -> int:
    return call.end_lineno or call.lineno


def _asking(tree: ast.AST) -> Iterator[ast.Call]:
    """The calls that ask a `Section` for a key, but for those in the text of an error."""
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        sections = {
            a.arg
            for a in [*function.args.args, *function.args.kwonlyargs]
            if a.annotation is not None and ast.unparse(a.annotation).startswith("Section")
        } | {
            target.id
            for node in ast.walk(function)
            if isinstance(node, ast.Assign) and _makes_section(node.value)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        in_errors = {
            id(node.value)
            for node in ast.walk(function)
            if isinstance(node, ast.Attribute) and node.attr == "error"
        }
        for call in ast.walk(function):
            if (
                isinstance(call, ast.Call)
                and isinstance(call.func, ast.Attribute)
                and call.func.attr in ("optional", "required", "read")
                and id(call) not in in_errors
                and (
                    (isinstance(call.func.value, ast.Name) and call.func.value.id in sections)
                    or _makes_section(call.func.value)
                )
            ):
                yield call


def _makes_section(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    return name in ("section", "read_document")


def with_key(kind: str, path: str, value: str) -> Iterator[str]:
    """The examples of the kind with a key more."""
    *above, key = path.split(".")
    for text in EXAMPLES[kind]:
        top = read_document(text, "job")
        if not above:
            yield f"{text}{key}: {value}\n"
        else:
            name = top.required("attributes").section().keys()[0]
            before, attributes, after = text.partition("attributes:")
            given = re.sub(rf"\b{name}: {{", f"{name}: {{{key}: {value}, ", after, count=1)
            yield before + attributes + given


assert set(EXAMPLES) == set(KINDS)
