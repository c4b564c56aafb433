"""Who may do what at a party, by certificate."""

import dataclasses

import grpc
import pytest

from coterie.protos import jobs_pb2 as pb
from coterie.protos.jobs_pb2_grpc import JobsStub
from coterie.transport.session import COLLECT
from coterie.trust.identity import load_identity
from tests.party.authority import Authority
from tests.party.houses import status
from tests.party.served import COMMON, common, states


@pytest.mark.parametrize("call", ["Start", "Watch", "Cancel", "Fetch"])
@pytest.mark.parametrize("caller", ["rival", "lender"])
def test_only_the_proposer_may_touch_a_job(houses, call, caller):
    houses.write("bank", policy={"coordinators": ["analyst", "rival"]})
    houses.serve("bank")
    proposal = pb.Proposal(job_id="a" * 32, job_yaml=houses.job())
    analyst = houses.stub("analyst", "bank")
    assert analyst.Propose(proposal, timeout=60).state == pb.ACCEPTED
    request = pb.Cancellation if call == "Cancel" else pb.JobRef
    answer = getattr(houses.stub(caller, "bank"), call)
    with pytest.raises(grpc.RpcError) as caught:
        list(answer(request(job_id="a" * 32), timeout=60))
    assert status(caught)[0] == grpc.StatusCode.NOT_FOUND
    assert f"'{caller}' has no job" in status(caught)[1]


@pytest.mark.parametrize("caller", ["analyst", "lender"])
def test_only_the_operator_may_approve_and_list(houses, caller):
    houses.serve("bank")
    stub = houses.stub(caller, "bank")
    for call, request in ((stub.Approve, pb.Approval(yes=True)), (stub.List, pb.ListRequest())):
        with pytest.raises(grpc.RpcError) as caught:
            call(request, timeout=60)
        assert status(caught) == (
            grpc.StatusCode.PERMISSION_DENIED,
            f"only the operator of bank may do this, not '{caller}'",
        )


def test_another_certificate_of_the_same_name_is_not_the_operator(houses):
    houses.serve("bank")
    houses.authority.issue("bank", file="other-bank")
    identity = houses.authority.identity("bank", "other-bank")
    channel = identity.connect("bank", f"127.0.0.1:{houses.ports['bank']}")
    with pytest.raises(grpc.RpcError) as caught:
        JobsStub(channel).List(pb.ListRequest(), timeout=60)
    assert status(caught)[0] == grpc.StatusCode.PERMISSION_DENIED
    channel.close()


def test_manual_consent_waits_for_the_operator(houses):
    houses.write("bank", policy={"consent": "manual"})
    houses.serve_all()
    coordinator = houses.coordinator()
    job_id, decisions = coordinator.propose(houses.job())
    assert states(decisions) == {"lender": "ACCEPTED", "bank": "WAITING", "card": "ACCEPTED"}
    with pytest.raises(grpc.RpcError, match="the job is WAITING, not ACCEPTED"):
        coordinator.start(job_id, ["bank"])
    events = coordinator.watch(job_id, "bank")
    assert next(events).state == pb.WAITING
    operator = houses.stub("bank", "bank")
    [listed] = operator.List(pb.ListRequest(), timeout=60).jobs
    assert (listed.job_id, listed.state, listed.coordinator) == (job_id, pb.WAITING, "analyst")
    assert listed.job_yaml == houses.job()
    assert operator.Approve(pb.Approval(job_id=job_id, yes=True), timeout=60).state == pb.ACCEPTED
    assert pb.ACCEPTED in (event.state for event in events)
    coordinator.start(job_id)
    assert coordinator.end(job_id, "bank").state == pb.FINISHED
    assert common(houses, "bank", job_id) == COMMON
    with pytest.raises(grpc.RpcError, match="FINISHED, not WAITING"):
        operator.Approve(pb.Approval(job_id=job_id, yes=True), timeout=60)


def test_an_operator_who_says_no_ends_the_job(houses):
    houses.write("bank", policy={"consent": "manual"})
    houses.serve_all()
    coordinator = houses.coordinator()
    job_id, _ = coordinator.propose(houses.job())
    answer = pb.Approval(job_id=job_id, yes=False, reason="not this quarter")
    houses.stub("bank", "bank").Approve(answer, timeout=60)
    event = coordinator.end(job_id, "bank")
    assert (event.state, event.exit_code) == (pb.REFUSED, 4)
    assert event.error == "the operator says no: not this quarter"


def test_consent_outlives_a_restart(houses):
    houses.write("bank", policy={"consent": "manual"})
    houses.serve_all()
    coordinator = houses.coordinator()
    job_id, _ = coordinator.propose(houses.job())
    houses.servers.pop("bank").stop()
    houses.serve("bank")
    operator = houses.stub("bank", "bank")
    assert operator.Approve(pb.Approval(job_id=job_id, yes=True), timeout=60).state == pb.ACCEPTED
    houses.servers.pop("bank").stop()
    houses.serve("bank")
    fresh = houses.coordinator()
    fresh.start(job_id)
    assert fresh.end(job_id, "bank").state == pb.FINISHED
    assert common(houses, "bank", job_id) == COMMON


def test_a_job_that_ran_when_the_server_stopped_has_failed(houses):
    houses.serve_all()
    coordinator = houses.coordinator()
    job_id, _ = coordinator.propose(houses.job())
    coordinator.start(job_id, ["lender", "bank"])
    houses.servers.pop("bank").stop()
    event = coordinator.end(job_id, "lender")
    assert (event.state, event.culprit) == (pb.FAILED, "bank")
    assert event.error.startswith("bank: was stopped by its operator")
    houses.serve("bank")
    event = houses.coordinator().end(job_id, "bank")
    assert event.state == pb.FAILED
    assert "was stopped by its operator" in event.error


