"""What is left of a budget is shown to the operator by `check`, `ledger` and `show`."""

import json
from fractions import Fraction

from click.testing import CliRunner

from coterie.jobs.file.job import Job
from coterie.party.books.charges import Charges
from coterie.party.cli import party
from coterie.party.config import load_party
from coterie.party.operator.check import examine
from coterie.party.steward.budgets import budget_lines, budget_rule

JOB = Job("aggregate", "pay", (), "", {})


def test_check_and_ledger_say_what_is_spent(houses):
    houses.write("bank", policy={"budget": {"epsilon": 2, "delta": 0.00001, "days": 90}})
    config = load_party(houses.path("bank"))
    config.state.mkdir()
    words = "epsilon 0.5 of 2 and delta 1e-06 of 1e-05 are spent within 90 days"
    asked = Fraction(1, 2), Fraction(1, 10**6)
    Charges(config.state).charge("a", JOB, None, config.policy.budget, asked)
    assert budget_lines(config) == [f"budget: {words}"]
    [check] = [c for c in examine(houses.path("bank")) if c.name == "budget"]
    assert (check.state, check.detail) == ("ok", words)
    [rule] = budget_rule(config, asked)
    assert rule == {"rule": "budget", "policy": words, "job": "epsilon 0.5 and delta 1e-06"}
    done = CliRunner().invoke(party, ["ledger", "--config", str(houses.path("bank")), "--json"])
    [facts] = json.loads(done.output)["budgets"]
    assert facts["spent"] == {"epsilon": 0.5, "delta": 1e-06}
    Charges(config.state).charge(
        "b", JOB, None, config.policy.budget, (Fraction(3, 2), Fraction(0))
    )
    [check] = [c for c in examine(houses.path("bank")) if c.name == "budget"]
    assert (check.state, check.detail.split(":")[0]) == ("warning", "jobs with noise are refused")


def test_a_table_without_a_budget_has_no_line(houses):
    assert budget_lines(load_party(houses.path("bank"))) == []
