"""Jobs between party servers, and the life of a server."""

import json
import threading

import grpc
import pytest

from coterie.base.errors import EnvironmentFaultError
from coterie.party.config import load_party
from coterie.party.server import PartyServer
from coterie.protos import jobs_pb2 as pb
from tests.party.houses import Coordinator
from tests.party.served import COMMON, common, states, until_met
from tests.transport.links import Clock


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
    houses.clock = Clock()
    houses.serve_all()
    coordinator = houses.coordinator()
    job_id, _ = coordinator.propose(houses.job())
    coordinator.start(job_id, ["lender", "bank"])
    until_met(houses, job_id, "lender", "bank")
    for _ in range(2):
        houses.clock.let_pass(houses.sessions(job_id), 20)
    for name in ("lender", "bank"):
        event = coordinator.end(job_id, name)
        assert (event.state, event.culprit, event.exit_code) == (pb.FAILED, "card", 6)
        assert event.error.startswith("card: was not heard of for 30 s")
        assert "(step 'agree')" in event.error


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
    for path in (*houses.state("lender").glob("books.db*"), houses.state("lender") / "audit.log"):
        assert b"p777" not in path.read_bytes()


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
        thread.join(60)
    assert [event.state for event in ends] == [pb.CANCELLED] * 40


def test_results_that_a_coordinator_does_not_read_are_bounded(houses):
    houses.serve_all()
    coordinator = houses.coordinator()
    job_id, _ = coordinator.propose(houses.job())
    coordinator.start(job_id)
    for name in houses.names:
        assert coordinator.end(job_id, name).state == pb.FINISHED
    large = houses.state("bank") / "jobs" / job_id / "released" / "large.csv"
    large.write_bytes(bytes(20 << 20))
    calls = [coordinator.stubs["bank"].Fetch(pb.JobRef(job_id=job_id)) for _ in range(20)]
    turned_away = []
    for call in calls:
        try:
            next(call)
        except grpc.RpcError as error:
            turned_away.append(error.details())
    assert turned_away == ["16 results are on their way to 'analyst'"] * 4
    for call in calls:
        call.cancel()