def test_whoever_has_a_certificate_of_another_authority_is_not_let_in(houses, tmp_path):
    houses.serve("bank")
    stranger = Authority(tmp_path / "other").identity("analyst")
    own = load_identity(
        "analyst",
        houses.authority.folder / "analyst.crt",
        houses.authority.folder / "analyst.key",
        houses.authority.path,
    )
    forged = dataclasses.replace(own, certificate=stranger.certificate, key=stranger.key)
    channel = forged.connect("bank", f"127.0.0.1:{houses.ports['bank']}")
    with pytest.raises(grpc.RpcError) as caught:
        JobsStub(channel).Describe(pb.DescribeRequest(), timeout=60)
    assert status(caught)[0] == grpc.StatusCode.UNAVAILABLE
    channel.close()


def test_whoever_shows_no_certificate_is_not_let_in(houses):
    houses.serve("bank")
    credentials = grpc.ssl_channel_credentials(houses.authority.path.read_bytes())
    address = f"127.0.0.1:{houses.ports['bank']}"
    options = [("grpc.ssl_target_name_override", "bank")]
    for channel in (
        grpc.secure_channel(address, credentials, options),
        grpc.insecure_channel(address),
    ):
        with pytest.raises(grpc.RpcError) as caught:
            JobsStub(channel).Describe(pb.DescribeRequest(), timeout=60)
        assert status(caught)[0] == grpc.StatusCode.UNAVAILABLE
        channel.close()


def test_an_expired_certificate_is_not_let_in(houses):
    houses.serve("bank")
    path = houses.authority.issue("analyst", file="old", days=-1)
    own = houses.authority.identity("analyst")
    old = dataclasses.replace(
        own, certificate=path.read_bytes(), key=path.with_suffix(".key").read_bytes()
    )
    channel = old.connect("bank", f"127.0.0.1:{houses.ports['bank']}")
    with pytest.raises(grpc.RpcError) as caught:
        JobsStub(channel).Describe(pb.DescribeRequest(), timeout=60)
    assert status(caught)[0] == grpc.StatusCode.UNAVAILABLE
    channel.close()


def test_a_certificate_whose_two_names_differ_is_refused(houses):
    houses.serve("bank")
    path = houses.authority.issue("analyst", file="two", dns="someone")
    own = houses.authority.identity("analyst")
    two = dataclasses.replace(
        own, certificate=path.read_bytes(), key=path.with_suffix(".key").read_bytes()
    )
    channel = two.connect("bank", f"127.0.0.1:{houses.ports['bank']}")
    with pytest.raises(grpc.RpcError) as caught:
        JobsStub(channel).Describe(pb.DescribeRequest(), timeout=60)
    assert status(caught)[0] == grpc.StatusCode.PERMISSION_DENIED
    assert "not as a DNS name" in status(caught)[1]
    channel.close()


def test_a_server_that_is_not_the_party_it_should_be_is_not_talked_to(houses):
    """Whoever sits at the bank's address must prove to be the bank."""
    houses.write("card", listen=f"127.0.0.1:{houses.ports['bank']}")
    houses.serve("lender")
    houses.serve("card")  # where the lender expects the bank
    coordinator = houses.coordinator()
    proposal = pb.Proposal(job_id="a" * 32, job_yaml=houses.job(parties=["lender", "bank"]))
    assert coordinator.stubs["lender"].Propose(proposal, timeout=60).state == pb.ACCEPTED
    coordinator.start("a" * 32, ["lender"])
    event = coordinator.end("a" * 32, "lender")
    assert (event.state, event.culprit) == (pb.FAILED, "bank")
    assert "its certificate is of another name" in event.error


def pinned(houses, name, other, file):
    peers = houses.party_file(name)["peers"]
    peers[other]["certificate"] = f"certs/{file}.crt"
    houses.write(name, peers=peers)


def test_pinned_certificates_let_the_job_run(houses):
    pinned(houses, "lender", "bank", "bank")
    pinned(houses, "bank", "lender", "lender")
    houses.serve_all()
    coordinator = houses.coordinator()
    job_id, _ = coordinator.propose(houses.job())
    coordinator.start(job_id)
    assert coordinator.end(job_id, "lender").state == pb.FINISHED


def test_another_certificate_than_the_pinned_one_is_refused_in_both_directions(houses):
    houses.authority.issue("bank", file="other-bank")  # same name, same authority
    pinned(houses, "lender", "bank", "other-bank")
    houses.serve_all()
    coordinator = houses.coordinator()
    job_id, _ = coordinator.propose(houses.job())
    coordinator.start(job_id)
    for name in houses.names:  # whichever of the two noticed it first
        event = coordinator.end(job_id, name)
        assert event.state == pb.FAILED
        assert event.culprit in ("lender", "bank")
        assert "certificate" in event.error
    with pytest.raises(grpc.RpcError) as caught:
        houses.stub("bank", "lender").Describe(pb.DescribeRequest(), timeout=60)
    assert "another certificate than the pinned one" in status(caught)[1]


def test_a_peer_outside_of_the_roster_may_not_deliver(houses):
    houses.serve("bank")
    channel = houses.authority.identity("mallory").connect(
        "bank", f"127.0.0.1:{houses.ports['bank']}"
    )
    with pytest.raises(grpc.RpcError) as caught:
        next(channel.unary_stream(COLLECT)(b"", timeout=60))
    assert status(caught) == (
        grpc.StatusCode.PERMISSION_DENIED,
        "'mallory' is not in the roster of bank",
    )
    channel.close()
    log = (houses.state("bank") / "audit.log").read_text()
    assert '"event":"turned away","by":"mallory"' in log
