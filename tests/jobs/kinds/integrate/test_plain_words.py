"""What a steward reads about a joint table: each key that tells more has its sentence."""

import pytest

from coterie.jobs.kinds.integrate.plain_words import told_of
from coterie.jobs.kinds.job_file import parse_job

TABLE = """kind: integrate
parties: {bank: {}, lender: {}, card: {}}
id: ID
name: x
class: Late
attributes:
  Job: {party: bank, flat: true}
  Salary: {party: bank}
  Illness: {party: bank}
  Sex: {party: lender, flat: true}
requirement: [{qid: [Job, Salary, Sex], k: 5}]
"""


def words(text, party="bank"):
    return "\n".join(told_of(parse_job(text, {}), party))


def test_a_table_tells_groups_spans_flat_values_and_what_leaves_as_it_is():
    told = words(TABLE)
    assert (
        "every party and the coordinator, of each common person: the group of 'Job' and 'Salary' that"
        in told
    )
    assert "'Illness' of each common person exactly as your table has it" in told
    assert "the lowest and the highest value of 'Salary'" in told
    assert "all values of 'Job' that occur in your table" in told
    assert "the class 'Late' of each common person" in told
    assert "how much your best column tells about the class" not in told
    assert "Illness" not in words(TABLE, "lender")
    assert "lowest" not in words(TABLE, "lender")


def test_entries_whose_columns_may_be_unique_together_are_named():
    apart = TABLE.replace(
        "[{qid: [Job, Salary, Sex], k: 5}]", "[{qid: [Job, Salary], k: 5}, {qid: [Sex], k: 5}]"
    )
    assert "none from those who know all of 'Job', 'Salary' and 'Sex'" in words(apart)
    assert "one person alone" not in words(TABLE)


@pytest.mark.parametrize(
    ("key", "sentence", "said"),
    [
        ("hide_scores: false", "how much your best column", True),
        ("adversary: malicious", "what each party has contributed", True),
        ("adversary: malicious", "it does not resist false data, wrong shares, or partners", True),
    ],
)
def test_a_key_of_integrate_changes_what_is_said(key, sentence, said):
    assert (sentence in words(TABLE + key)) is said
    assert (sentence in words(TABLE)) is not said
