"""A coordinator that varies the thresholds of a job finds no number that one job hides."""

import re
from types import SimpleNamespace

import numpy as np
import pytest
import yaml

from coterie.base.errors import RefusedError
from coterie.jobs.file.document import Node
from coterie.jobs.kinds.job_file import parse_job
from coterie.jobs.kinds.registry import KINDS
from coterie.party.history.gate import HistoryGate
from coterie.party.history.releases import History
from coterie.party.policy import Policy
from coterie.party.settings import Repeat
from tests import ROOT

COMMON = {"name": "ruler", "parties": {"lender": {}, "bank": {}}, "id": "ID"}
SEX, JOB = {"party": "lender", "values": ["f", "m"]}, {"party": "bank", "values": ["x", "y"]}
CODED = {**COMMON, "attributes": {"Sex": SEX, "Job": JOB}}
NUMBERS = {
    "Age": {"party": "lender", "range": [0, 120]},
    "Pay": {"party": "bank", "range": [0, 9], "decimals": 1},
}
POOLED = {**COMMON, "partition": "horizontal", "attributes": {"Age": {}, "Days": {}, "Died": {}}}
del POOLED["id"]
SEEN = {"party": "lender", "taxonomy": "sex.csv"}
FILES = {"sex.csv": b"f;Any\nm;Any\n", "job.csv": b"x;Any\ny;Any\n"}

JOBS = {  # of every kind with a number that decides what is shown, each such number
    "count": {**CODED, "tables": [["Sex", "Job"]], "minimum": 5},
    "tree": {**CODED, "class": "Class", "minimum": 9, "minimum_gain": 0.1, "max_depth": 3},
    "bayesnet": {**CODED, "minimum": 5, "max_parents": 2, "parameters": True},
    "rules": {
        **CODED,
        "support": 0.1,
        "confidence": 0.5,
        "longest": 2,
        "minimum": 5,
        "round": 0.01,
    },
    "identify": {
        **CODED,
        "alpha": 0.2,
        "longest": 2,
        "pairs": 2048,
        "round": 0.01,
        "population": 9,
    },
    "aggregate": {
        **COMMON,
        "attributes": {"Sex": SEX, **NUMBERS},
        "by": ["Sex"],
        "measures": [{"quantile": ["Pay", 0.5]}, {"sum": "Age"}],
        "minimum": 5,
        "dominance": {"largest": 2, "share": 0.5},
        "round": 10,
    },
    "regress": {
        **POOLED,
        "model": "cox",
        "time": "Days",
        "event": "Died",
        "features": ["Age"],
        "grid": {"step": 30, "end": 90},
        "minimum": 5,
        "penalty": 1,
        "iterations": 9,
    },
    "cluster": {
        **COMMON,
        "attributes": {"Age": NUMBERS["Age"]},
        "clusters": 3,
        "iterations": 9,
        "minimum": 5,
    },
    "integrate": {
        **COMMON,
        "parties": {"lender": {}, "bank": {}, "town": {}},
        "universe": "town",
        "attributes": {
            "Sex": SEEN,
            "Job": {"party": "bank", "taxonomy": "job.csv"},
            "Ill": {"party": "bank"},
        },
        "class": "Class",
        "requirement": [
            {"qid": ["Sex", "Job"], "k": 4, "sensitive": "Ill", "l": 2, "alpha": 0.5},
            {"qid": ["Sex"], "k_map": 8},
        ],
        "adversary": "malicious",
        "epsilon": 0.1,
    },
}
SUPPRESSING = {
    **{k: v for k, v in JOBS["integrate"].items() if k != "universe"},
    "parties": {"lender": {}, "bank": {}},
    "requirement": [{"qid": ["Sex", "Job"], "k": 4}],
    "max_suppression": 0.1,
}
CUTTING = {
    **{k: v for k, v in SUPPRESSING.items() if k != "max_suppression"},
    "method": "mondrian",
    "attributes": {
        **JOBS["integrate"]["attributes"],
        "Job": {"party": "bank", "taxonomy": "job.csv", "priority": 2},
    },
}
HARMLESS = {  # numbers that decide nothing about what is hidden: why
    ("regress", "penalty"): "all coefficients are of all records, whatever the penalty is",
    ("regress", "iterations"): "each iteration opens sums over all records",
    ("aggregate", "decimals"): "the unit of sums, which are shown to the unit anyway",
    (
        "integrate",
        "priority",
    ): "the groups of every release are compared with those of earlier ones",
    ("aggregate", "Age"): "the range of a column that is only added up",
}


def needs(kind, content, party="bank"):
    text = yaml.safe_dump({"kind": kind, **content}, sort_keys=False)
    named = {name: FILES[name] for name in FILES if name in text}
    job = parse_job(text, named)
    return job, KINDS[kind].needs(job, party)


