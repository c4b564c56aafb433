"""A kept model answers so many jobs about people whose columns the asker has invented, and no more."""

from dataclasses import replace

import pytest
import yaml

from coterie.base.errors import RefusedError
from coterie.jobs.kinds.job_file import parse_job
from coterie.party.books.models import ModelFolder
from coterie.party.config import load_party
from coterie.party.preflight import charge, check_policy
from tests.jobs.kinds.predict.kept import part

VALUES = [f"v{at}" for at in range(64)]
ATTRIBUTES = {"Sex": ("lender", VALUES, []), "Job": ("bank", ["x", "y"], [])}
BRANCHES = [
    (at * 37 // 5) % 2 for at in range(64)
]  # of the tree below each value, kept by nobody else


@pytest.fixture
def bank(houses):
    houses.write(
        "bank",
        policy={
            "kinds": ["predict"],
            "columns": {"id": ["ID"], "use": ["Job"]},
            "exact": ["lender"],
            "recipients": ["lender"],
            "models": "keep",
            "predictions": 6,
        },
    )
    config = load_party(houses.path("bank"))
    config.state.mkdir()
    keep(config, "risk", "a" * 32)
    return config


def keep(config, name, job):
    kept = config.state / "kept"
    kept.mkdir(exist_ok=True)
    part("tree", ATTRIBUTES, "bank", name=name).write(kept)
    assert ModelFolder(config.state).take(kept, "analyst", job) == ""


def predict(model="risk"):
    content = {
        "kind": "predict",
        "name": "oracle",
        "parties": {"lender": {}, "bank": {}},
        "id": "ID",
        "model": model,
        "attributes": {"Sex": {"party": "lender"}, "Job": {"party": "bank"}},
        "recipients": ["lender"],
    }
    return parse_job(yaml.safe_dump(content, sort_keys=False), {})


def ask(config, at, model="risk", resumed=False):
    """As a server does it: the policy when the job is proposed, the charge before it begins."""
    check_policy(config, predict(model), "analyst", resumed)
    charge(config, f"{at:032x}", predict(model))


def test_a_common_person_is_asked_about_so_often_whatever_the_asker_invents(bank):
    """One common person; the lender writes another value of its own column for each job.

    Each answer tells what the model makes of one value beside the bank's. What the lender knows of
    the model's 64 cells is counted, not what it guesses.
    """
    known = {}
    for at, value in enumerate(VALUES):
        try:
            ask(bank, at)
        except RefusedError:
            continue
        known[value] = BRANCHES[at]
    assert len(known) == 6
    agreeing = 2 ** (len(VALUES) - len(known))  # models that give the answers that were given
    assert agreeing == 2**58


def test_a_job_that_goes_on_counts_once_and_a_restart_forgets_nothing(bank, houses):
    for at in (1, 2, 3, 4, 5, 6):
        ask(bank, at)
    ask(bank, 6, resumed=True)
    again = load_party(houses.path("bank"))
    with pytest.raises(RefusedError, match=r"policy.predictions is 6"):
        ask(again, 7)
    # A job that was permitted before the sixth began meets the limit when it begins.
    with pytest.raises(RefusedError, match=r"policy.predictions is 6"):
        charge(again, f"{8:032x}", predict())


def test_another_name_of_a_model_is_another_model_and_its_own_name_is_not_new(bank):
    for at in range(6):
        ask(bank, at)
    keep(bank, "other", "b" * 32)
    ask(bank, 10, "other")
    ModelFolder(bank.state).remove("risk")
    keep(bank, "risk", "c" * 32)  # by another job, with another intersection and its own permission
    ask(bank, 11)


def test_without_exact_nobody_asks_at_all(bank):
    strict = replace(bank, policy=replace(bank.policy, exact=frozenset()))
    with pytest.raises(RefusedError, match=r"policy.exact does not list lender"):
        ask(strict, 1)
