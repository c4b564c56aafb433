"""Jobs with noise at real servers: charged first, refused when the budget is spent, also after a restart."""

import json

import pytest
import yaml

from coterie.party.store.database import database
from coterie.protos import jobs_pb2 as pb

NAMES = ("lender", "bank", "card")


@pytest.fixture
def served(houses):
    """Servers with a budget of 1, and a job that spends 0.6 of it."""
    for name in NAMES:
        policy = {
            "kinds": ["aggregate"],
            "columns": {"use": ["Sex"], "release": []},
            "smallest_k": 1,
        }
        houses.write(name, policy={**policy, "budget": {"epsilon": 1, "days": 30}})
    houses.serve_all()
    return houses


def job(houses, **keys):
    content = yaml.safe_load(houses.job())
    del content["id"]
    content |= {"kind": "aggregate", "partition": "horizontal", "minimum": 1, "by": ["Sex"]}
    content |= {"attributes": {"Sex": {"values": ["f", "m"]}}, "measures": [{"count": True}]}
    return yaml.safe_dump({**content, "noise": {"epsilon": 0.6}, **keys}, sort_keys=False)


def ledger(houses, name):
    return [json.loads(row) for row in database(houses.state(name)).rows("ledger")]


def test_a_job_with_noise_is_charged_before_it_runs(served):
    coordinator = served.coordinator()
    job_id, decisions = coordinator.propose(job(served))
    assert {d.state for d in decisions.values()} == {pb.ACCEPTED}, decisions
    assert ledger(served, "bank") == []
    coordinator.start(job_id)
    assert [coordinator.end(job_id, name).error for name in NAMES] == ["", "", ""]
    results = {coordinator.fetch(job_id, name)["summary.json"] for name in NAMES}
    assert all(json.loads(r)["result"]["noise"]["epsilon"] == 0.6 for r in results)
    for name in NAMES:
        [line] = ledger(served, name)
        assert (line["job"], line["epsilon"], line["table"]) == (job_id, "3/5", "")
        log = (served.state(name) / "audit.log").read_text()
        assert log.index("budget charged") < log.index('"ended"')

    again = "policy.budget.epsilon has less left than the 0.6 that the job spends"
    assert {d.reason for d in coordinator.propose(job(served))[1].values()} == {again}
    served.servers.pop("bank").stop()
    server = served.serve("bank")
    request = pb.DescribeRequest(job_yaml=job(served))
    check = served.stub("analyst", "bank").Describe(request, timeout=60).checks[-1]
    assert (check.name, check.ok, check.detail) == ("policy", False, again)
    smaller = coordinator.propose(job(served, noise={"epsilon": 0.4}))[1]["bank"]
    assert smaller.state == pb.ACCEPTED
    assert server is served.servers["bank"]


def test_a_policy_without_a_budget_refuses_noise(served):
    served.write(
        "card",
        policy={
            "kinds": ["aggregate"],
            "columns": {"use": ["Sex"], "release": []},
            "smallest_k": 1,
        },
    )
    served.servers.pop("card").stop()
    served.serve("card")
    decision = served.coordinator().propose(job(served))[1]["card"]
    assert (decision.state, decision.exit_code) == (pb.REFUSED, 4)
    assert decision.reason == "policy.budget is not set, and the job spends epsilon 0.6 of it"
    whole = served.coordinator().propose(job(served, noise={"epsilon": 3, "delta": 1e-9}))[1][
        "bank"
    ]
    assert whole.reason == (
        "policy.budget.epsilon is 1, and the job spends 3; "
        "policy.budget.delta is 0, and the job spends 1e-09"
    )


MODELS = {
    "regress": {"model": "ridge", "outcome": "Pay", "features": ["Age"]},
    "cluster": {"clusters": 2, "iterations": 1},
}


@pytest.mark.parametrize("kind", MODELS)
def test_models_with_noise_are_charged_and_need_no_word_for_exact_answers(houses, kind):
    """With `exact` unset the same job without noise is refused, before anything is exchanged."""
    held = {"lender": "Age", "bank": "Pay", "card": "Rent"}
    for at, (name, column) in enumerate(held.items()):
        rows = "".join(f"p{i},{(i * 7 + at) % 40}\n" for i in range(30))
        (houses.folder / f"{name}.csv").write_text(f"ID,{column}\n{rows}")
        columns = {"id": ["ID"], "use": [column], "release": [column]}
        policy = {"kinds": [kind], "columns": columns, "smallest_k": 1, "exact": []}
        houses.write(name, policy={**policy, "budget": {"epsilon": 1, "days": 30}})
    houses.serve_all()
    content = {**yaml.safe_load(houses.job()), "kind": kind, "minimum": 1, **MODELS[kind]}
    used = ("Age", "Pay") if kind == "regress" else held.values()
    owners = {column: name for name, column in held.items()}
    content["attributes"] = {c: {"party": owners[c], "range": [0, 40]} for c in used}
    coordinator = houses.coordinator()
    plain = coordinator.propose(yaml.safe_dump(content, sort_keys=False))[1]["bank"]
    assert plain.reason.startswith("policy.exact does not list lender, card")
    noisy = yaml.safe_dump({**content, "noise": {"epsilon": 0.6}}, sort_keys=False)
    job_id, decisions = coordinator.propose(noisy)
    assert {d.state for d in decisions.values()} == {pb.ACCEPTED}, decisions
    coordinator.start(job_id)
    assert [coordinator.end(job_id, name, 180).error for name in NAMES] == ["", "", ""]
    assert all([line["epsilon"] for line in ledger(houses, name)] == ["3/5"] for name in NAMES)
    again = "policy.budget.epsilon has less left than the 0.6 that the job spends"
    assert {d.reason for d in coordinator.propose(noisy)[1].values()} == {again}
