"""`coterie watch` looks at a job, from the coordinator and from a party's operator."""

import threading

import pytest

from coterie.base.errors import CancelledError, UsageError
from coterie.coordinator.run.follower import Patience
from coterie.coordinator.run.interrupts import never
from coterie.coordinator.run.progress import Board
from coterie.coordinator.run.watch import known_here, known_there, watch_job
from coterie.trust.identity import find_identity
from tests.coordinator.support import coterie


@pytest.fixture
def waiting(asked):
    """A job that waits for the bank's operator."""
    houses, path, out = asked
    assert coterie("run", path, "--out", out, "--detach").code == 0
    return houses


def approve_soon(houses):
    config = houses.path("bank")
    threading.Timer(
        0.5, coterie, ["party", "approve", "common", "--config", config, "--by", "Ada"]
    ).start()


def test_the_coordinator_sees_every_party_to_the_end(waiting):
    job = known_here("common")
    who = find_identity(waiting.folder / "certs" / "analyst.crt")
    board = Board(list(job.addresses), show=False)
    approve_soon(waiting)
    watch_job(job, who, board, Patience(), never, None)
    assert {line.state for line in board.lines.values()} == {"finished"}
    assert job.out is not None
    assert not (job.out / "result.json").exists()  # that is left to whoever runs the job


def test_an_operator_sees_its_own_server_alone(waiting):
    server = f"bank=127.0.0.1:{waiting.ports['bank']}"
    who = find_identity(waiting.folder / "certs" / "bank.crt")
    job = known_there("common", server, who)
    assert list(job.addresses) == ["bank"]
    board = Board(["bank"], show=False)
    approve_soon(waiting)
    watch_job(job, who, board, Patience(), never, None)
    assert board.lines["bank"].state == "finished"


def test_another_partys_operator_is_refused(waiting):
    who = find_identity(waiting.folder / "certs" / "lender.crt")
    with pytest.raises(Exception, match="only the operator of bank may do this, not 'lender'"):
        known_there("common", f"bank=127.0.0.1:{waiting.ports['bank']}", who)


def test_a_cancellation_on_the_page_reaches_all_parties(waiting):
    job = known_here("common")
    who = find_identity(waiting.folder / "certs" / "analyst.crt")

    def pressed():
        raise CancelledError("cancelled on the live page")

    with pytest.raises(CancelledError):
        watch_job(job, who, Board(list(job.addresses), show=False), Patience(), pressed, None)
    listed = coterie("party", "jobs", "--config", waiting.path("lender"), "--json").json["jobs"]
    assert listed[-1]["state"] == "CANCELLED"


@pytest.mark.parametrize("server", ["bank", "bank=", "=x:1"])
def test_a_server_is_named_with_its_address(server):
    with pytest.raises(UsageError, match="--server must be NAME=HOST:PORT"):
        known_there("common", server, None)


def test_the_command_ends_with_the_job(waiting):
    approve_soon(waiting)
    done = coterie("watch", "common", "--terminal", "--json")
    assert (done.code, done.json["state"]) == (0, "finished")
