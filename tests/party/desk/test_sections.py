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
    assert sure == "Really approve it? 1 of your columns leaves."


def test_a_question_says_that_columns_may_be_unique_together():
    page = Reading(str(sections.waiting([FACTS | {"unique_together": True}])))
    assert "Unique together a row of the release may be of one person alone" in page.words
    assert "Unique together" not in Reading(str(sections.waiting([FACTS]))).words


EARLIER = {
    "job": "cd" * 16, "name": HOSTILE, "kind": "count", "coordinator": HOSTILE, "time": "2026-01-02T03:04:05Z",
    "people": 4000, "still_here": 3990, "again": ["Sex"], "other_classes": [HOSTILE],
}  # fmt: skip


def test_a_question_is_compared_with_earlier_jobs_and_names_the_strictest_rule():
    facts = FACTS | {"earlier": [EARLIER], "strictest": "smallest_k 5, and the job has 5"}
    page = Reading(str(sections.waiting([facts])))
    assert "img" not in page.names
    for words in ("The strictest rule that permits it: smallest_k 5", "3,990", "in other classes:"):
        assert words in page.words
    alone = Reading(str(sections.waiting([FACTS | {"earlier": []}])))
    assert "None is remembered." in alone.words
    broken = Reading(str(sections.waiting([FACTS | {"earlier": [{"error": "cannot be read"}]}])))
    assert "cannot be read" in broken.words


def test_a_job_that_asks_shows_what_it_would_release():
    output = {
        "files": [{"file": HOSTILE, "bytes": 1234, "sha256": "e" * 64}],
        "columns": {HOSTILE: {"values": 3, "most_frequent": [[HOSTILE, 7], ["b", 5]]}},
        "result": {"records": 12, HOSTILE: 1},
    }
    held = {"about": "output", "question": "its output", "until": "2026-01-02", "output": output}
    page = Reading(str(sections.waiting([FACTS | {"held": held}])))
    assert "img" not in page.names
    for words in ("1,234", "and 1 more value", "Hold it back", "until 2026-01-02"):
        assert words in page.words
    about = [a["value"] for tag, a in page.tags if tag == "input" and a.get("name") == "about"]
    assert about == ["output", "output"]
    long = {"files": [], "too_long": "/state/output.json"}
    shown = Reading(str(sections.waiting([FACTS | {"held": held | {"output": long}}])))
    assert "/state/output.json" in shown.words
    asked = {"about": "repeat", "question": "q", "until": "u", "findings": [{"words": HOSTILE}]}
    shown = Reading(str(sections.waiting([FACTS | {"held": asked}])))
    assert "img" not in shown.names
    assert "onerror" in shown.words


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


def test_the_history_has_its_newest_jobs_first_and_says_how_many_more_there_are():
    made = [
        {"time": f"2026-01-{at + 1:02}T00:00:00Z", "name": f"job <{at}>", "kind": "integrate",
         "coordinator": "analyst", "people": 1000 + at, "counted": ["Sex"], "groups": {"Sex, Age": 4, "Job": 7}}
        for at in range(31)
    ]  # fmt: skip
    shown = str(sections.history(made))
    assert shown.index("job &lt;30&gt;") < shown.index("job &lt;1&gt;")
    assert "job &lt;0&gt;" not in shown
    assert "1 earlier job more: " in shown
    assert "4 by Sex, Age; 7 by Job<" in shown
    assert "No job has revealed anything yet." in str(sections.history([]))
    assert "is not on this machine" in str(sections.history("/state is not on this machine"))


def test_the_log_is_shown_without_empty_values_and_with_the_beginnings_of_digests():
    line = {"time": "2026-01-02T03:04:05Z", "event": "ended", "reason": "", "state": "FINISHED",
            "books": {"ledger": {"bytes": 7, "sha256": "ab" * 32}}, "job": "cd" * 16}  # fmt: skip
    words = Reading(str(sections.audit("1 entry, unbroken", True, [line]))).words
    told = f"state FINISHED, books (ledger (bytes 7, sha256 abababababab…)), job {'cd' * 16}"
    assert words.endswith(f"2026-01-02 03:04:05 UTC ended {told}")


def test_a_broken_chain_is_marked():
    page = str(
        sections.audit("the chain of the audit log breaks here", False, [{"event": HOSTILE}])
    )
    assert 'class="badword"' in page
    assert "img" not in Reading(page).names
