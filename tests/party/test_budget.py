"""Jobs with noise at real servers: charged first, refused when the budget is spent, also after a restart."""

import json

import pytest
import yaml

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
    path = houses.state(name) / "ledger.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


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
