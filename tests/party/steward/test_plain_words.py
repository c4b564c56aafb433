"""What `party show` says others learn: each key of a job that tells more has its sentence."""

import pytest

from coterie.jobs.kinds.job_file import parse_job
from coterie.jobs.kinds.registry import KINDS
from coterie.party.steward.plain_words import plain_words
from coterie.protocols.messaging.opening import declared

PARTIES = "parties: {bank: {}, lender: {}, card: {}}\nid: ID\nname: x\n"
TREE = f"""kind: tree
{PARTIES}class: Late
attributes: {{Job: {{party: bank}}, Sex: {{party: lender, values: [F, M]}}}}
"""


def words(text, party="bank"):
    job = parse_job(text, {})
    needs = KINDS[job.kind].needs(job, party)
    return "\n".join(plain_words(job, party, needs, 1234))


def test_everybody_hears_who_is_common_and_nobody_of_the_others():
    told = words(f"kind: intersect\n{PARTIES}")
    assert "lender, card: each of them which of its own people are in the tables of all" in told
    assert "every party and the coordinator: how many rows of your table take part (1,234)" in told
    assert told.endswith("people who are not common, or any column that is not used")


@pytest.mark.parametrize(
    ("key", "sentence"),
    [
        ("reveal: pairwise", "each of them which of its own people are in your table, and how"),
        ("pad_to: 5000", "that you have at most 5,000 rows"),
    ],
)
def test_what_matching_tells_follows_from_the_job(key, sentence):
    plain, changed = words(f"kind: intersect\n{PARTIES}"), words(f"kind: intersect\n{PARTIES}{key}")
    assert sentence in changed
    assert sentence not in plain


def test_recipients_are_named_with_what_they_get():
    text = TREE.replace("tree", "integrate").replace("values: [F, M]", "flat: true")
    text += "requirement: [{qid: [Sex], k: 5}]\n"
    assert "card: the finished table, too" in words(text + "recipients: [card]\n")
    assert "finished table" not in words(text)


@pytest.mark.parametrize(
    ("key", "sentence"),
    [
        ("predict: card", "card: which class the tree predicts for each common person"),
        ("show: [records]", "records of the tree, where no count below 20"),
        ("open: true", "the tree, with their values"),
    ],
)
def test_a_key_of_a_tree_changes_what_is_said(key, sentence):
    assert sentence in words(TREE + key)
    assert sentence not in words(TREE)
    assert "all values of 'Job'" in words(TREE)
    assert "all values" not in words(TREE, "lender")  # the job declares them
    assert "bank and lender, if they conspire, and only then" in words(TREE)


def test_counts_say_which_and_from_how_many_people_on():
    text = TREE.replace("tree", "count") + "tables: [[Job, Sex]]\nminimum: 11\n"
    assert "by 'Job' and 'Sex', where that can be shown" in words(text)
    assert "below 11" in words(text)
    assert "a hidden count is not 0" in words(text + "zeros: show\n")
    assert "nobody: how many people there are by 'Job' and 'Sex'" in words(
        text + "output: shares\n"
    )


def test_a_net_says_whether_its_numbers_are_told():
    text = TREE.replace("tree", "bayesnet")
    assert "the net: which attributes depend on which" in words(text)
    assert "by each attribute and its parents" not in words(text)
    assert "by each attribute and its parents" in words(text + "parameters: true\n")


def test_rows_that_are_not_matched_are_only_counted():
    text = f"""kind: count
{PARTIES.replace("id: ID", "partition: horizontal")}attributes: {{Job: {{values: [a, b]}}}}
tables: [[Job]]
"""
    told = words(text)
    assert "how many rows all parties have together" in told
    assert told.endswith("nobody: any single row")
    assert "its own people" not in told


def test_a_kind_without_sentences_of_its_own_says_what_it_declares_to_open():
    text = TREE.replace("tree", "identify").replace("class: Late\n", "") + "population: 1000\n"
    told = words(text)
    openings = [o for o in declared().values() if o.part == "identify"]
    assert openings
    assert all(f"{o.to}, at most: {o.what.rstrip('.')}" in told for o in openings)
