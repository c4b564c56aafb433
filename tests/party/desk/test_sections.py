"""The parts of the desk show everything as text and offer what can be done."""

from coterie.party.desk import sections
from tests.jobs.pages.reading import Reading

HOSTILE = '"><img src=x onerror=alert(1)>'
FACTS = {
    "job": "ab" * 16, "name": HOSTILE, "kind": "integrate", "asked_by": HOSTILE, "proposed": "2026-01-02",
    "with": [HOSTILE, "bank"], "purpose": HOSTILE, "about": "A table.", "table": HOSTILE, "records": 1200,
    "columns": {"used": ["ID", "Sex"], "leave_as_they_are": [], "leave_in_groups": ["Sex"], "never_leave": ["ID"]},
    "smallest_group": 5, "recipients": [], "in_short": [HOSTILE], "refusals": [],
    "rules": [{"rule": "smallest_k", "policy": 5, "job": 5}, {"rule": "columns.use", "policy": ["ID"], "job": []}],
    "others_learn": [{"to": "all", "what": HOSTILE, "why": "because"}], "text": HOSTILE,
}  # fmt: skip


def test_a_question_has_its_facts_and_both_answers():
    page = Reading(str(sections.waiting([FACTS])))
    assert "img" not in page.names
    for words in ("1,200 records", "Sex , in groups of at least 5", "ID , and every column"):
        assert words in page.words
    forms = [attributes["data-action"] for tag, attributes in page.tags if tag == "form"]
    assert forms == ["approve", "refuse"]
    sure = next(a["data-sure"] for tag, a in page.tags if tag == "form")
    assert sure == "Really approve it? 1 of your columns leave."


def test_a_job_that_cannot_be_read_says_why():
    facts = {k: FACTS[k] for k in ("job", "name", "kind", "asked_by", "proposed")}
    page = Reading(str(sections.waiting([facts | {"refusals": ["no table 'x'"]}])))
    assert "Not permitted: no table 'x'" in page.words


def test_a_running_job_can_be_ended_and_an_ended_one_cannot():
    entry = {
        "job": "1",
        "name": "a",
        "kind": "count",
        "coordinator": "c",
        "proposed": "",
        "detail": "",
    }
    page = Reading(
        str(
            sections.jobs(
                [
                    {**entry, "state": "RUNNING", "going_on": True},
                    {**entry, "state": "FAILED", "going_on": False},
                ]
            )
        )
    )
    assert [a["data-action"] for tag, a in page.tags if tag == "form"] == ["cancel"]
    assert "failed" in page.words


def test_no_jobs_no_partners_no_log():
    assert "No jobs yet" in str(sections.jobs([]))
    assert "No job waits" in str(sections.waiting([]))
    assert "No job with a partner yet" in str(sections.partners({"partners": {}}))
    assert "is not on this machine" in str(sections.partners("state is not on this machine"))


def test_a_broken_chain_is_marked():
    page = str(
        sections.audit("the chain of the audit log breaks here", False, [{"event": HOSTILE}])
    )
    assert 'class="badword"' in page
    assert "img" not in Reading(page).names
