"""What an error tells whom: values of a table stay with the party that holds it."""

import json

import pytest

from coterie.anonymity.table.columns import categorical_column
from coterie.anonymity.table.taxonomy import build_taxonomy
from coterie.base.errors import (
    CancelledError,
    DataError,
    EnvironmentFaultError,
    PeerFaultError,
    PeerLostError,
    RefusedError,
)
from coterie.protos import jobs_pb2 as pb
from coterie.protos.peers_pb2 import Farewell
from coterie.transport.error_messages import (
    culprit_of,
    describe,
    describe_to_coordinator,
    error_from,
    exit_code_of,
    farewell_for,
)


def test_a_private_value_is_left_out_for_everyone_else():
    error = DataError(
        "column {column}: {value} is not a number", file="t.csv", column="A", rows=[17], value="99"
    )
    assert "99" in str(error)
    assert "99" not in describe(error)
    assert "17" not in describe_to_coordinator(error, "columns")
    assert farewell_for(error, "bank", "ring").error == "its data cannot be used"


@pytest.mark.parametrize("explain", ["columns", "rows"])
def test_what_an_error_has_inside_stays_in_the_own_log(explain):
    error = PeerFaultError("card", "compare", "sent two parties different things")
    error.inside = "digest 0123456789abcdef"
    assert "0123456789abcdef" in describe(error.placed("ring"))
    told = [describe_to_coordinator(error, explain), farewell_for(error, "bank", "ring").error]
    refused = RefusedError("policy.most_owed is 1, and 'card' owes more")
    refused.inside = "'card' owes 1.500000"
    assert "1.500000" in describe(refused)
    told += [describe_to_coordinator(refused, explain), farewell_for(refused, "bank", "").error]
    assert not any("0123456789abcdef" in line or "1.500000" in line for line in told)


def test_an_error_without_a_row_is_told_as_it_is():
    error = DataError("t.csv: has 5 records, fewer than the k = 7 required")
    assert describe_to_coordinator(error, "columns") == describe(error) == str(error)
    assert describe_to_coordinator(
        PeerFaultError("card", "ring", "sent row 3"), "columns"
    ).endswith("sent row 3 (step 'ring')")


@pytest.mark.parametrize("inner", ["Leo", "Virgo"])
def test_a_taxonomy_is_no_oracle_for_the_first_row(inner):
    """It would be one if inner values of the taxonomy and unknown ones were told apart."""
    taxonomy = build_taxonomy([(1, ["none", inner, "Any"])], "t")
    with pytest.raises(DataError) as caught:
        categorical_column("Zodiac", ["Leo", "Aries"], taxonomy, "t.csv")
    assert describe_to_coordinator(caught.value, "columns") == (
        "t.csv: column 'Zodiac': a value is not a leaf of its taxonomy "
        "(the row is in the party's log)"
    )


def test_an_unforeseen_error_does_not_tell_its_text():
    error = KeyError("Jane Doe")
    assert describe(error) == "internal error (KeyError); the server's log has the details"
    assert (exit_code_of(error), culprit_of(error, "bank")) == (70, "bank")


def test_a_fault_names_the_peer_and_keeps_its_step():
    farewell = farewell_for(PeerFaultError("card", "ring", "sent nonsense"), "bank", "other")
    assert (farewell.culprit, farewell.step, farewell.exit_code) == ("card", "ring", 7)


