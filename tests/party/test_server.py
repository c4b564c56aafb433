"""A party server as coordinators, peers and its operator meet it, over real mTLS."""

import dataclasses
import json
import threading

import grpc
import pytest
import yaml
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from coterie.errors import EnvironmentFaultError
from party.config import load_party
from party.identity import load_identity
from party.server import PartyServer
from party.transport import METHOD
from protos import party_pb2 as pb
from protos.party_pb2_grpc import JobsStub
from tests.party.authority import Authority
from tests.party.houses import Coordinator, status

COMMON = [f"p{i}" for i in range(2, 20)]


def common(houses, name, job_id):
    text = (houses.state(name) / "jobs" / job_id / "kept" / "common.csv").read_text()
    return sorted(text.replace('"', "").split()[1:], key=lambda p: int(p[1:]))


def states(decisions):
    return {name: pb.State.Name(decision.state) for name, decision in decisions.items()}


def refused(houses, coordinator, job, name="bank"):
    """What one party says to a job that it refuses."""
    proposal = pb.Proposal(job_id="0" * 32, job_yaml=job)
    decision = coordinator.stubs[name].Propose(proposal, timeout=60)
    assert decision.state == pb.REFUSED, decision
    return decision.exit_code, decision.reason


def test_three_parties_intersect_over_mtls(houses):
    houses.serve_all()
    coordinator = houses.coordinator()
    job_id, decisions = coordinator.propose(houses.job())
    assert set(states(decisions).values()) == {"ACCEPTED"}
    assert {d.records for d in decisions.values()} == {20}
    coordinator.start(job_id)
    for name in houses.names:
        events = list(coordinator.watch(job_id, name))
        assert [e.state for e in events][:2] == [pb.ACCEPTED, pb.RUNNING]
        assert events[-1].state == pb.FINISHED
        assert events[-1].sent_bytes > 0
        assert [e.seconds for e in events] == sorted(e.seconds for e in events)
        assert common(houses, name, job_id) == COMMON
        files = coordinator.fetch(job_id, name)
        assert json.loads(files["summary.json"])["result"]["records"] == 18
        assert set(files) == {"summary.json"}  # the list itself stays


def test_two_jobs_run_at_once_and_do_not_mix(houses):
    houses.serve_all()
    coordinator = houses.coordinator()
    all_three, _ = coordinator.propose(houses.job("all"))
    two = Coordinator(
        houses.authority.identity("analyst"),
        {n: f"127.0.0.1:{houses.ports[n]}" for n in ("lender", "card")},
    )
    pair, _ = two.propose(houses.job("pair", ["lender", "card"]))
    coordinator.start(all_three, ["lender", "card"])  # waits for the bank
    two.start(pair)
    assert two.end(pair, "card").state == pb.FINISHED  # while the first job still runs
    first = next(coordinator.watch(all_three, "lender"))
    assert first.state == pb.ACCEPTED
    coordinator.start(all_three, ["bank"])
    for name in houses.names:
        assert coordinator.end(all_three, name).state == pb.FINISHED
    assert common(houses, "card", all_three) == COMMON
    assert common(houses, "card", pair) == [f"p{i}" for i in range(2, 20)]
    two.close()


def test_a_party_that_is_never_started_is_named_at_the_deadline(houses):
    houses.hasten()
    houses.serve_all()
    coordinator = houses.coordinator()
    job_id, _ = coordinator.propose(houses.job())
    coordinator.start(job_id, ["lender", "bank"])
    for name in ("lender", "bank"):
        event = coordinator.end(job_id, name)
        assert (event.state, event.culprit, event.exit_code) == (pb.FAILED, "card", 6)
        assert event.error.startswith("card: was not heard of for 3 s")
        assert "(step 'agree')" in event.error


# What a party refuses, and why.


def change(job, **changes):
    content = yaml.safe_load(job)
    for key, value in changes.items():
        if value is None:
            content.pop(key)
        else:
            content[key] = value
    return yaml.safe_dump(content, sort_keys=False)


