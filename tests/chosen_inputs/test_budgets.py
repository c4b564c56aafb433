"""The same people in two tables of one party pay one budget, whatever table a job names."""

from fractions import Fraction

import pytest
import yaml

from coterie.base.errors import RefusedError
from coterie.jobs.kinds.job_file import parse_job
from coterie.party.config import load_party
from coterie.party.preflight import charge, check_policy


@pytest.fixture
def bank(houses):
    """A bank with the same people in three tables, each with a budget of its own."""
    tables = {}
    for name, epsilon in (("one", 1), ("two", 1), ("three", 0.5)):
        policy = houses.party_file("bank")["policy"] | {
            "kinds": ["aggregate"],
            "columns": {"id": ["ID"], "use": ["Sex"]},
            "smallest_k": 1,
            "budget": {"epsilon": epsilon},
        }
        tables[name] = {"data": "bank.csv", "policy": policy}
    houses.write("bank", data=None, policy=None, tables=tables)
    config = load_party(houses.path("bank"))
    config.state.mkdir()
    return config


def job(config, table, epsilon):
    content = {
        "kind": "aggregate",
        "name": "counts",
        "parties": {name: {} for name in ("lender", "card")} | {"bank": {"table": table}},
        "partition": "horizontal",
        "attributes": {"Sex": {"values": ["f", "m"]}},
        "by": ["Sex"],
        "measures": [{"count": True}],
        "noise": {"epsilon": float(epsilon)},
        "minimum": 1,
        "servers": ["lender", "bank"],
    }
    return parse_job(yaml.safe_dump(content, sort_keys=False), {})


def test_what_answers_about_a_person_cost_together_stays_within_the_budget(bank):
    """The attacker asks each table in turn; noise of epsilon e multiplies the odds by exp(e) at most."""
    told = Fraction(0)
    for at in range(30):
        asked = job(bank, ("one", "two", "three")[at % 3], Fraction(1, 5))
        try:
            check_policy(bank, asked, "analyst")
            charge(bank, f"{at:032x}", asked)
        except RefusedError:
            continue
        told += Fraction(1, 5)
    assert told == 1  # the largest budget, and not the sum of the three


def test_a_smaller_budget_counts_what_other_tables_have_spent(bank):
    charge(bank, "1" * 32, job(bank, "one", Fraction(2, 5)))
    with pytest.raises(RefusedError, match=r"policy.budget.epsilon has less left than the 0.2"):
        check_policy(bank, job(bank, "three", Fraction(1, 5)), "analyst")
    check_policy(bank, job(bank, "three", Fraction(1, 10)), "analyst")
    check_policy(bank, job(bank, "two", Fraction(3, 5)), "analyst")
