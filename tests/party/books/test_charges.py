"""Charges to a budget: added up over the days, once for each job, never beyond the budget."""

import json
import threading
from fractions import Fraction

import pytest

from coterie.base.errors import RefusedError, VerificationError
from coterie.jobs.file.job import Job
from coterie.party.books.charges import Charges, Spent
from coterie.party.books.ledger import Ledger
from coterie.party.policy import Budget
from coterie.party.store.database import database

BUDGET = Budget(Fraction(1), Fraction(1, 1000), 30)
JOB = Job("aggregate", "pay", (), "", {})
DAY = 86_400.0


def ask(epsilon, delta=0):
    return Fraction(str(epsilon)), Fraction(str(delta))


def test_a_budget_is_spent_to_the_last_and_not_beyond(tmp_path):
    charges = Charges(tmp_path)
    for number in range(10):
        assert charges.charge(f"job {number}", JOB, None, BUDGET, ask(0.1))
    assert charges.spent(BUDGET).epsilon == 1
    with pytest.raises(RefusedError, match=r"policy.budget.epsilon has less left than the 0.001"):
        charges.charge("one more", JOB, None, BUDGET, ask(0.001))


def test_a_job_that_goes_on_is_charged_once(tmp_path):
    charges = Charges(tmp_path)
    assert charges.charge("a", JOB, None, BUDGET, ask(0.7))
    assert not charges.charge("a", JOB, None, BUDGET, ask(0.7))
    assert Charges(tmp_path).spent(BUDGET) == Spent(Fraction(7, 10))


def test_noise_that_is_drawn_anew_is_charged_once_more_and_no_more(tmp_path):
    """A partner that crashes after every draw costs the party one charge more than the job's."""
    charges = Charges(tmp_path)
    assert charges.charge("a", JOB, None, BUDGET, ask(0.3))
    assert charges.charge("a", JOB, None, BUDGET, ask(0.3), again=True)
    with pytest.raises(RefusedError, match="interrupted twice after its noise was drawn"):
        charges.charge("a", JOB, None, BUDGET, ask(0.3), again=True)
    assert charges.spent(BUDGET).epsilon == Fraction(6, 10)
    assert charges.charge("b", JOB, None, BUDGET, ask(0.3))
    with pytest.raises(RefusedError, match=r"policy.budget.epsilon has less left"):
        charges.charge("b", JOB, None, BUDGET, ask(0.3), again=True)


def test_delta_has_a_budget_of_its_own(tmp_path):
    charges = Charges(tmp_path)
    charges.charge("a", JOB, None, BUDGET, ask(0.1, 0.0008))
    with pytest.raises(RefusedError, match=r"budget.delta has less left than the 0.0005"):
        charges.charge("b", JOB, None, BUDGET, ask(0.1, 0.0005))
    assert charges.charge("c", JOB, None, BUDGET, ask(0.1))


def test_what_is_older_than_the_days_counts_no_more(tmp_path):
    now = [100 * DAY]
    charges = Charges(tmp_path, lambda: now[0])
    charges.charge("a", JOB, "claims", BUDGET, ask(1))
    now[0] += 29 * DAY
    assert charges.spent(BUDGET).epsilon == 1
    now[0] += 2 * DAY
    assert charges.spent(BUDGET) == Spent()
    assert charges.charge("b", JOB, "claims", BUDGET, ask(1))


def test_a_model_is_used_so_often_and_each_job_counts_once(tmp_path):
    charges = Charges(tmp_path)
    for job in ("a", "a", "b"):
        charges.use(job, "risk", "maker", 2)
    assert charges.uses("maker") == 2
    with pytest.raises(RefusedError, match=r"policy.predictions is 2, and as many jobs have used"):
        charges.use("c", "risk", "maker", 2)
    Charges(tmp_path).use("b", "risk", "maker", 2)  # goes on after an interruption
    charges.use("c", "risk", "another maker", 2)
    assert (charges.uses("maker"), charges.uses("another maker")) == (2, 1)
    assert Ledger(tmp_path, "bank").balances() == {}


def test_of_two_jobs_at_once_only_what_is_left_is_spent(tmp_path):
    refused = []

    def charge(name):
        try:
            Charges(tmp_path).charge(name, JOB, None, BUDGET, ask(0.3))
        except RefusedError:
            refused.append(name)

    threads = [threading.Thread(target=charge, args=(f"job {n}",)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(refused) == 5
    assert Charges(tmp_path).spent(BUDGET).epsilon == Fraction(9, 10)


def test_the_coordinator_is_not_told_what_earlier_jobs_spent(tmp_path):
    charges = Charges(tmp_path)
    charges.charge("a", JOB, None, BUDGET, ask(0.75))
    with pytest.raises(RefusedError) as caught:
        charges.charge("b", JOB, None, BUDGET, ask(0.5))
    assert "0.75" not in str(caught.value)
    assert "epsilon 0.75 of 1" in caught.value.inside


def test_charges_stand_in_the_ledger_and_leave_its_balances_alone(tmp_path):
    Charges(tmp_path).charge("a", JOB, None, BUDGET, ask(0.5))
    ledger = Ledger(tmp_path, "bank")
    assert ledger.balances() == {}
    [row] = database(tmp_path).rows("ledger")
    assert json.loads(row)["epsilon"] == "1/2"


def test_a_charge_that_was_changed_into_nonsense_is_named(tmp_path):
    Charges(tmp_path).charge("a", JOB, None, BUDGET, ask(0.5))
    [row] = database(tmp_path).rows("ledger")
    with database(tmp_path).changing() as change:
        change.replace("ledger", [row.replace("1/2", "-1/2")])
    with pytest.raises(VerificationError, match=r"row 1 is not a line"):
        Charges(tmp_path).spent(BUDGET)
