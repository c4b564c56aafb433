"""`public.html` of every kind of job has nothing of the parties, of the course, or of a record.

Every kind is here because every kind has a job that is interrupted and goes on: a new one need not
be added. Parties and jobs have names that no page uses by itself.
"""

import csv
import json
import re

import pytest
import yaml

from coterie.base.text import byte_count
from coterie.jobs.kinds.registry import KINDS
from coterie.jobs.results.report import PUBLIC, REPORT, write_report
from tests.coordinator.support import coterie
from tests.jobs.kinds.predict.kept import part
from tests.jobs.pages.reading import Reading
from tests.jobs.run.resumed_jobs import NAMES, PEOPLE, write_job
from tests.onetable.people import anonymised
from tests.protocols.conftest import base_transfers
from tests.traces.cases import ATTRIBUTES, KEPT

__all__ = ["base_transfers"]
HOUSES = {"a": "abbey", "b": "bakery", "c": "cloister", "lender": "loanhouse", "bank": "vault"} | {
    "registry": "townhall"
}
NAME, PURPOSE = "harvest-quarterly", "settle the orchard dispute"


def kind_of(name):
    return name.removeprefix("naive ").split()[0]


# Jobs whose pages say something else than those of their kind do otherwise.
FURTHER = {
    "intersect pairwise": ("kind: intersect\nid: ID\nprotocol: ring\nreveal: pairwise\n", ""),
    "count as shares": (f"kind: count\n{ATTRIBUTES}tables: [[Sex, Job]]\noutput: shares\n", ""),
}
# The first job of every kind, and those whose pages have parts that it has not.
TRIED = [
    *{kind_of(name): name for name in reversed(NAMES)}.values(),
    "aggregate with noise",
    "integrate malicious",
    "integrate slack",
    "integrate with a witness",
    "naive bayesnet",
    "regress vertical logistic",
    "tree mixed",
]
# What is the parties' own in `result.json`, and no verification compares.
OWN = ("opened", "parties", "seconds")