def test_a_refused_value_does_not_reach_the_coordinator(houses):
    job = """
kind: count
name: counts
parties: {lender: {}, bank: {}, card: {}}
id: ID
attributes:
  Sex: {party: bank, values: [m, f]}
  Age: {party: lender, cuts: [30]}
tables: [[Sex, Age]]
"""
    path = houses.folder / "bank.csv"
    path.write_text(path.read_text() + "p99,unheard-of\n")
    houses.write(
        "bank",
        policy={
            "kinds": ["count"],
            "columns": {"use": ["ID", "Sex"], "release": ["Sex"]},
            "smallest_k": 1,
            "explain": "columns",
        },
    )
    houses.serve("bank")
    proposal = pb.Proposal(job_id="a" * 32, job_yaml=job)
    decision = houses.stub("analyst", "bank").Propose(proposal, timeout=60)
    assert decision.state == pb.REFUSED, decision
    assert decision.exit_code == 3
    assert decision.reason == (
        f"{path.name}: column 'Sex': … is not among the attribute's values (the row is in the party's log)"
    )
    stub = houses.stub("analyst", "bank")
    [event] = stub.Watch(pb.JobRef(job_id="a" * 32), timeout=60)
    assert event.error == decision.reason
    *_, check = stub.Describe(pb.DescribeRequest(job_yaml=job), timeout=60).checks
    assert (check.name, check.ok, check.detail) == ("data", False, decision.reason)

    full = f"{path}: row 21: column 'Sex': … is not among the attribute's values"
    [listed] = houses.stub("bank", "bank").List(pb.ListRequest(), timeout=60).jobs
    assert listed.detail == full
    audit = (houses.state("bank") / "audit.log").read_text()
    assert [json.loads(line).get("reason") for line in audit.splitlines()].count(full) == 2
    assert "unheard-of" not in audit

    houses.servers.pop("bank").stop()
    houses.serve("bank")
    [event] = stub.Watch(pb.JobRef(job_id="a" * 32), timeout=60, wait_for_ready=True)
    assert event.error == decision.reason  # after a restart, too


NAMES = ("bank", "card", "lender")


@pytest.mark.parametrize("code", [PeerFaultError.exit_code, PeerLostError.exit_code])
def test_an_accusation_bears_the_name_of_whoever_sent_it(code):
    """Even if its text ends as if it were passed on for someone else."""
    forged = Farewell(
        failed=True, error="sent nonsense, says card", culprit="lender", exit_code=code
    )
    error = error_from(forged, "bank", NAMES)
    assert str(error) == "lender: sent nonsense, says card, says bank"


def test_what_a_sender_says_of_itself_is_its_own():
    own = Farewell(failed=True, error="sent nonsense, says card", culprit="bank", exit_code=7)
    assert str(error_from(own, "bank", NAMES)) == "bank: sent nonsense, says card"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("cancelled by analyst", "bank: cancelled by analyst"),
        ("bank: cancelled by analyst", "bank: cancelled by analyst"),
        ("card: cancelled by analyst", "card: cancelled by analyst, says bank"),
    ],
)
def test_a_cancellation_bears_the_name_of_whoever_sent_it(text, line):
    farewell = Farewell(failed=True, error=text, exit_code=CancelledError.exit_code)
    assert str(error_from(farewell, "bank", NAMES)) == line


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "/srv/my data/state/audit.log: No space left on device",
            "audit.log: No space left on device",
        ),
        ("the file '/srv/data/bank.csv' is gone", "the file 'bank.csv' is gone"),
        ("column 'a/b/c' has 1/2 of its values", "column 'a/b/c' has 1/2 of its values"),
    ],
)
def test_no_folder_of_this_machine_is_told_to_others(text, told):
    error = EnvironmentFaultError(text)
    assert describe(error) == text
    assert describe_to_coordinator(error, "rows") == told
    assert farewell_for(error, "bank", "step").error == told


def test_that_a_job_has_ended_for_good_is_passed_on():
    names = ("a", "b", "c")
    at_b = error_from(farewell_for(DataError("no"), "a", "step"), "a", names)
    at_c = error_from(farewell_for(at_b, "b", "step"), "b", names)
    assert (at_b.for_good, at_c.for_good, at_c.peer) == (True, True, "a")
    lost = error_from(farewell_for(PeerLostError("a", "step", "gone"), "b", "step"), "b", names)
    assert not lost.for_good
