"""Jobs that are accepted and never started: they end by themselves, or by the operator's word."""

import json
import threading
import time

import pytest

from coterie.coordinator.run.follower import Patience
from coterie.coordinator.run.run_job import Drive
from coterie.jobs.kinds.job_file import parse_job
from coterie.party.books.append_file import read_entries
from coterie.party.config import load_party
from coterie.party.server import PartyServer
from coterie.protos import jobs_pb2 as pb
from tests.coordinator.support import coterie


class Wall:
    now = 1_000_000.0

    def __call__(self):
        return self.now


def propose(houses, number=0):
    proposal = pb.Proposal(job_id=f"{number:032x}", job_yaml=houses.job())
    return houses.stub("analyst", "bank").Propose(proposal, timeout=60)


def serve(houses, wall):
    server = PartyServer(load_party(houses.path("bank")), wall=wall)
    server.start()
    return server


@pytest.mark.parametrize("consent", ["auto", "manual"])
def test_an_unstarted_job_expires_also_over_a_restart_and_makes_room(houses, consent):
    houses.write("bank", policy={"consent": consent}, limits={"unstarted": 3600, "open_jobs": 1})
    wall = Wall()
    server = serve(houses, wall)
    assert propose(houses).state in (pb.ACCEPTED, pb.WAITING)
    wall.now += 3000
    assert "1 jobs here that have not ended" in propose(houses, 1).reason
    server.stop()
    wall.now += 601
    server = serve(houses, wall)
    try:
        assert propose(houses, 2).state in (pb.ACCEPTED, pb.WAITING)
        last = houses.coordinator().end("0" * 32, "bank")
        assert (last.state, last.exit_code) == (pb.CANCELLED, 10)
        assert last.error == "bank: was not started within 3600 s"
    finally:
        server.stop()
    ends = [e for e in read_entries(houses.state("bank") / "audit.log") if e["event"] == "ended"]
    assert [(e["job"], e["state"]) for e in ends] == [("0" * 32, "CANCELLED")]


def test_an_unstarted_job_expires_though_nobody_calls(houses):
    houses.write("bank", limits={"unstarted": 1})
    houses.serve("bank")
    propose(houses)
    assert houses.coordinator().end("0" * 32, "bank").state == pb.CANCELLED


def test_an_accepted_job_is_given_up_an_hour_after_its_coordinator_was_last_there(houses):
    wall = Wall()
    server = serve(houses, wall)
    try:
        propose(houses)
        propose(houses, 1)
        houses.coordinator().queue(f"{1:032x}", ["bank"])
        wall.now += 3000
        stream = houses.coordinator().watch("0" * 32, "bank")
        next(stream)
        stream.cancel()
        time.sleep(1)  # until the server has noticed
        for seconds, state in ((3000, pb.ACCEPTED), (601, pb.CANCELLED)):
            wall.now += seconds
            server._worker.expire()
            assert server._book.get("0" * 32).state == state
        assert "its coordinator was away for 3600 s" in server._book.get("0" * 32).reason
        assert server._book.get(f"{1:032x}").state == pb.QUEUED
    finally:
        server.stop()


def test_a_running_job_does_not_expire(houses):
    wall = Wall()
    server = serve(houses, wall)
    propose(houses)
    houses.coordinator().start("0" * 32, ["bank"])
    wall.now += 1e6
    server._worker.expire()
    assert server._book.get("0" * 32).state == pb.RUNNING
    server.stop()


def test_the_operator_cancels_a_job_and_its_coordinator_hears_who_and_why(houses):
    houses.serve("bank")
    propose(houses)
    cancel = ("party", "cancel", "common", "--config", houses.path("bank"))
    done = coterie(*cancel, "--reason", "the table moves", "--json")
    assert (done.code, json.loads(done.out)["state"]) == (0, "CANCELLED")
    last = houses.coordinator().end("0" * 32, "bank")
    assert (last.state, last.error) == (pb.CANCELLED, "cancelled by bank: the table moves")
    again = coterie(*cancel)
    assert (again.code, again.error) == (2, "no job 'common' goes on: it is CANCELLED")


class NoBoard:
    def update(self, *_):
        pass


def test_a_cancel_is_repeated_until_a_party_that_was_away_is_back(houses):
    houses.serve_all()
    coordinator = houses.coordinator()
    job_id, _ = coordinator.propose(houses.job())
    houses.servers.pop("bank").stop()
    addresses = {name: f"127.0.0.1:{port}" for name, port in houses.ports.items()}
    drive = Drive(
        parse_job(houses.job(), {}),
        addresses,
        houses.authority.identity("analyst"),
        NoBoard(),
        Patience(cancel=100),
    )
    drive._job_id = job_id
    thread = threading.Thread(target=drive._cancel, args=(KeyboardInterrupt(),))
    thread.start()
    assert coordinator.end(job_id, "lender").state == pb.CANCELLED
    houses.serve("bank")
    thread.join(100)
    assert not thread.is_alive()
    assert coordinator.end(job_id, "bank").state == pb.CANCELLED


def test_a_party_that_was_away_hears_of_a_cancel_when_it_is_back(houses):
    """The coordinator is long gone; the peers remember, also those that were restarted since."""
    houses.serve_all()
    coordinator = houses.coordinator()
    job_id, _ = coordinator.propose(houses.job())
    houses.servers.pop("bank").stop()
    for name in ("lender", "card"):
        coordinator.stubs[name].Cancel(pb.Cancellation(job_id=job_id, reason="no"), timeout=60)
    houses.servers.pop("lender").stop()
    houses.serve("lender")
    houses.servers.pop("card").stop()
    houses.serve("bank")
    last = houses.coordinator().end(job_id, "bank")
    assert (last.state, last.exit_code) == (pb.CANCELLED, 10)
    assert last.error == "lender: the job was cancelled"


def test_a_party_that_was_away_keeps_what_its_peers_keep(houses):
    houses.serve_all()
    coordinator = houses.coordinator()
    job_id, _ = coordinator.propose(houses.job())
    houses.servers.pop("bank").stop()
    server = houses.serve("bank")
    server._worker.turns.inquire(since=-1.0)
    assert server._book.get(job_id).state == pb.ACCEPTED
