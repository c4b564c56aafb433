"""What an error tells whom: values of a table stay with the party that holds it."""

import pytest

from coterie.errors import DataError, PeerFaultError
from party.farewell import culprit_of, describe, exit_code_of, farewell_for, one_line
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
