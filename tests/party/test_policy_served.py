"""Rules of a policy that a coordinator under `consent: auto` could otherwise get around."""

import re
import secrets

import pytest

from coterie.protos import jobs_pb2 as pb

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
    return stub.Propose(proposal, timeout=60)


def test_a_column_in_no_qid_is_refused_unless_it_may_leave_as_it_is(bank):
    decision = propose(bank(raw=[]))
    assert (decision.state, decision.exit_code) == (pb.REFUSED, 4)
    assert decision.reason == (
        "policy.columns.raw does not list 'Zodiac', which the job releases unchanged"
    )


def test_a_column_taken_out_of_the_qid_is_refused(bank):
    stub = bank()
    assert propose(stub).state == pb.ACCEPTED
    decision = propose(stub, JOB.replace("qid: [Sex, Age]", "qid: [Sex]"))
    assert decision.reason == (
        "policy.columns.raw does not list 'Age', which the job releases unchanged"
    )


def test_data_is_checked_only_so_often_for_a_coordinator(houses, bank):
    stub = bank(examinations=2, coordinators=["analyst", "other"])
    narrow = JOB.replace("[0, 100]", "[0, 30]")
    assert propose(stub, narrow).exit_code == 3
    request = pb.DescribeRequest(job_yaml=JOB, files={"Sex.csv": b"f;Any\nm;Any\n"})
    assert stub.Describe(request, timeout=60).checks[-1].ok
    reason = "policy.examinations is 2, and jobs were examined 2 times for 'analyst' within an hour"
    decision = propose(stub)
    assert (decision.state, decision.exit_code, decision.reason) == (pb.REFUSED, 4, reason)
    check = stub.Describe(request, timeout=60).checks[-1]
    assert (check.name, check.ok, check.detail) == ("policy", False, reason)
    houses.authority.issue("other")
    assert propose(houses.stub("other", "bank")).state == pb.ACCEPTED


GOOD = [f"p{i},{'fm'[i % 2]},{20 + i},Leo" for i in range(20)]
BAD_ROWS = {
    "too few values": b"p6,f",
    "an open quotation mark": b'p6,f,30,"Leo',
    "no UTF-8": b"p6,\xff,30,Leo",
    "an empty identifier": b",f,30,Leo",
    "a repeated identifier": b"p2,f,30,Leo",
    "an empty value": b"p6,,30,Leo",
    "a value that is not in the taxonomy": b"p6,x,30,Leo",
    "an inner value of the taxonomy": b"p6,Any,30,Leo",
    "a value outside the range": b"p6,f,777,Leo",
    "no number": b"p6,f,old,Leo",
    "no finite number": b"p6,f,inf,Leo",
}


@pytest.mark.parametrize("name", BAD_ROWS)
def test_no_complaint_about_data_tells_the_row_or_the_value(houses, bank, name):
    lines = [line.encode() for line in ["ID,Sex,Age,Zodiac", *GOOD]]
    lines[7] = BAD_ROWS[name]
    (houses.folder / "bank.csv").write_bytes(b"\n".join(lines) + b"\n")
    decision = propose(bank(explain="columns"))
    assert (decision.state, decision.exit_code) == (pb.REFUSED, 3)
    told = decision.reason.removeprefix(f"{houses.folder / 'bank.csv'}: ")
    assert told.endswith(" (the row is in the party's log)")
    assert not re.search(r"row [0-9]|\b7\b|777|'x'|'Any'|old|inf", told), told
    [listed] = houses.stub("bank", "bank").List(pb.ListRequest(), timeout=60).jobs
    assert re.search(r"\brow [0-9]", listed.detail)


@pytest.mark.parametrize(
    ("together", "state", "said"),
    [
        ("ask", pb.WAITING, "its columns may be unique together (policy.together)"),
        ("refuse", pb.REFUSED, "policy.together is 'refuse'"),
        ("allow", pb.ACCEPTED, ""),
    ],
)
def test_entries_that_may_be_unique_together_wait_for_the_operator(
    houses, bank, together, state, said
):
    columns = {"use": [*COLUMNS], "id": ["ID"], "release": [*COLUMNS], "raw": ["Zodiac"]}
    stub = bank(columns=columns, together=together)
    apart = JOB.replace("qid: [Sex, Age], k: 4}", "qid: [Sex], k: 4}\n  - {qid: [Age], k: 4}")
    decision = propose(stub, apart)
    assert decision.state == state, decision.reason
    waits = "waits for the operator's consent: " if state == pb.WAITING else ""
    assert waits + said in decision.reason
    request = pb.DescribeRequest(job_yaml=apart, files={"Sex.csv": b"f;Any\nm;Any\n"})
    policy = next(c for c in stub.Describe(request, timeout=60).checks if c.name == "policy")
    assert policy.ok == (state != pb.REFUSED)
    assert said in policy.detail
    assert propose(stub).state == pb.ACCEPTED
