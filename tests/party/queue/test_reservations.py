"""Queued jobs at real servers: they begin when every party has a place, and none is lost."""

import json
import threading
import time

import grpc
import pytest

from coterie.coordinator.run.follower import Patience
from coterie.coordinator.run.progress import Board
from coterie.coordinator.run.run_job import run_job
from coterie.jobs.kinds.job_file import parse_job
from coterie.party.books.append_file import read_entries
from coterie.party.queue.reservations import leader_of
from coterie.protos import jobs_pb2 as pb
from coterie.protos import peers_pb2
from coterie.transport.peers import RESERVE
from tests.coordinator.support import coterie, wait_for
from tests.party.houses import Coordinator, status
from tests.transport.links import Clock


def limit(houses, names=None, **limits):
    for name in names or houses.names:
        houses.write(name, limits={"running": 1, **limits})


def state(houses, name, job_id):
    return pb.State.Name(houses.servers[name]._book.get(job_id).state)


def place(houses, name, job_id):
    return houses.servers[name]._worker.turns._queue.place(job_id)


def only(houses, *names):
    addresses = {name: f"127.0.0.1:{houses.ports[name]}" for name in names}
    coordinator = Coordinator(houses.authority.identity("analyst"), addresses)
    houses.stack.callback(coordinator.close)
    return coordinator


def block(houses, name):
    """A job that holds the only place of this server: it waits for a peer that was not told."""
    coordinator = only(houses, *sorted({name, "card"}))
    job_id, _ = coordinator.propose(houses.job("blocks", list(coordinator.stubs)))
    coordinator.start(job_id, [name])
    wait_for(lambda: state(houses, name, job_id) == "RUNNING", "the job to block the queue")
    return lambda: coordinator.stubs[name].Cancel(pb.Cancellation(job_id=job_id), timeout=60)


def test_all_parties_take_the_same_one_for_the_leader():
    assert leader_of(("lender", "Bank", "card")) == leader_of(("card", "lender", "Bank")) == "Bank"


def test_a_queued_job_begins_at_all_parties_and_finishes(houses):
    houses.serve_all()
    coordinator = houses.coordinator()
    job_id, _ = coordinator.propose(houses.job())
    coordinator.queue(job_id)
    for name in houses.names:
        states = [event.state for event in coordinator.watch(job_id, name)]
        assert states[:3] == [pb.ACCEPTED, pb.QUEUED, pb.RUNNING]
        assert states[-1] == pb.FINISHED
    events = [e["event"] for e in read_entries(houses.state("card") / "audit.log")]
    assert events[2:4] == ["queued", "started"]


@pytest.mark.parametrize("full", ["bank", "lender"])
def test_a_job_waits_for_a_place_at_every_party_and_tells_its_own(houses, full):
    limit(houses)
    houses.serve_all()
    free = block(houses, full)
    coordinator = houses.coordinator()
    job_id, _ = coordinator.propose(houses.job())
    coordinator.queue(job_id)
    wait_for(lambda: place(houses, full, job_id) == 1, "the job to be first in the queue")
    if full == "lender":  # the others hold a place for it, and wait
        wait_for(lambda: place(houses, "bank", job_id) == 0, "the leader's place")
    time.sleep(0.5)
    assert {state(houses, name, job_id) for name in houses.names} == {"QUEUED"}
    newest = houses.servers[full]._book.newest(houses.servers[full]._book.get(job_id))
    assert (newest.state, newest.place) == (pb.QUEUED, 1)
    done = coterie("party", "jobs", "--config", houses.path(full), "--json")
    listed = {job["job"]: job for job in json.loads(done.out)["jobs"]}
    assert listed[job_id]["detail"] == "place 1 in the queue"
    free()
    assert {coordinator.end(job_id, name).state for name in houses.names} == {pb.FINISHED}


def test_a_waiting_job_outlives_restarts_of_all_servers(houses):
    limit(houses)
    houses.serve_all()
    block(houses, "bank")
    coordinator = houses.coordinator()
    jobs = [coordinator.propose(houses.job(f"job{number}"))[0] for number in range(3)]
    for job_id in jobs:
        coordinator.queue(job_id)
    before = [place(houses, "lender", job_id) for job_id in jobs]
    for name in houses.names:
        houses.servers.pop(name).stop()
    for name in houses.names:
        houses.serve(name)
    again = houses.coordinator()
    for job_id in jobs:
        assert {again.end(job_id, name).state for name in houses.names} == {pb.FINISHED}
    assert before == [1, 2, 3]