def test_a_party_refuses_by_policy_naming_the_rule_and_the_value(houses):
    houses.write("bank", policy={"kinds": ["integrate"], "peers": ["card"], "columns": {"use": []}})
    houses.serve("bank")
    assert refused(houses, houses.coordinator(), houses.job()) == (
        4,
        "policy.kinds does not list the kind 'intersect'; "
        "policy.peers does not list the party 'lender'; "
        "policy.columns.use does not list the column 'ID'",
    )


def test_a_party_without_a_policy_refuses_everyone(houses):
    houses.write("bank", policy={"coordinators": []})
    houses.serve("bank")
    assert refused(houses, houses.coordinator(), houses.job()) == (
        4,
        "policy.coordinators does not list the coordinator 'analyst'",
    )


@pytest.mark.parametrize("caller", ["stranger", "lender"])
def test_only_listed_coordinators_may_propose(houses, caller):
    houses.serve("bank")
    code, reason = refused(houses, houses.coordinator(caller), "not: even: yaml")
    assert code == 4
    assert reason == f"policy.coordinators does not list the coordinator '{caller}'"


BAD_JOBS = {
    "an unknown key": (lambda job: job + "extra: 1\n", 2, "job:", "unknown key"),
    "a wrong kind": (lambda job: change(job, kind="guess"), 2, "job:1: kind", "must be one of"),
    "no parties": (lambda job: change(job, parties=None), 2, "job:1", "'parties' is missing"),
    "broken YAML": (lambda job: "kind: [", 2, "job:", "not YAML"),
    "a column that is not there": (lambda job: change(job, id="SSN"), 4, "policy", "'SSN'"),
}


@pytest.mark.parametrize("name", BAD_JOBS)
def test_a_bad_job_is_refused_with_the_line(houses, name):
    houses.serve("bank")
    make, code, *texts = BAD_JOBS[name]
    answer = refused(houses, houses.coordinator(), make(houses.job()))
    assert answer[0] == code
    for text in texts:
        assert text in answer[1]


def test_a_job_of_other_parties_is_refused(houses):
    houses.serve("bank")
    code, reason = refused(houses, houses.coordinator(), houses.job(parties=["lender", "card"]))
    assert (code, reason) == (2, "'bank' is not among the job's parties")


def test_a_job_with_a_party_outside_of_the_roster_is_refused(houses):
    houses.serve("bank")
    job = houses.job(parties=["lender", "bank", "mallory"])
    assert refused(houses, houses.coordinator(), job) == (
        4,
        "'mallory' is not in the roster of bank",
    )


def test_data_that_cannot_be_used_is_refused_before_anything_is_exchanged(houses):
    houses.people("bank", ["p1", "p2", "p1"])
    houses.serve("bank")
    code, reason = refused(houses, houses.coordinator(), houses.job())
    assert code == 3
    assert "bank.csv: column 'ID': identifiers are repeated" in reason
    assert "row 3" not in reason


def test_a_policy_may_let_coordinators_know_the_row(houses):
    houses.people("bank", ["p1", "p2", "p1"])
    houses.write("bank", policy={"explain": "rows"})
    houses.serve("bank")
    assert "row 3 repeats 1" in refused(houses, houses.coordinator(), houses.job())[1]


def test_a_table_that_is_gone_is_refused(houses):
    houses.serve("bank")
    (houses.folder / "bank.csv").unlink()
    code, reason = refused(houses, houses.coordinator(), houses.job())
    assert code == 3
    assert "bank.csv: No such file" in reason


@pytest.mark.parametrize("job_id", ["", "0" * 31, "A" * 32, "../../../../etc/passwd", "0" * 33])
def test_a_job_id_is_32_hexadecimal_digits(houses, job_id):
    houses.serve("bank")
    proposal = pb.Proposal(job_id=job_id, job_yaml=houses.job())
    decision = houses.coordinator().stubs["bank"].Propose(proposal, timeout=60)
    assert (decision.state, decision.exit_code) == (pb.REFUSED, 2)
    assert "32 hexadecimal digits" in decision.reason


