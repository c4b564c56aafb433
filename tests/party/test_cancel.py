"""Jobs that are cancelled: while they run, before they start, while they are still being judged."""

import pytest

from coterie.party import proposals
from coterie.protos import jobs_pb2 as pb


def test_cancelling_ends_the_job_everywhere(houses):
    houses.serve_all()
    coordinator = houses.coordinator()
    job_id, _ = coordinator.propose(houses.job())
    coordinator.start(job_id, ["lender", "bank"])
    stub = coordinator.stubs["lender"]
    stub.Cancel(pb.Cancellation(job_id=job_id, reason="no longer wanted"), timeout=60)
    at_lender = coordinator.end(job_id, "lender")
    assert at_lender.state == pb.CANCELLED
    assert at_lender.error == "cancelled by analyst: no longer wanted"
    assert at_lender.exit_code == 10
    at_bank = coordinator.end(job_id, "bank")
    assert at_bank.state == pb.CANCELLED
    # The lender tells all; the card company may pass it on before the bank has heard it itself.
    told = at_bank.error.replace(", says card", "")
    assert told == "lender: cancelled by analyst: no longer wanted"


def test_a_job_that_failed_at_one_party_fails_at_once_where_it_starts_later(houses):
    houses.serve_all()
    coordinator = houses.coordinator()
    job_id, _ = coordinator.propose(houses.job())
    coordinator.start(job_id, ["lender"])
    coordinator.stubs["lender"].Cancel(pb.Cancellation(job_id=job_id), timeout=60)
    assert coordinator.end(job_id, "lender").state == pb.CANCELLED
    assert coordinator.end(job_id, "bank").state == pb.CANCELLED  # it never started
    coordinator.start(job_id, ["bank"])
    assert coordinator.end(job_id, "bank").state == pb.CANCELLED


@pytest.mark.parametrize("consent", ["auto", "manual"])
def test_a_job_that_is_cancelled_while_it_is_judged_is_not_accepted(houses, monkeypatch, consent):
    houses.write("bank", policy={"consent": consent})
    server = houses.serve("bank")
    stub = houses.stub("analyst", "bank")
    judge = proposals.check_data

    def cancelled_meanwhile(*arguments):
        stub.Cancel(pb.Cancellation(job_id="a" * 32), timeout=60)
        return judge(*arguments)

    monkeypatch.setattr(proposals, "check_data", cancelled_meanwhile)
    proposal = pb.Proposal(job_id="a" * 32, job_yaml=houses.job())
    decision = stub.Propose(proposal, timeout=60)
    assert (decision.state, decision.exit_code) == (pb.CANCELLED, 10)
    assert decision.reason == "cancelled by analyst"
    assert not server._peers._sessions  # nobody may deliver to it