def renamed(value):
    """The job with other names for its parties, wherever they stand."""
    if isinstance(value, dict):
        return {HOUSES.get(key, key): renamed(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [renamed(inner) for inner in value]
    return HOUSES.get(value, value) if isinstance(value, str) else value


def write(name, folder):
    """The job file, with its parties' tables in the folder."""
    if name in FURTHER:
        PEOPLE[name] = (FURTHER[name][0], "abc", FURTHER[name][1])
    try:
        write_job(name, folder)
    finally:
        if name in FURTHER:
            del PEOPLE[name]
    path = folder / "job.yaml"
    job = renamed(yaml.safe_load(path.read_text()))
    path.write_text(yaml.safe_dump(job | {"name": NAME, "purpose": PURPOSE}, sort_keys=False))
    return path


def kept(folder, kind):
    """What the parties of a prediction have kept of an earlier job."""
    attributes = {name: (HOUSES[holder], *rest) for name, (holder, *rest) in KEPT.items()}
    for house in {holder for holder, *_ in attributes.values()}:
        (folder / "parties" / house).mkdir(parents=True)
        part(kind, attributes, house, name=kind).write(folder / "parties" / house)
    return folder


@pytest.fixture(scope="module", params=[*TRIED, *FURTHER])
def result(request, tmp_path_factory):
    """The result folder of a job, beside its tables."""
    folder = tmp_path_factory.mktemp("quince")  # a word to look for: the path is not public
    path = write(request.param, folder)
    models = []
    if request.param.startswith("predict"):
        models = ["--models", kept(folder / "kept", yaml.safe_load(path.read_text())["model"])]
    done = coterie("simulate", path, "--out", folder / "out", *models)
    assert done.code == 0, done.err
    return folder / "out"


def read(folder, name=PUBLIC):
    """Everything that a page says, seen or unseen."""
    page = Reading((folder / name).read_text(encoding="utf-8"))
    told = [value for _, attributes in page.tags for value in attributes.values() if value]
    style = page.text.index(next(text for text in page.text if ":root{" in text))
    return " ".join([*page.text[:style], *page.text[style + 1 :], *told])


def raw_values(folder):
    """The values of the parties' tables that are no numbers and that a text does not have by chance."""
    found = set()
    for path in folder.glob("*.csv"):
        with path.open(newline="") as file:
            _, *rows = csv.reader(file)
            for row in rows:
                found |= {value for value in row if len(value) > 2 and not value.isdigit()}
    return found


def released(folder):
    """The text of the release: its files, and what `result.json` says besides the parties' own."""
    claims = json.loads((folder / "result.json").read_text())
    shown = {key: value for key, value in claims.items() if key not in (*OWN, "job", "winners")}
    files = [p for p in folder.rglob("*.csv") if not {"parties", "job"} & set(p.parts)]
    return json.dumps(shown, ensure_ascii=False) + "".join(p.read_text() for p in files)


def has(text, words):
    return re.search(rf"(?<!\w){re.escape(words)}(?!\w)", text) is not None


def test_the_public_page_has_nothing_of_the_parties_and_of_the_course(result):
    said, claims = read(result), json.loads((result / "result.json").read_text())
    job = claims["job"]
    secrets = [*HOUSES.values(), NAME, PURPOSE, "quince", job["digest"], job["date"]]
    secrets += [entry[key] for entry in claims["opened"] for key in ("what", "meaning", "why")]
    for spent in claims["parties"].values():
        secrets += [byte_count(spent["sent_bytes"]), byte_count(spent["received_bytes"])]
    assert [secret for secret in secrets if has(said, secret)] == []
    whole = read(result, REPORT)
    assert NAME in whole  # the test could find it
    assert [name for name in claims["parties"] if not has(whole, name)] == []


def test_the_public_page_has_no_value_of_a_table_that_is_not_in_the_release(result):
    said, shown = read(result), released(result)
    hidden = [value for value in raw_values(result.parent) if not has(shown, value)]
    assert hidden, "every value is released"
    assert [value for value in hidden if has(said, value)] == []


def test_what_only_the_parties_know_does_not_change_the_public_page(result):
    before, path = (result / PUBLIC).read_text(), result / "result.json"
    text = path.read_text()
    claims = json.loads(text)
    for spent in claims["parties"].values():
        spent["sent_bytes"] += 123_456_789
    claims["seconds"] = {f"{step} slowly": 1e6 for step in claims["seconds"]}
    for entry in claims["opened"]:
        entry["times"] += 987_654
    try:
        path.write_text(json.dumps(claims))
        write_report(result)
        assert (result / PUBLIC).read_text() == before
    finally:
        path.write_text(text)
        write_report(result)


def test_every_kind_of_job_has_its_public_page_here():
    assert set(KINDS) <= set(map(kind_of, TRIED)), (
        "add a job of the kind to tests/jobs/run/resumed_jobs.py"
    )


def test_a_public_page_does_not_say_what_is_wrong_with_a_result(tmp_path):
    folder = tmp_path / "quince"
    folder.mkdir()
    assert coterie("simulate", write("count", folder), "--out", folder / "out").code == 0
    path = folder / "out" / "result.json"
    claims = json.loads(path.read_text())
    claims["tables"] = []
    path.write_text(json.dumps(claims))
    write_report(folder / "out")
    said = read(folder / "out")
    assert "The promise does not hold" in said
    assert "Do not use or pass on this result." in said
    assert not has(said, "quince")
    assert "result.json" in read(folder / "out", REPORT)


def test_the_public_page_of_one_table_has_nothing_of_its_source(tmp_path):
    folder = tmp_path / "quince"
    folder.mkdir()
    anonymised(folder)
    said, shown = read(folder / "out"), released(folder / "out")
    hidden = [value for value in raw_values(folder) if not has(shown, value)]
    assert "p11" in hidden
    assert [value for value in hidden if has(said, value)] == []
    for secret in ("quince", "people.csv", "digest"):
        assert not has(said, secret)
