"""`output: ask`: a steward looks at what a party would release, at real servers."""

import json
import time

import grpc
import pytest

from coterie.party import holds
from coterie.party.books.ledger import Ledger
from coterie.party.store.database import database
from coterie.protos import jobs_pb2 as pb
from tests.coordinator.support import coterie, wait_for
from tests.party.houses import Houses
from tests.party.test_history_served import audit, people_of, permit, releases


@pytest.fixture
def houses(tmp_path):
    made = Houses(tmp_path, ("lender", "bank"))
    people_of(made)
    permit(made, output="ask")
    with made.stack:
        made.serve_all()
        yield made


@pytest.fixture
def begun(houses):
    """A job that waits for the lender's steward: its coordinator and its id."""
    coordinator = houses.coordinator()
    job_id, _ = coordinator.propose(releases(houses))
    coordinator.start(job_id)
    await_question(houses)
    return coordinator, job_id


def await_question(houses):
    def asked():
        done = coterie("party", "jobs", "--config", houses.path("lender"), "--json")
        jobs = done.json["jobs"]
        assert all(job["state"] != "FINISHED" for job in jobs), "it has finished without a question"
        return any(job["held"] == "output" for job in jobs)

    wait_for(asked, "the job to ask for the output")


def approve(houses, *how):
    return coterie(
        "party", "approve", "common", "--config", houses.path("lender"), "--output", *how
    )


def ends(houses, coordinator, job_id):
    return {name: coordinator.end(job_id, name, 240) for name in houses.names}


def test_the_steward_sees_the_columns_and_lets_them_out(houses, begun):
    coordinator, job_id = begun
    config = houses.path("lender")
    shown = coterie("party", "show", job_id[:8], "--config", config, "--output").out
    for words in (
        "for your word on its output",
        "  file columns.arrow",
        "column SexAge: [",
        "winners",
    ):
        assert words in shown
    facts = coterie("party", "show", job_id, "--config", config, "--output", "--json").json
    output = facts["held"]["output"]
    [column] = output["columns"].values()
    assert sum(count for _, count in column["most_frequent"]) == output["result"]["records"] == 40
    assert "show common --output" not in shown
    with pytest.raises(grpc.RpcError, match="RUNNING, not FINISHED"):
        coordinator.fetch(job_id, "lender")
    assert approve(houses, "--by", "Ada").code == 0
    assert {e.state for e in ends(houses, coordinator, job_id).values()} == {pb.FINISHED}
    [said] = audit(houses, "approved")
    assert (said["about"], said["person"]) == ("output", "Ada")
    opened = json.loads(coordinator.fetch(job_id, "lender")["summary.json"])["opened"]
    assert "job: output approved" in {entry["what"] for entry in opened}
    assert approve(houses).code == 2
    assert coterie("party", "show", job_id, "--config", config, "--output").code == 2


def test_a_refusal_is_named_nothing_leaves_and_it_is_a_debt(houses, begun):
    coordinator, job_id = begun
    assert approve(houses, "--no", "--reason", "Sex looks odd").code == 0
    last = ends(houses, coordinator, job_id)
    assert {end.state for end in last.values()} == {pb.FAILED}
    assert "the operator says no to its output" in last["lender"].error
    assert "lender: stopped: the operator says no" in last["bank"].error
    assert "Sex looks odd" in last["bank"].error
    assert not (houses.state("lender") / "jobs" / job_id / "released").exists()
    ledger = Ledger(houses.state("bank"), "bank")
    wait_for(ledger.entries, "the end to be booked")
    [entry] = ledger.entries()
    assert (entry.open, entry.refused) == (True, "lender")
    balance = ledger.balances()["lender"]
    assert balance.open == balance.given >= 0
    assert balance.received == 0  # what the lender gave does not count for it
    [said] = audit(houses, "held back")
    assert said["about"] == "output"


def test_nobody_who_answers_is_a_refusal_and_says_so(houses, begun):
    coordinator, job_id = begun
    record = houses.servers["lender"]._book.get(job_id)
    record.held.until = time.time() - 1
    error = ends(houses, coordinator, job_id)["lender"].error
    assert "nobody answered within 24 hours (policy.answer_within) about its output" in error


def test_a_restart_while_the_steward_thinks_asks_again_within_the_same_limit(houses, begun):
    coordinator, job_id = begun
    until = houses.servers["lender"]._book.get(job_id).held.until
    houses.servers.pop("lender").stop()
    assert coordinator.end(job_id, "bank", 240).state == pb.FAILED
    houses.serve("lender")
    for name in houses.names:
        assert coordinator.stubs[name].Resume(pb.JobRef(job_id=job_id)).state == pb.ACCEPTED
    coordinator.start(job_id)
    await_question(houses)
    assert houses.servers["lender"]._book.get(job_id).held.until == until
    assert approve(houses).code == 0
    assert {e.state for e in ends(houses, coordinator, job_id).values()} == {pb.FINISHED}


def test_a_yes_that_was_given_is_not_asked_for_again(houses, begun):
    coordinator, job_id = begun
    record = houses.servers["lender"]._book.get(job_id)
    assert approve(houses).code == 0
    ends(houses, coordinator, job_id)
    digest = database(record.home).get("notes", record.note)["output"]["yes"]
    hold = holds.Hold("output", time.time() + 60, {})
    holds.ask(record, hold, digest, lambda: pytest.fail("asked"), lambda: None)


def test_a_job_that_is_cancelled_meanwhile_waits_no_longer(houses, begun):
    coordinator, job_id = begun
    assert coterie("party", "cancel", job_id, "--config", houses.path("bank")).code == 0
    last = ends(houses, coordinator, job_id)
    assert {end.state for end in last.values()} == {pb.CANCELLED}
