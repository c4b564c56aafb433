"""Every result folder has a page with its verdict first, and a public one that tells no more than it."""

import hashlib
import json

import pytest

from coterie.jobs.results.report import PUBLIC, REPORT, write_report
from tests.coordinator.support import coterie
from tests.jobs.kinds.statistics.test_statistics import vertical_job
from tests.jobs.loans import JOB_FILE, loan_folder
from tests.jobs.pages.reading import Reading, loads


@pytest.fixture(scope="module")
def loans(tmp_path_factory):
    folder = tmp_path_factory.mktemp("loans")
    done = coterie("simulate", loan_folder(folder, JOB_FILE), "--out", folder / "out")
    assert f"report: {folder / 'out' / REPORT}" in done.out
    return folder / "out"


def read(folder, name=REPORT):
    return (folder / name).read_text(encoding="utf-8")


def test_a_release_has_a_verdict_its_promise_and_its_course(loans):
    words = Reading(read(loans)).words
    assert "Each of the 2 entries holds, but not all columns together" in words
    for entry in json.loads((loans / "result.json").read_text())["anonymity"]:
        assert f"{' , '.join(entry['qid'])} {entry['k']} {entry['smallest']}" in words
    assert "How the table was made" in words
    assert "What was told to whom" in words
    assert "integrate: released columns" in words


def test_the_digest_of_the_release_is_told_to_the_parties(loans):
    digest = hashlib.sha256((loans / "release.csv").read_bytes()).hexdigest()
    assert f"release.csv {digest}" in Reading(read(loans)).words
    assert digest not in read(loans, PUBLIC)


def test_pages_load_nothing(loans):
    assert loads(read(loans)) == loads(read(loans, PUBLIC)) == []


def test_the_public_page_names_no_party_and_nothing_of_the_course(loans):
    words = Reading(read(loans, PUBLIC)).words
    for secret in (
        "lender",
        "bank",
        "loan-approval",
        "digest",
        "specialized",
        "told to",
        "seconds",
    ):
        assert secret not in words
    assert "but not all columns together" in words


def test_a_release_that_was_changed_has_a_page_that_says_so(loans):
    release = loans / "release.csv"
    before = release.read_text()
    lines = before.splitlines()
    try:
        release.write_text("\n".join(lines[:-1]) + "\n")
        write_report(loans)
        assert "The promise does not hold" in Reading(read(loans)).words
    finally:
        release.write_text(before)
        write_report(loans)


def test_hostile_values_stay_text(tmp_path):
    zodiac = ["<img src=x onerror=alert(1)>", "‮evil", "</td></table><h1>holds</h1>"]
    path = loan_folder(tmp_path, JOB_FILE, zodiac=zodiac)
    done = coterie("simulate", path, "--out", tmp_path / "out")
    assert done.code == 0, done.err
    page = read(tmp_path / "out")
    assert loads(page) == []
    assert len([tag for tag, _ in Reading(page).tags if tag == "h1"]) == 1
    result = tmp_path / "out" / "result.json"
    facts = json.loads(result.read_text())
    facts["job"].update(dict.fromkeys(("id", "version", "digest"), "\ud800\u202e4.2"))
    result.write_text(json.dumps(facts))
    write_report(tmp_path / "out")
    page = read(tmp_path / "out")
    assert page.count("??4.2") == 3
    assert "\u202e" not in page


def test_an_intersection_says_how_many_and_nothing_of_whom(job, tmp_path):
    assert coterie("simulate", job, "--out", tmp_path / "out").code == 0
    words = Reading(read(tmp_path / "out")).words
    assert "3 records are at all 3 parties" in words


def test_hidden_counts_are_hatched_and_visible_ones_shown(tmp_path):
    path = vertical_job(tmp_path, "count", "tables: [[Sex, Job]]\nminimum: 5")
    done = coterie("simulate", path, "--out", tmp_path / "out", "--json")
    counts = [row[-1] for row in done.json["tables"][0]["cells"]]
    page = Reading(read(tmp_path / "out"))
    hatched = sum(tag == "td" and a.get("class") == "hidden" for tag, a in page.tags)
    assert hatched == counts.count(None) > 0
    for count in filter(None, counts):
        assert f"{count}" in page.text


def test_a_tree_and_a_net_are_drawn_into_the_page(tmp_path):
    for kind, keys in (("tree", "max_depth: 2"), ("bayesnet", "order: [Sex, Late, Job]")):
        folder = tmp_path / kind
        folder.mkdir()
        path = vertical_job(folder, kind, keys)
        done = coterie("simulate", path, "--out", folder / "out")
        assert done.code == 0, done.err
        page = Reading(read(folder / "out"))
        assert any(tag == "svg" and "drawn" in a.get("class", "") for tag, a in page.tags)


def test_one_table_has_a_report_too(tmp_path):
    rows = "".join(f"{20 + n % 7},{'FM'[n % 2]},{n % 3}\n" for n in range(60))
    (tmp_path / "people.csv").write_text("Age,Sex,Ill\n" + rows)
    (tmp_path / "table.yaml").write_text(
        "data: people.csv\nattributes:\n  Age: {range: [20, 26]}\n  Sex: {flat: true}\n  Ill: {}\n"
        "requirement:\n  - {qid: [Age, Sex], k: 5}\n"
    )
    done = coterie("anonymise", tmp_path / "table.yaml", "--out", tmp_path / "out")
    assert done.code == 0, done.err
    words = Reading(read(tmp_path / "out")).words
    assert "The promise holds" in words
    assert "What the release costs" in words
    assert loads(read(tmp_path / "out")) == []
