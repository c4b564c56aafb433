"""What an error tells whom: values of a table stay with the party that holds it."""

import pytest

from coterie.errors import CancelledError, DataError, PeerFaultError, PeerLostError
from party.farewell import (
    culprit_of,
    describe,
    error_from,
    exit_code_of,
    farewell_for,
    one_line,
)
from protos import party_pb2 as pb


def test_a_private_value_is_left_out_for_everyone_else():
    error = DataError("t.csv: row 17: column 'Salary': '17' is not a number", "17")
    assert str(error) == "t.csv: row 17: column 'Salary': '17' is not a number"
    assert describe(error) == "t.csv: row 17: column 'Salary': … is not a number"
    assert farewell_for(error, "bank", "ring").error == "its data cannot be used"


def test_a_private_number_without_quotes_is_left_out():
    error = DataError("bank: secure sum 1: entry 0 is 123456, not in 0 … 99", 123456)
    assert "123456" not in describe(error)


def test_an_unforeseen_error_does_not_tell_its_text():
    error = KeyError("Jane Doe")
    assert describe(error) == "internal error (KeyError); the server's log has the details"
    assert (exit_code_of(error), culprit_of(error, "bank")) == (70, "bank")


def test_a_fault_names_the_peer_and_keeps_its_step():
    farewell = farewell_for(PeerFaultError("card", "ring", "sent nonsense"), "bank", "other")
    assert (farewell.culprit, farewell.step, farewell.exit_code) == ("card", "ring", 7)


@pytest.mark.parametrize(
    ("text", "line"),
    [("a\nb", "a b"), ("\x1b[1mx\x00", "[1mx"), ("  a \t b ", "a b"), ("é…", "é…")],
)
def test_text_of_others_becomes_one_printable_line(text, line):
    assert one_line(text) == line
    assert len(one_line(text * 1000)) <= 501


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
        },
    )
    houses.serve("bank")
    proposal = pb.Proposal(job_id="a" * 32, job_yaml=job)
    decision = houses.stub("analyst", "bank").Propose(proposal, timeout=10)
    assert decision.state == pb.REFUSED, decision
    assert (decision.exit_code, "row 21: column 'Sex'" in decision.reason) == (3, True), decision
    assert "unheard-of" not in decision.reason
    assert "unheard-of" not in (houses.state("bank") / "audit.log").read_text()


NAMES = ("bank", "card", "lender")


@pytest.mark.parametrize("code", [PeerFaultError.exit_code, PeerLostError.exit_code])
def test_an_accusation_bears_the_name_of_whoever_sent_it(code):
    """Even if its text ends as if it were passed on for someone else."""
    forged = pb.Farewell(
        failed=True, error="sent nonsense, says card", culprit="lender", exit_code=code
    )
    error = error_from(forged, "bank", NAMES)
    assert str(error) == "lender: sent nonsense, says card, says bank"


def test_what_a_sender_says_of_itself_is_its_own():
    own = pb.Farewell(failed=True, error="sent nonsense, says card", culprit="bank", exit_code=7)
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
    farewell = pb.Farewell(failed=True, error=text, exit_code=CancelledError.exit_code)
    assert str(error_from(farewell, "bank", NAMES)) == line
