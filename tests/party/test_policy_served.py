"""Rules of a policy that a coordinator under `consent: auto` could otherwise get around."""

import secrets

import pytest

from protos import party_pb2 as pb

JOB = """\
kind: integrate
name: zodiac
parties: {lender: {}, bank: {}}
id: ID
score: discernibility
attributes:
  Sex: {party: bank, taxonomy: Sex.csv}
  Age: {party: bank, range: [0, 100]}
  Zodiac: {party: bank}
requirement:
  - {qid: [Sex, Age], k: 4}
"""
COLUMNS = ["Sex", "Age", "Zodiac"]


@pytest.fixture
def bank(houses):
    """A function that serves the bank with a policy and gives what it answers to a job."""
    rows = "".join(f"p{i},{'fm'[i % 2]},{20 + i},Leo\n" for i in range(20))
    (houses.folder / "bank.csv").write_text("ID,Sex,Age,Zodiac\n" + rows)

    def serve(raw=("Zodiac",), **policy):
        columns = {"use": ["ID", *COLUMNS], "release": COLUMNS, "raw": list(raw)}
        rules = {"kinds": ["integrate"], "columns": columns, "smallest_k": 4, **policy}
        houses.write("bank", policy=rules)
        houses.serve("bank")
        return houses.stub("analyst", "bank")

    return serve


def propose(stub, job=JOB):
    proposal = pb.Proposal(
        job_id=secrets.token_hex(16), job_yaml=job, files={"Sex.csv": b"f;Any\nm;Any\n"}
    )
    return stub.Propose(proposal, timeout=30)


def test_a_column_in_no_qid_is_refused_unless_it_may_leave_as_it_is(bank):
    decision = propose(bank(raw=[]))
    assert (decision.state, decision.exit_code) == (pb.REFUSED, 4)
    assert decision.reason == (
        "policy.columns.raw does not list 'Zodiac', which the job releases as it is"
    )


def test_a_column_taken_out_of_the_qid_is_refused(bank):
    stub = bank()
    assert propose(stub).state == pb.ACCEPTED
    decision = propose(stub, JOB.replace("qid: [Sex, Age]", "qid: [Sex]"))
    assert decision.reason == (
        "policy.columns.raw does not list 'Age', which the job releases as it is"
    )


def test_data_is_checked_only_so_often_for_a_coordinator(houses, bank):
    stub = bank(examinations=2, coordinators=["analyst", "other"])
    narrow = JOB.replace("[0, 100]", "[0, 30]")
    assert propose(stub, narrow).exit_code == 3
    request = pb.DescribeRequest(job_yaml=JOB, files={"Sex.csv": b"f;Any\nm;Any\n"})
    assert stub.Describe(request, timeout=10).checks[-1].ok
    reason = (
        "policy.examinations is 2, and the data was checked 2 times for 'analyst' within an hour"
    )
    decision = propose(stub)
    assert (decision.state, decision.exit_code, decision.reason) == (pb.REFUSED, 4, reason)
    check = stub.Describe(request, timeout=10).checks[-1]
    assert (check.name, check.ok, check.detail) == ("data", False, reason)
    houses.authority.issue("other")
    assert propose(houses.stub("other", "bank")).state == pb.ACCEPTED
