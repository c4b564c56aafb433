"""Callers that ask too much of a real server: the others, and the operator, are served as before."""

import contextlib

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from coterie.party.books.append_file import read_entries
from coterie.protos import jobs_pb2 as pb
from coterie.protos.jobs_pb2_grpc import JobsStub
from tests.coordinator.support import coterie


def test_a_thousand_streams_of_one_caller_silence_nobody(houses):
    houses.serve("bank")
    proposal = pb.Proposal(job_id="a" * 32, job_yaml=houses.job())
    assert houses.stub("analyst", "bank").Propose(proposal, timeout=60).state == pb.ACCEPTED
    stubs = [houses.stub("analyst", "bank") for _ in range(8)]  # a connection each
    calls = [stub.Watch(pb.JobRef(job_id="a" * 32)) for stub in stubs for _ in range(138)]
    turned_away = []
    for call in calls:
        try:
            next(call)
        except grpc.RpcError as error:
            turned_away.append(error.code())
    # On a busy machine gRPC itself may give up a call of so many before the server has read it, or
    # end one that the server does not read before it tells the reason.
    busy = sum(
        turned_away.count(c) for c in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED)
    )
    assert turned_away.count(grpc.StatusCode.RESOURCE_EXHAUSTED) == len(turned_away) - busy
    assert len(calls) - 128 <= len(turned_away) <= len(calls) - 128 + busy
    assert busy <= 10
    assert coterie("party", "health", "--config", houses.path("bank")).code == 0
    assert coterie("party", "jobs", "--config", houses.path("bank")).code == 0
    lender = houses.authority.identity("lender")
    channel = lender.connect("bank", f"127.0.0.1:{houses.ports['bank']}")
    houses.stack.callback(channel.close)
    request = health_pb2.HealthCheckRequest()
    assert health_pb2_grpc.HealthStub(channel).Check(request, timeout=60).status == 1
    notes = [e["event"] for e in read_entries(houses.state("bank") / "audit.log")]
    assert notes.count("throttled") == 1
    for call in calls:
        call.cancel()


def test_a_caller_has_its_calls_back_when_they_have_ended(houses):
    houses.write("bank", limits={"calls": 4})
    houses.serve("bank")
    stub = houses.stub("analyst", "bank")
    for number in range(20):
        proposal = pb.Proposal(job_id=f"{number:032x}", job_yaml=houses.job())
        assert stub.Propose(proposal, timeout=60).state == pb.ACCEPTED


TOO_MANY = "limits.refusals: 5 calls were refused within a minute"


def test_refused_proposals_are_throttled_and_the_audit_log_stays_short(houses):
    houses.write("bank", limits={"refusals": 5})
    houses.serve("bank")
    stub = houses.stub("analyst", "bank")
    codes = []
    for _ in range(50):
        try:
            codes.append(stub.Propose(pb.Proposal(job_id="x"), timeout=60).state)
        except grpc.RpcError as error:
            codes.append(error.details())
    assert codes == [pb.REFUSED] * 5 + [TOO_MANY] * 45
    assert len(read_entries(houses.state("bank") / "audit.log")) == 1 + 5 + 1


def test_messages_that_cannot_be_decoded_are_refusals_and_their_bytes_count(houses):
    houses.write("bank", limits={"refusals": 3, "bytes": "16MB"})
    houses.serve("bank")
    identity = houses.authority.identity("analyst")
    channel = identity.connect("bank", f"127.0.0.1:{houses.ports['bank']}")
    houses.stack.callback(channel.close)
    propose = channel.unary_unary("/coterie.v1.Jobs/Propose")
    told = []
    for message in (b"\xff", b"\xff", b"\xff" * 20_000_000, b"\xff"):
        with pytest.raises(grpc.RpcError) as error:
            propose(message, timeout=60)
        told.append((error.value.code().name, error.value.details()))
    garbled = "the message cannot be decoded; is it of another version of Coterie?"
    heavy = "limits.bytes: 20000002 bytes within a minute"
    assert told == [("INVALID_ARGUMENT", garbled)] * 2 + [("RESOURCE_EXHAUSTED", heavy)] * 2


def test_strangers_learn_that_they_are_strangers_and_coordinators_of_old_keep_their_jobs(houses):
    server = houses.serve("bank")
    houses.authority.issue("other")
    request = pb.DescribeRequest(job_yaml=houses.job())
    [check] = houses.stub("other", "bank").Describe(request, timeout=60).checks
    assert (check.name, check.ok) == ("coordinator", False)
    proposal = pb.Proposal(job_id="a" * 32, job_yaml=houses.job())
    assert houses.stub("analyst", "bank").Propose(proposal, timeout=60).state == pb.ACCEPTED
    houses.write("bank", policy={"coordinators": ["other"]})
    assert server._live.look(at_once=True)
    watched = next(houses.stub("analyst", "bank").Watch(pb.JobRef(job_id="a" * 32), timeout=60))
    assert watched.state != pb.STATE_UNSPECIFIED
    answer = houses.stub("analyst", "bank").Propose(proposal, timeout=60)
    assert answer.state == pb.REFUSED
    assert "analyst" in answer.reason


def test_strangers_calls_are_throttled_whatever_they_call(houses):
    houses.authority.issue("mallory")
    houses.write("bank", limits={"refusals": 5})
    houses.serve("bank")
    identity = houses.authority.identity("mallory")
    channel = identity.connect("bank", f"127.0.0.1:{houses.ports['bank']}")
    houses.stack.callback(channel.close)
    stub = JobsStub(channel)
    collect = channel.unary_unary("/coterie.v1.Peers/Part")
    for _ in range(20):
        for call in (
            lambda: stub.List(pb.ListRequest(), timeout=60),
            lambda: stub.Cancel(pb.Cancellation(job_id="a" * 32), timeout=60),
            lambda: collect(b"", timeout=60),
        ):
            with contextlib.suppress(grpc.RpcError):
                call()
    events = [e["event"] for e in read_entries(houses.state("bank") / "audit.log")]
    assert events.count("turned away") <= 5
    assert events.count("throttled") == 1


def test_reflection_is_off_unless_the_party_file_asks_for_it(houses):
    houses.serve("bank")
    identity = houses.authority.identity("analyst")
    channel = identity.connect("bank", f"127.0.0.1:{houses.ports['bank']}")
    houses.stack.callback(channel.close)
    call = channel.stream_stream("/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo")
    with pytest.raises(grpc.RpcError) as caught:
        list(call(iter([b""]), timeout=60))
    assert caught.value.code() == grpc.StatusCode.UNIMPLEMENTED