def test_a_job_id_is_used_once_even_after_a_restart(houses):
    houses.serve_all()
    coordinator = houses.coordinator()
    job_id, _ = coordinator.propose(houses.job())
    _, again = coordinator.propose(houses.job(), job_id)
    assert {d.reason for d in again.values()} == {f"the job id {job_id} was used before"}
    houses.servers.pop("bank").stop()
    houses.serve("bank")
    decision = coordinator.stubs["bank"].Propose(
        pb.Proposal(job_id=job_id, job_yaml=houses.job()), timeout=60, wait_for_ready=True
    )
    assert (decision.state, decision.exit_code) == (pb.REFUSED, 2)


# Who may do what.


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


# Certificates.


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
        channel.stream_unary(METHOD)(iter([b""]), timeout=60)
    assert status(caught) == (
        grpc.StatusCode.PERMISSION_DENIED,
        "'mallory' is not in the roster of bank",
    )
    channel.close()
    log = (houses.state("bank") / "audit.log").read_text()
    assert '"event":"turned away","by":"mallory"' in log


# Describe, health, reflection.


def describe(houses, job="", caller="analyst"):
    request = pb.DescribeRequest(job_yaml=job)
    return houses.stub(caller, "bank").Describe(request, timeout=60)


def test_describe_says_who_the_party_is_and_checks_a_job(houses):
    houses.serve("bank")
    plain = describe(houses)
    assert plain.party == "bank"
    assert plain.version
    assert plain.unix_time > 1.7e9
    assert not plain.checks
    checks = describe(houses, houses.job()).checks
    assert [(c.name, c.ok) for c in checks] == [
        ("coordinator", True),
        ("job", True),
        ("policy", True),
        ("data", True),
    ]
    assert checks[-1].detail == "20 records"
    assert not (houses.state("bank") / "jobs").exists()  # nothing was proposed


def test_each_look_at_the_data_is_in_the_audit_log(houses):
    """Whoever asks about many jobs, each with another range, finds values out by the answers."""
    houses.serve("bank")
    log = houses.state("bank") / "audit.log"

    def looks():
        entries = map(json.loads, log.read_text().splitlines())
        return [(e["by"], e["kind"]) for e in entries if e["event"] == "examined"]

    describe(houses)
    describe(houses, houses.job(), "stranger")
    describe(houses, change(houses.job(), id="SSN"))
    assert looks() == []  # the data was not looked at
    describe(houses, houses.job())
    describe(houses, houses.job())
    assert looks() == [("analyst", "intersect")] * 2


def test_describe_stops_at_the_first_check_that_fails(houses):
    houses.people("bank", ["p1", "p1"])
    houses.serve("bank")
    for job, caller, last in (
        (houses.job(), "stranger", "coordinator"),
        ("nonsense", "analyst", "job"),
        (change(houses.job(), id="SSN"), "analyst", "policy"),
        (houses.job(), "analyst", "data"),
    ):
        checks = describe(houses, job, caller).checks
        assert checks[-1].name == last
        assert [c.ok for c in checks] == [True] * (len(checks) - 1) + [False]


def test_the_standard_health_and_reflection_services_answer(houses):
    houses.serve("bank")
    channel = houses.authority.identity("analyst").connect(
        "bank", f"127.0.0.1:{houses.ports['bank']}"
    )
    stub = health_pb2_grpc.HealthStub(channel)
    for service in ("", "coterie.v1.Jobs"):
        answer = stub.Check(health_pb2.HealthCheckRequest(service=service), timeout=60)
        assert answer.status == health_pb2.HealthCheckResponse.SERVING
    reflection = reflection_pb2_grpc.ServerReflectionStub(channel)
    request = reflection_pb2.ServerReflectionRequest(list_services="")
    [answer] = reflection.ServerReflectionInfo(iter([request]), timeout=60)
    names = {service.name for service in answer.list_services_response.service}
    assert {"coterie.v1.Jobs", "coterie.v1.Peers", "grpc.health.v1.Health"} <= names
    channel.close()


