"""`partition: horizontal`: a partner brings rows of people who do not exist."""

import csv
import itertools

import pytest

from coterie.coordinator.simulate.simulation import simulate
from coterie.jobs.kinds.job_file import load_job
from tests.chosen_inputs.test_policy_rules import verdict

JOB = """\
kind: count
name: pooled
parties: {lender: {data: lender.csv}, bank: {data: bank.csv}}
partition: horizontal
attributes: {Sex: {values: [F, M]}, Job: {values: [Cook, Lawyer]}}
tables: [[Sex, Job]]
minimum: 5
"""
CELLS = list(itertools.product("FM", ["Cook", "Lawyer"]))


def test_invented_rows_show_what_a_minimum_would_hide(tmp_path):
    """Rows that the bank invented lift every cell above the minimum, and it takes them off again.

    No check of rows that the partner wrote can help, so that the policy decides: see below.
    """
    truth = dict(zip(CELLS, (9, 1, 3, 7), strict=True))
    invented = dict.fromkeys(CELLS, 5)
    for party, cells in (("lender", truth), ("bank", invented)):
        with (tmp_path / f"{party}.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(("Sex", "Job"))
            writer.writerows(cell for cell, count in cells.items() for _ in range(count))
    path = tmp_path / "job.yaml"
    path.write_text(JOB)
    (tmp_path / "out").mkdir()
    result = simulate(load_job(path), tmp_path, tmp_path / "out", seed="1")
    cells = result["tables"][0]["cells"]
    learned = {(sex, job): count - 5 for sex, job, count in cells}
    assert learned == truth


POOLED = {
    "count": JOB,
    "tree": JOB.replace("count", "tree").replace("tables: [[Sex, Job]]", "class: Class"),
    "bayesnet": JOB.replace("count", "bayesnet").replace("tables: [[Sex, Job]]\n", ""),
    "rules": JOB.replace("count", "rules").replace(
        "tables: [[Sex, Job]]", "support: 0.1\nconfidence: 0.1"
    ),
    "aggregate": JOB.replace("count", "aggregate", 1).replace(
        "tables: [[Sex, Job]]", "by: [Sex]\nmeasures: [{count: true}]"
    ),
    "regress": (
        "kind: regress\nname: x\nparties: {lender: {}, bank: {}}\npartition: horizontal\n"
        "model: linear\noutcome: Pay\nfeatures: [Age]\n"
    ),
    "cluster": (
        "kind: cluster\nname: x\nparties: {lender: {}, bank: {}}\npartition: horizontal\n"
        "clusters: 2\nattributes: {Age: {}}\n"
    ),
}


@pytest.mark.parametrize("kind", POOLED)
def test_exact_answers_over_rows_of_a_partner_need_its_name(kind):
    assert verdict(POOLED[kind]) == []
    [reason] = verdict(POOLED[kind], exact=frozenset())
    assert reason.startswith("policy.exact does not list bank")


def test_noise_over_rows_of_a_partner_needs_a_budget_and_not_its_name():
    noisy = POOLED["aggregate"] + "noise: {epsilon: 1}\n"
    assert verdict(noisy, exact=frozenset()) == []
