"""What a party refuses, and why."""

import pytest

from coterie.protos import jobs_pb2 as pb
from tests.party.served import change


def refused(houses, coordinator, job, name="bank"):
    """What one party says to a job that it refuses."""
    proposal = pb.Proposal(job_id="0" * 32, job_yaml=job)
    decision = coordinator.stubs[name].Propose(proposal, timeout=60)
    assert decision.state == pb.REFUSED, decision
    return decision.exit_code, decision.reason


def test_a_party_refuses_by_policy_naming_the_rule_and_the_value(houses):
    houses.write("bank", policy={"kinds": ["integrate"], "peers": ["card"], "columns": {"id": []}})
    houses.serve("bank")
    assert refused(houses, houses.coordinator(), houses.job()) == (
        4,
        "policy.kinds does not list the kind 'intersect'; "
        "policy.peers does not list the party 'lender'; "
        "policy.columns.id does not list ID as an identifier; where it identifies people, write "
        "'id: [ID]' under policy.columns",
    )


def test_a_party_without_a_policy_refuses_everyone(houses):
    houses.write("bank", policy={"coordinators": []})
    houses.serve("bank")
    assert refused(houses, houses.coordinator(), houses.job()) == (
        4,
        "policy.coordinators does not list the coordinator 'analyst'",
    )


@pytest.mark.parametrize("caller", ["stranger", "lender"])
def test_only_listed_coordinators_may_propose(houses, caller):
    houses.serve("bank")
    code, reason = refused(houses, houses.coordinator(caller), "not: even: yaml")
    assert code == 4
    assert reason == f"policy.coordinators does not list the coordinator '{caller}'"


BAD_JOBS = {
    "an unknown key": (lambda job: job + "extra: 1\n", 2, "job:", "unknown key"),
    "a wrong kind": (lambda job: change(job, kind="guess"), 2, "job:1: kind", "must be one of"),
    "no parties": (lambda job: change(job, parties=None), 2, "job:1", "'parties' is missing"),
    "broken YAML": (lambda job: "kind: [", 2, "job:", "not YAML"),
    "a column that is not there": (lambda job: change(job, id="SSN"), 4, "policy", "SSN"),
}


@pytest.mark.parametrize("name", BAD_JOBS)
def test_a_bad_job_is_refused_with_the_line(houses, name):
    houses.serve("bank")
    make, code, *texts = BAD_JOBS[name]
    answer = refused(houses, houses.coordinator(), make(houses.job()))
    assert answer[0] == code
    for text in texts:
        assert text in answer[1]


def test_a_job_of_other_parties_is_refused(houses):
    houses.serve("bank")
    code, reason = refused(houses, houses.coordinator(), houses.job(parties=["lender", "card"]))
    assert (code, reason) == (2, "'bank' is not among the job's parties")


def test_a_job_with_a_party_outside_of_the_roster_is_refused(houses):
    houses.serve("bank")
    job = houses.job(parties=["lender", "bank", "mallory"])
    assert refused(houses, houses.coordinator(), job) == (
        4,
        "'mallory' is not in the roster of bank",
    )


def test_data_that_cannot_be_used_is_refused_before_anything_is_exchanged(houses):
    houses.people("bank", ["p1", "p2", "p1"])
    houses.write("bank", policy={"explain": "columns"})
    houses.serve("bank")
    code, reason = refused(houses, houses.coordinator(), houses.job())
    assert code == 3
    assert "bank.csv: column 'ID': identifiers are repeated" in reason
    assert "row 3" not in reason


def test_a_policy_may_let_coordinators_know_the_row(houses):
    houses.people("bank", ["p1", "p2", "p1"])
    houses.write("bank", policy={"explain": "rows"})
    houses.serve("bank")
    assert "row 3 repeats 1" in refused(houses, houses.coordinator(), houses.job())[1]


def test_a_table_that_is_gone_is_refused(houses):
    houses.serve("bank")
    (houses.folder / "bank.csv").unlink()
    code, reason = refused(houses, houses.coordinator(), houses.job())
    assert code == 3
    assert "bank.csv: No such file" in reason


@pytest.mark.parametrize("job_id", ["", "0" * 31, "A" * 32, "../../../../etc/passwd", "0" * 33])
def test_a_job_id_is_32_hexadecimal_digits(houses, job_id):
    houses.serve("bank")
    proposal = pb.Proposal(job_id=job_id, job_yaml=houses.job())
    decision = houses.coordinator().stubs["bank"].Propose(proposal, timeout=60)
    assert (decision.state, decision.exit_code) == (pb.REFUSED, 2)
    assert "32 hexadecimal digits" in decision.reason


def test_a_job_id_is_used_once_even_after_a_restart(houses):
    houses.serve_all()
    coordinator = houses.coordinator()
    job_id, _ = coordinator.propose(houses.job())
    _, again = coordinator.propose(houses.job(), job_id)
    assert {d.reason for d in again.values()} == {f"the job id {job_id} was used before"}
    houses.servers.pop("bank").stop()
    houses.serve("bank")
    decision = coordinator.stubs["bank"].Propose(
        pb.Proposal(job_id=job_id, job_yaml=houses.job()), timeout=60, wait_for_ready=True
    )
    assert (decision.state, decision.exit_code) == (pb.REFUSED, 2)


def test_a_file_that_no_key_of_the_job_names_is_refused(houses):
    houses.serve("bank")
    proposal = pb.Proposal(
        job_id="a" * 32, job_yaml=houses.job(), files={"../stowaway.bin": b"x" * 100}
    )
    decision = houses.stub("analyst", "bank").Propose(proposal, timeout=60)
    assert (decision.state, decision.exit_code) == (pb.REFUSED, 2)
    assert decision.reason == "job: no key of the job names the file '../stowaway.bin'"
