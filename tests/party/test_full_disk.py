"""A server whose disk is full: jobs are refused or end, with a line that says so; nobody hangs."""

import contextlib

import grpc
import pytest

from coterie.base.errors import EnvironmentFaultError
from coterie.party.books.append_file import AppendFile
from coterie.party.books.audit_check import verify
from coterie.party.store.database import Database
from coterie.protos import jobs_pb2 as pb
from tests.party.disk import room_for


@pytest.fixture
def disk(monkeypatch):
    """A switch: the files whose names are in it take no more."""
    full = set()
    for kind, name in ((AppendFile, "append"), (Database, "put")):
        write = getattr(kind, name)

        def written(self, *words, write=write):
            if self.path.name in full:
                raise EnvironmentFaultError(f"{self.path}: No space left on device")
            write(self, *words)

        monkeypatch.setattr(kind, name, written)
    return full


@pytest.mark.parametrize("file", ["books.db", "audit.log"])
def test_a_job_that_cannot_be_written_down_is_refused(houses, disk, file):
    houses.serve("bank")
    disk.add(file)
    proposal = pb.Proposal(job_id="a" * 32, job_yaml=houses.job())
    decision = houses.stub("analyst", "bank").Propose(proposal, timeout=60)
    assert (decision.state, decision.exit_code) == (pb.REFUSED, 9)
    assert decision.reason == f"{file}: No space left on device"  # without the server's folders


@pytest.mark.parametrize("file", ["books.db", "audit.log"])
def test_a_job_whose_start_cannot_be_written_down_does_not_start(houses, disk, file):
    houses.serve("bank")
    coordinator = houses.coordinator()
    proposal = pb.Proposal(job_id="a" * 32, job_yaml=houses.job())
    assert coordinator.stubs["bank"].Propose(proposal, timeout=60).state == pb.ACCEPTED
    disk.add(file)
    coordinator.start("a" * 32, ["bank"])
    event = coordinator.end("a" * 32, "bank")
    assert (event.state, event.exit_code) == (pb.FAILED, 9)
    assert "No space left on device" in event.error


@pytest.mark.parametrize("file", ["books.db", "audit.log"])
def test_the_end_of_a_job_is_told_even_if_it_cannot_be_written_down(houses, disk, file):
    houses.serve_all()
    coordinator = houses.coordinator()
    job_id, _ = coordinator.propose(houses.job())
    coordinator.start(job_id, ["lender", "bank"])
    disk.add(file)
    with contextlib.suppress(grpc.RpcError):  # without an audit log it is done, but not confirmed
        coordinator.stubs["lender"].Cancel(pb.Cancellation(job_id=job_id), timeout=60)
    for name in ("lender", "bank"):
        assert coordinator.end(job_id, name).state == pb.CANCELLED


def test_a_proposal_that_is_not_written_down_whole_is_refused_and_the_chain_holds(houses):
    path = houses.state("bank") / "audit.log"
    server = houses.serve("bank")
    for _ in range(40):  # the audit log is the longest file, so that only it is cut
        server._audit.note("padding", text="x" * 500)
    stub = houses.stub("analyst", "bank")
    with room_for(path, 100):
        proposal = pb.Proposal(job_id="a" * 32, job_yaml=houses.job())
        decision = stub.Propose(proposal, timeout=60)
    assert (decision.state, decision.exit_code) == (pb.REFUSED, 9)
    assert verify(path).entries == 41
    proposal = pb.Proposal(job_id="b" * 32, job_yaml=houses.job())
    assert stub.Propose(proposal, timeout=60).state == pb.ACCEPTED
    assert verify(path).entries == 42
