"""The pictures of the docs show the pages as they are: a page that has changed needs a new picture."""

import json

import pytest

from tests import ROOT
from tests.browser import shown

PICTURES = ROOT / "docs" / "pictures"
RENEW = "the page has changed since its picture was taken: run 'make pictures'"


@pytest.fixture(scope="module")
def known():
    return json.loads((PICTURES / shown.FILE).read_text())


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return shown.demo_report(tmp_path_factory.mktemp("demo"))


@pytest.fixture(scope="module")
def report(made):
    return made.read_text()


def recorded(entry):
    return {"page": entry["page"], "style": entry["style"]}


def test_every_picture_is_the_one_that_was_recorded(known):
    pictures = {path.name: shown.digest(path.read_bytes()) for path in PICTURES.glob("*.png")}
    assert pictures == {name: entry["picture"] for name, entry in known.items()}, RENEW


def test_the_report_is_as_in_its_picture(known, report):
    entry = known["report.png"]
    assert shown.digests_of_report(report, entry["parts"]) == recorded(entry), RENEW


def test_the_summary_is_as_in_its_picture(known, made):
    page = shown.summary_of(made).read_text()
    assert shown.digests_of_summary(page) == recorded(known["summary.png"]), RENEW


def test_the_live_page_is_as_in_its_picture(known):
    assert shown.digests_of_live_page() == recorded(known["live.png"]), RENEW


def test_another_word_or_another_style_of_what_is_in_sight_is_noticed(known, report):
    parts = known["report.png"]["parts"]
    assert parts >= 1
    before = shown.digests_of_report(report, parts)
    worded = shown.digests_of_report(report.replace("The promise holds", "All is well"), parts)
    styled = shown.digests_of_report(report.replace("--bar:#2563a8", "--bar:#000"), parts)
    below = shown.digests_of_report(report.replace("Time and traffic</h2>", "Costs</h2>"), parts)
    assert worded["page"] != before["page"] == styled["page"]
    assert styled["style"] != before["style"] == worded["style"]
    assert below == before
