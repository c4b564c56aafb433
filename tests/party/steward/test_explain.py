"""`coterie party show`, `jobs --waiting` and `approve --by`: what an operator sees and says."""

import json

import grpc
import pytest
from click.testing import CliRunner

from coterie.party.cli import party
from coterie.protos import jobs_pb2 as pb
from tests.party.lending import COLUMNS, as_lenders, propose_loans, run_loans
from tests.party.test_live import audited


@pytest.fixture
def asked(houses):
    """A lender and a bank; the bank's operator has not answered yet."""
    as_lenders(houses)
    columns = COLUMNS["bank"]
    houses.write(
        "bank",
        policy={
            "kinds": ["integrate"],
            "columns": {"use": columns[1:], "release": columns[1:]},
            "smallest_k": 4,
            "consent": "manual",
        },
    )
    houses.serve_all()
    _, job_id, _ = propose_loans(houses)
    return houses, job_id


def tell(houses, *arguments):
    done = CliRunner().invoke(party, [*arguments, "--config", str(houses.path("bank"))])
    assert done.exit_code == 0, done.output
    return done.output


def test_a_job_is_explained_in_plain_words(asked):
    houses, job_id = asked
    text = tell(houses, "show", job_id[:8])
    for line in (
        "asked by: analyst",
        "with: lender",
        "uses: ID, Job, Salary, Class",
        "leaves unchanged: Class",
        "leaves changed: Job, Salary, in groups of at least 4",
        "never leaves: ID, and every column that is not used",
        "result goes to: the coordinator",
        "what others learn of your table:",
        "  lender: which of its own people are in your table, too",
        "  every party: the class 'Class' of each common person",
    ):
        assert line in text.splitlines()
    assert text.startswith("loans (integrate), WAITING since 2")
    everything = "  every party: The class of every common record, in the joint order."
    assert everything not in text.splitlines()
    assert everything in tell(houses, "show", job_id[:8], "--full").splitlines()


def test_the_same_facts_come_as_json(asked):
    houses, job_id = asked
    facts = json.loads(tell(houses, "show", "loans", "--json"))
    assert facts["job"] == job_id
    assert facts["columns"]["never_leave"] == ["ID"]
    assert facts["columns"]["leave_in_groups"] == ["Job", "Salary"]
    assert facts["refusals"] == []
    assert {"rule": "smallest_k", "policy": 4, "job": 4} in facts["rules"]
    assert not [o for o in facts["others_learn"] if "recipients" in o["to"]]
    assert facts["text"].startswith("kind: integrate")


def test_the_rules_that_permit_it_are_named(asked):
    houses, job_id = asked
    [line] = [t for t in tell(houses, "show", job_id).splitlines() if t.startswith("permitted by")]
    assert line == (
        "permitted by: coordinators, kinds, peers, columns.id, reveal, largest_peer_set, "
        "columns.use, columns.release, columns.class, smallest_k, together"
    )


def test_waiting_jobs_are_listed_with_dates_the_newest_last(asked):
    houses, first = asked
    _, second, _ = propose_loans(houses, name="later")
    listed = json.loads(tell(houses, "jobs", "--waiting", "--json"))["jobs"]
    assert [job["job"] for job in listed] == [first, second]
    assert [job["proposed"] for job in listed] == sorted(job["proposed"] for job in listed)
    assert listed[0]["proposed"].endswith("Z")
    tell(houses, "approve", first, "--by", "Dr. Vera Example")
    listed = json.loads(tell(houses, "jobs", "--waiting", "--json"))["jobs"]
    assert [job["job"] for job in listed] == [second]
    assert listed[0]["proposed"][:10] in tell(houses, "jobs", "--waiting")
    tell(houses, "approve", second, "--no")
    assert tell(houses, "jobs", "--waiting") == "no job waits for consent\n"


def test_the_audit_log_names_the_person_who_approved(asked):
    houses, job_id = asked
    tell(houses, "approve", job_id, "--by", "Dr. Vera Example")
    [line] = audited(houses, "bank", "approved")
    assert (line["by"], line["person"]) == ("bank", "Dr. Vera Example")
    assert "approved by Dr. Vera Example" in tell(houses, "show", job_id)


def test_what_a_finished_job_left_in_this_house_is_named(houses):
    as_lenders(houses)
    houses.serve_all()
    run_loans(houses)
    kept = json.loads(tell(houses, "show", "loans", "--json"))["kept"]
    assert kept["files"] == ["columns.html"]
    assert f"stays here, for nobody else: columns.html in {kept['folder']}" in tell(
        houses, "show", "loans"
    )
    page = houses.state("bank") / "jobs" / kept["folder"].split("/")[-2] / "kept" / "columns.html"
    assert "Your columns before and after" in page.read_text()
    assert page.stat().st_mode & 0o077 == 0


def test_the_date_of_a_proposal_outlives_a_restart(asked):
    houses, job_id = asked
    before = json.loads(tell(houses, "show", job_id, "--json"))
    houses.servers.pop("bank").stop()
    houses.serve("bank")
    after = json.loads(tell(houses, "show", job_id, "--json"))
    assert after["proposed"] == before["proposed"] != ""


def test_nobody_but_the_operator_is_told(asked):
    houses, job_id = asked
    with pytest.raises(grpc.RpcError) as error:
        houses.coordinator().stubs["bank"].Explain(pb.JobRef(job_id=job_id), timeout=60)
    assert error.value.code() == grpc.StatusCode.PERMISSION_DENIED