def numbers_of(value, path=()):
    """The place of every number in a job."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from numbers_of(inner, (*path, key))
    elif isinstance(value, list):
        for at, inner in enumerate(value):
            yield from numbers_of(inner, (*path, at))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield path


def changed(value, path):
    """The job with another number at this place."""
    if not path:
        return value + 1 if isinstance(value, int) else value / 2
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = changed(value[path[0]], path[1:])
    return copy


DECIDING = [
    (kind, content, path)
    for kind, content in [*JOBS.items(), ("integrate", SUPPRESSING), ("integrate", CUTTING)]
    for path in numbers_of(content)
    if not any((kind, key) in HARMLESS for key in path)
]


@pytest.mark.parametrize(("kind", "content", "path"), DECIDING)
def test_every_number_that_decides_what_is_shown_is_declared(kind, content, path):
    asked = needs(kind, content)[1].answers.thresholds
    again = needs(kind, changed(content, path))[1].answers.thresholds
    assert asked.keys() == again.keys()
    assert asked != again, path


def test_no_number_of_a_kind_is_forgotten_here(monkeypatch):
    """Whatever a kind reads as a number stands in a job above, or in the list of harmless ones."""
    read = set()
    for name in ("integer", "number"):
        true = getattr(Node, name)

        def noted(self, *limits, true=true, **named):
            read.add(re.sub(r"\[\d+\]", "", self.path).split(".")[-1])
            return true(self, *limits, **named)

        monkeypatch.setattr(Node, name, noted)
    for kind, content in [*JOBS.items(), ("integrate", SUPPRESSING), ("integrate", CUTTING)]:
        needs(kind, content)
    pattern = re.compile(r'(?:read|required|optional)\(\s*"(\w+)"[^\n]*?\.(?:integer|number)\(')
    written = {
        key
        for path in (ROOT / "jobs" / "kinds").rglob("*.py")
        for key in pattern.findall(path.read_text())
    }
    assert written <= read


def gate(history, at, job, needs, policy=Policy(repeat=Repeat(k=3))):  # noqa: B008
    record = SimpleNamespace(job_id=f"{at:032x}", coordinator="analyst", records=100)
    digests = np.arange(100, dtype=np.uint64)
    return HistoryGate(
        history, policy, needs, record, job, "", digests, lambda *a, **b: None, None, None
    )


@pytest.mark.parametrize("policy", [Policy(), Policy(repeat=Repeat(k=3))])
def test_a_hidden_count_is_not_found_by_a_series_of_minima(tmp_path, policy):
    """The attacker learns of each job that runs whether the count reaches the job's minimum."""
    hidden, possible = 37, set(range(1, 101))
    history = History(tmp_path)
    for at in range(12):
        tried = sorted(possible)[len(possible) // 2]
        job, wanted = needs("count", {**JOBS["count"], "minimum": max(tried, 2)})
        try:
            gate(history, at, job, wanted, policy).people(None)
        except RefusedError:
            continue
        possible = {x for x in possible if (x >= max(tried, 2)) == (hidden >= max(tried, 2))}
    if policy.repeat is None:
        assert possible == {hidden}  # what the rule is for
    else:
        assert len(possible) == 50


def test_another_kind_is_no_second_ruler(tmp_path):
    """A count and sums by the same column hide the same cells, so they have one minimum."""
    history = History(tmp_path)
    gate(history, 1, *needs("count", JOBS["count"])).people(None)
    gate(history, 2, *needs("count", JOBS["count"])).people(None)  # the same question again
    gate(history, 3, *needs("aggregate", JOBS["aggregate"])).people(None)
    with pytest.raises(RefusedError, match="too much"):
        gate(history, 4, *needs("aggregate", {**JOBS["aggregate"], "minimum": 4})).people(None)


def test_another_name_of_a_job_does_not_group_the_same_people_anew(tmp_path):
    """The first centres of a cluster follow from the text of the job; the same text gives the same."""
    history = History(tmp_path)
    for at in (1, 2):
        gate(history, at, *needs("cluster", JOBS["cluster"])).people(None)
    with pytest.raises(RefusedError, match="too much"):
        gate(history, 3, *needs("cluster", {**JOBS["cluster"], "name": "other"})).people(None)


def test_numbers_of_two_entries_cannot_be_exchanged(tmp_path):
    """The same numbers on other columns are another ruler, also with a column added."""
    entries = [{"qid": ["Sex"], "k": 4}, {"qid": ["Job"], "k": 5}]
    history = History(tmp_path)
    gate(history, 1, *needs("integrate", {**SUPPRESSING, "requirement": entries})).people(None)
    for at, other in enumerate(
        (
            [{"qid": ["Sex"], "k": 5}, {"qid": ["Job"], "k": 4}],
            [{"qid": ["Sex", "Job"], "k": 3}],
            [{"qid": ["Sex", "Job"], "k": 4}],
        )
    ):
        made = gate(history, 2 + at, *needs("integrate", {**SUPPRESSING, "requirement": other}))
        with pytest.raises(RefusedError, match="too much"):
            made.people(None)