def pass_until_begun(houses, job_id):
    """Lets time pass for jobs that wait; it stands still as soon as this one runs."""

    def begun():
        houses.clock.now += 1
        return state(houses, "bank", job_id) != "QUEUED"

    wait_for(begun, "the job to get a place")


def test_a_party_that_is_away_keeps_a_job_waiting_and_not_its_place(houses):
    houses.clock = Clock()
    limit(houses)
    houses.serve_all()
    coordinator = houses.coordinator()
    job_id, _ = coordinator.propose(houses.job())
    pair = only(houses, "bank", "card")
    houses.servers.pop("lender").stop()
    coordinator.queue(job_id, ["bank", "card"])
    two, _ = pair.propose(houses.job("pair", ["bank", "card"]))
    pair.queue(two)
    pass_until_begun(houses, two)
    assert {pair.end(two, name).state for name in ("bank", "card")} == {pb.FINISHED}
    assert state(houses, "bank", job_id) == "QUEUED"
    houses.serve("lender")
    houses.coordinator().queue(job_id, ["lender"])
    pass_until_begun(houses, job_id)
    assert {houses.coordinator().end(job_id, n).state for n in houses.names} == {pb.FINISHED}


def test_a_job_cancelled_at_one_party_while_it_waits_ends_at_all(houses):
    limit(houses)
    houses.serve_all()
    block(houses, "bank")
    coordinator = houses.coordinator()
    job_id, _ = coordinator.propose(houses.job())
    coordinator.queue(job_id)
    done = coterie("party", "cancel", job_id, "--config", houses.path("card"), "--reason", "no")
    assert done.code == 0
    for name in houses.names:
        last = coordinator.end(job_id, name)
        assert (last.state, last.exit_code) == (pb.CANCELLED, 10)
        assert "cancelled by card: no" in last.error
    assert place(houses, "bank", job_id) == 0


def test_only_the_leader_reserves_places(houses):
    houses.serve_all()
    coordinator = houses.coordinator()
    job_id, _ = coordinator.propose(houses.job())
    identity = houses.authority.identity("card")
    channel = identity.connect("lender", f"127.0.0.1:{houses.ports['lender']}")
    houses.stack.callback(channel.close)
    request = peers_pb2.Reservation(session=job_id).SerializeToString()
    with pytest.raises(grpc.RpcError) as error:
        channel.unary_unary(RESERVE)(request, timeout=60)
    assert status(error) == (grpc.StatusCode.PERMISSION_DENIED, "'card' does not lead this job")


def test_a_leader_that_reserves_and_dies_leaves_the_place_to_others(houses):
    limit(houses, reserved=1)
    houses.serve("lender")
    houses.serve("card")
    coordinator = only(houses, "lender", "card")
    dead, _ = coordinator.propose(houses.job())
    coordinator.queue(dead)
    channel = houses.authority.identity("bank").connect(
        "lender", f"127.0.0.1:{houses.ports['lender']}"
    )
    houses.stack.callback(channel.close)
    request = peers_pb2.Reservation(session=dead).SerializeToString()
    answer = peers_pb2.Reserved.FromString(channel.unary_unary(RESERVE)(request, timeout=60))
    assert answer.granted
    pair, _ = coordinator.propose(houses.job("pair", ["lender", "card"]))
    coordinator.queue(pair)
    assert coordinator.end(pair, "lender").state == pb.FINISHED
    assert state(houses, "lender", dead) == "QUEUED"


@pytest.mark.slow
def test_of_64_jobs_at_once_at_three_servers_none_fails(houses):
    """Two analysts, and jobs among two and among three parties."""
    houses.heartbeat = (2.0, 60.0)  # else signs of life on 144 streams are most of the work
    houses.authority.issue("other")
    for name in houses.names:
        houses.write(name, policy={"coordinators": ["analyst", "other"]})
    houses.spawn_all()
    texts = [houses.job("all"), houses.job("pair", ["lender", "bank"])]
    texts += [houses.job("pair", ["card", "lender"]), houses.job("pair", ["bank", "card"])]
    outcomes = {}

    def run(number):
        out = houses.folder / f"out{number}"
        out.mkdir()
        identity = houses.authority.identity("other" if number % 4 else "analyst")
        job = parse_job(texts[number % len(texts)], {})
        try:
            patience = Patience(connect=60, heartbeat=120)
            board = Board(job.party_names, show=False)
            outcomes[number] = run_job(job, out, identity, board, patience)["records"]
        except Exception as error:
            outcomes[number] = str(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(64)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(300)
    wrong = {n: found for n, found in outcomes.items() if found not in (18, 19)}
    assert (wrong, len(outcomes)) == ({}, 64)
