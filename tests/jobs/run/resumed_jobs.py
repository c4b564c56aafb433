"""Small jobs of every kind, whose interruptions are tried out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from coterie.jobs.file.job import Job
from coterie.jobs.kinds.job_file import load_job
from tests.jobs.kinds.predict.kept import Parts, part
from tests.jobs.loans import JOB_FILE, SIGNS, WITNESSED, loan_folder
from tests.traces.cases import ATTRIBUTES, DIVIDED, KEPT, MONDRIAN, POOLED, in_cells, write_people

_BOUNDED = JOB_FILE.replace("taxonomy: Job.csv", "taxonomy: Job.csv, at_most: [White-collar]")
_SENSITIVE = JOB_FILE.replace("k: 4}", "k: 4, sensitive: Zodiac, l: 2}").replace(
    "class: Class\n", "class: Class\nhide_scores: true\n"
)

# The job, its parties and how the people are divided among them; or a job on the loans.
LOANS = {
    "integrate": JOB_FILE,
    "integrate malicious": JOB_FILE + "adversary: malicious\n",
    "integrate mondrian": JOB_FILE + MONDRIAN + "hide_scores: false\n",
    "integrate mondrian malicious": JOB_FILE + "method: mondrian\nadversary: malicious\n",
    "integrate mondrian with a model": _SENSITIVE + "method: mondrian\n",
    "integrate mondrian of a holder": _SENSITIVE + "method: mondrian\nconditions: holder\n",
    "integrate refine columns": JOB_FILE + "refine: columns\nadversary: malicious\n",
    "integrate refine groups": JOB_FILE + "refine: groups\nadversary: malicious\n",
    "integrate refine groups with a model": _SENSITIVE + "refine: groups\n",
    "integrate slack": JOB_FILE + "slack: tell\n",
    "integrate hide_scores": JOB_FILE + "hide_scores: true\n",
    "integrate conditions on shares": _SENSITIVE,
    "integrate with a witness": WITNESSED,
    "integrate conditions of a holder": _SENSITIVE + "conditions: holder\nadversary: malicious\n",
}
PEOPLE = {
    "intersect": ("kind: intersect\nid: ID\nprotocol: ring\n", "ab", ""),
    "intersect by transfers": ("kind: intersect\nid: ID\nprotocol: oprf\n", "abc", ""),
    "count": (
        f"kind: count\n{ATTRIBUTES}tables: [[Sex, Job], [Age, Class]]\nminimum: 5\n",
        "abc",
        "",
    ),
    "count horizontal": (
        f"kind: count\n{POOLED}tables: [[Sex, Job]]\nminimum: 5\n",
        "abc",
        "-part",
    ),
    "tree": (f"kind: tree\n{ATTRIBUTES}max_depth: 1\nminimum: 5\n", "abc", ""),
    "bayesnet": (f"kind: bayesnet\n{ATTRIBUTES}minimum: 5\n", "abc", ""),
    "aggregate": (
        "kind: aggregate\nid: ID\nattributes:\n  Sex: {party: a}\n"
        "  Job: {party: b, values: [x, y, z]}\n  Age: {party: c, range: [0, 120]}\n"
        "by: [Sex, Job]\nmeasures: [{count: true}, {mean: Age}, {variance: Age}]\n",
        "abc",
        "",
    ),
    "aggregate with noise": (
        "kind: aggregate\nid: ID\nattributes:\n  Sex: {party: a, values: [F, M]}\n"
        "  Job: {party: b, values: [x, y, z]}\n  Age: {party: c, range: [0, 120]}\n"
        "by: [Sex, Job]\nmeasures: [{count: true}, {mean: Age}]\nnoise: {epsilon: 0.5}\n",
        "abc",
        "",
    ),
    "regress": (
        "kind: regress\npartition: horizontal\nmodel: logistic\noutcome: Class\n"
        "features: [Age, Sex]\nminimum: 3\n"
        "attributes: {Sex: {values: [F, M]}, Class: {values: [N, Y]}}\n",
        "abc",
        "-part",
    ),
    "regress support vectors": (
        "kind: regress\npartition: horizontal\nmodel: svm\noutcome: Class\nfeatures: [Age, Sex]\n"
        "minimum: 3\nattributes: {Sex: {values: [F, M]}, Class: {values: [N, Y]}}\n",
        "abc",
        "-part",
    ),
    "regress survival": (
        "kind: regress\npartition: horizontal\nmodel: cox\ntime: Age\nevent: Class\n"
        "features: [Sex]\nminimum: 3\nattributes: {Sex: {values: [F, M]}, Class: {values: [N, Y]}}\n",
        "abc",
        "-part",
    ),
    "cluster": (
        "kind: cluster\npartition: horizontal\nattributes: {Age: {}}\nclusters: 2\nminimum: 3\n",
        "abc",
        "-part",
    ),
    "identify": (
        "kind: identify\nid: ID\nattributes: {Sex: {party: a}, Job: {party: b}, Age: {party: c}}\n",
        "abc",
        "",
    ),
    "rules": (
        f"kind: rules\n{ATTRIBUTES.replace('class: Class', '')}support: 0.1\nconfidence: 0.6\n",
        "abc",
        "",
    ),
    "rules horizontal": (
        f"kind: rules\n{POOLED.replace('class: Class', '')}support: 0.1\nconfidence: 0.6\n",
        "abc",
        "-part",
    ),
    **{name: (text, "abc", part) for name, (text, part) in DIVIDED.items()},
}
PREDICT = (
    "kind: predict\nid: ID\nmodel: {}\nrecipients: all\n"
    "attributes: {{Sex: {{party: a}}, Job: {{party: b}}, Age: {{party: c}}}}\n"
)
# Jobs about models that parties keep, which servers would have to have kept before.
OF_MODELS = {
    "naive bayesnet": (
        f"kind: bayesnet\n{ATTRIBUTES}structure: naive\nparameters: true\nkeep: risk\nminimum: 5\n",
        "abc",
        "",
    ),
    "predict by a tree": (PREDICT.format("tree"), "abc", ""),
    "predict by a naive net": (PREDICT.format("bayesnet"), "abc", ""),
    "predict by a net": (PREDICT.format("net"), "abc", ""),
    "predict by a net mixed": (in_cells(PREDICT.format("mixed-net")), "abc", "-cells"),
}
NAMES = (*PEOPLE, *OF_MODELS, *LOANS)
# Jobs of which nothing is kept: what they open follows from the job and the records.
RECOMPUTED = (
    "regress",
    "regress support vectors",
    "regress survival",
    "cluster",
    "rules horizontal",
)
# What a release has that is random by design: hidden numbers of branches, drawn pairs.
RANDOM = {
    "tree": ("tree", "tree.svg"),
    "identify": ("sets",),
    "aggregate with noise": ("groups", "groups.csv"),
    "regress vertical with noise": (
        "coefficients",
        "intercept",
        "measures",
        "noise",
        "coefficients.csv",
        "coefficients.svg",
    ),
    "cluster vertical with noise": ("centres", "sizes", "centres.csv"),
}
# What a second attempt may find with other last digits, because shares are rounded at random.
ROUNDED = {
    "regress vertical logistic": (
        "coefficients",
        "intercept",
        "intercept_error",
        "measures",
        "coefficients.csv",
        "coefficients.svg",
    ),
}
# What the servers keep as shares, others in every run; they must belong together.
SHARES = {"naive bayesnet mixed": ("a/model.json", "b/model.json")}


def comparable(name: str, release: dict[str, Any]) -> dict[str, Any]:
    """What two undisturbed runs have in common: some things are drawn at random, once for each job."""
    unlike = (*RANDOM.get(name, ()), *ROUNDED.get(name, ()), *SHARES.get(name, ()))
    return {key: value for key, value in release.items() if key not in unlike}


def kept_by(party: str) -> Parts:
    """The party's part of a tree and of nets, which are named after their kinds."""
    kinds = ("tree", "bayesnet", "net", "mixed-net")
    return Parts(*(part(kind, KEPT, party, name=kind) for kind in kinds))


def write_job(name: str, folder: Path) -> Job:
    """The job of this name, with its parties' tables in the folder."""
    if name in LOANS:
        return load_job(loan_folder(folder, LOANS[name], zodiac=SIGNS))
    write_people(folder)
    text, parties, part = (PEOPLE | OF_MODELS)[name]
    named = "".join(f"  {party}: {{data: {party}{part}.csv}}\n" for party in parties)
    (folder / "job.yaml").write_text(f"name: resumed\nparties:\n{named}{text}")
    return load_job(folder / "job.yaml")