# Life of the server.


def test_a_port_in_use_is_an_error(houses):
    houses.serve("bank")
    houses.write("card", listen=f"127.0.0.1:{houses.ports['bank']}")
    with pytest.raises(EnvironmentFaultError, match=r"listen: cannot listen on 127.0.0.1:\d+"):
        PartyServer(load_party(houses.path("card"))).start()


def test_two_servers_do_not_share_a_state_folder(houses):
    houses.serve("bank")
    with pytest.raises(EnvironmentFaultError, match="another server uses this state folder"):
        PartyServer(load_party(houses.path("bank")))


def test_a_state_folder_that_cannot_be_made_is_an_error(houses):
    (houses.folder / "file").write_text("")
    houses.write("bank", state="file/state")
    with pytest.raises(EnvironmentFaultError, match="state folder: Not a directory"):
        PartyServer(load_party(houses.path("bank")))


def test_fetching_is_for_finished_jobs(houses):
    houses.serve("bank")
    coordinator = houses.coordinator()
    proposal = pb.Proposal(job_id="a" * 32, job_yaml=houses.job())
    coordinator.stubs["bank"].Propose(proposal, timeout=60)
    with pytest.raises(grpc.RpcError, match="the job is ACCEPTED, not FINISHED"):
        coordinator.fetch("a" * 32, "bank")


def test_a_watcher_hears_from_the_party_when_nothing_happens(houses):
    houses.serve("bank")
    coordinator = houses.coordinator()
    proposal = pb.Proposal(job_id="a" * 32, job_yaml=houses.job())
    coordinator.stubs["bank"].Propose(proposal, timeout=60)
    events = coordinator.watch("a" * 32, "bank")
    assert [next(events).state for _ in range(3)] == [pb.ACCEPTED] * 3


def test_open_jobs_of_one_coordinator_are_limited(houses):
    houses.serve("bank")
    stub = houses.stub("analyst", "bank")
    answers = [
        stub.Propose(pb.Proposal(job_id=f"{n:032x}", job_yaml=houses.job()), timeout=60)
        for n in range(65)
    ]
    assert [a.state for a in answers] == [pb.ACCEPTED] * 64 + [pb.REFUSED]
    assert "64 jobs here that have not ended" in answers[-1].reason
    stub.Cancel(pb.Cancellation(job_id=f"{0:032x}"), timeout=60)
    again = stub.Propose(pb.Proposal(job_id="f" * 32, job_yaml=houses.job()), timeout=60)
    assert again.state == pb.ACCEPTED


def test_journal_and_audit_hold_no_data(houses):
    houses.people("lender", [f"p777{i}" for i in range(5)])
    houses.serve_all()
    coordinator = houses.coordinator()
    job_id, _ = coordinator.propose(houses.job())
    coordinator.start(job_id)
    assert coordinator.end(job_id, "lender").state == pb.FINISHED
    for name in ("audit.log", "journal.jsonl"):
        assert "p777" not in (houses.state("lender") / name).read_text()


def test_many_watchers_are_served_at_once(houses):
    houses.serve("bank")
    coordinator = houses.coordinator()
    proposal = pb.Proposal(job_id="a" * 32, job_yaml=houses.job())
    coordinator.stubs["bank"].Propose(proposal, timeout=60)
    ends = []
    streams = [coordinator.watch("a" * 32, "bank") for _ in range(40)]
    for stream in streams:
        next(stream)
    threads = [threading.Thread(target=lambda s=s: ends.append(list(s)[-1])) for s in streams]
    for thread in threads:
        thread.start()
    coordinator.stubs["bank"].Cancel(pb.Cancellation(job_id="a" * 32), timeout=60)
    for thread in threads:
        thread.join(20)
    assert [event.state for event in ends] == [pb.CANCELLED] * 40
