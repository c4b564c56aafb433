"""`sum: X by Sex`: a partner adds up a column of its own, which is 1 for one person, by another's attribute."""

import pytest

from tests.chosen_inputs.test_policy_rules import verdict
from tests.jobs.kinds.aggregate.samples import people, run, write_job

ASKS = "by: [Sex]\nmeasures: [{sum: Age}]\nminimum: 5\n"
ATTRIBUTES = """
attributes:
  Sex: {party: lender, values: [F, M]}
  Age: {party: bank, range: [0, 1]}
"""


@pytest.mark.parametrize("victim", [0, 1, 2, 3])
def test_a_column_of_one_person_tells_that_person_s_value_whatever_the_minimum_is(tmp_path, victim):
    """No check of a column that the partner wrote can help, so that the policy decides: see below."""
    table = people()
    table["Age"] = [int(at == victim) for at in range(len(table["ID"]))]
    held = {"lender": ["Sex"], "bank": ["Age"]}
    result = run(write_job(tmp_path, table, ASKS, ATTRIBUTES, held))
    sums = {group["by"][0]: group["measures"][0] for group in result["groups"]}
    assert sums == {sex: int(sex == table["Sex"][victim]) for sex in "FM"}


JOB = (
    "kind: aggregate\nname: x\nparties: {lender: {}, bank: {}}\nid: ID\nservers: [lender, bank]\n"
    + ATTRIBUTES
    + ASKS
)


def test_exact_alone_stands_in_the_way_of_it():
    """The holder of Sex is asked to release no column, and no smallest group forbids the job."""
    assert verdict(JOB, release=frozenset(), raw=frozenset(), smallest_k=5) == []
    [reason] = verdict(JOB, exact=frozenset())
    assert reason.startswith("policy.exact does not list bank")
    assert verdict(JOB + "noise: {epsilon: 1}\n", exact=frozenset()) == []
