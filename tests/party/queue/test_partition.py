"""Two parties that cannot reach each other while the coordinator reaches both: what each is told."""

import json
import re
import threading

import pytest

from coterie.base.errors import UnreachableError
from coterie.coordinator.demo.ports import free_ports
from coterie.coordinator.run.follower import Patience
from coterie.coordinator.run.progress import Board
from coterie.coordinator.run.run_job import run_job
from coterie.jobs.kinds.job_file import parse_job
from tests.coordinator.support import coterie, wait_for

REASON = "card cannot be reached: connection refused"


def part(houses):
    """Bank, which leads, has a wrong address of card in its party file."""
    houses.heartbeat = (0.2, 1.0)
    for name in houses.names:
        houses.write(name)
    [nobody] = free_ports(1)
    peers = houses.party_file("bank")["peers"]
    houses.write("bank", peers={**peers, "card": {"address": f"127.0.0.1:{nobody}"}})
    for name in houses.names:
        houses.spawn(name)
    return peers


def run_with(houses, outcome, board, patience):
    out = houses.folder / "out"
    out.mkdir()
    job = parse_job(houses.job(), {})
    try:
        outcome.append(run_job(job, out, houses.authority.identity("analyst"), board, patience))
    except Exception as error:
        outcome.append(error)


@pytest.mark.slow
def test_a_run_between_parties_that_are_cut_off_shows_why_it_waits_and_ends(houses, capsys):
    part(houses)
    outcome, board = [], Board(houses.names)
    patience = Patience(connect=60, heartbeat=60, cut_off=6)
    run = threading.Thread(target=run_with, args=(houses, outcome, board, patience))
    run.start()
    wait_for(lambda: REASON in board.lines["bank"].state, "the reason on the board")
    [bank] = [facts.state for facts in board.facts() if facts.party == "bank"]  # of the live page
    assert bank in (f"queued, place 1; {REASON}", f"queued; {REASON}")
    done = coterie("party", "jobs", "--config", houses.path("bank"), "--json")
    [listed] = json.loads(done.out)["jobs"]
    assert re.fullmatch(rf"(place 1 in the queue|has a place; .*); {REASON}", listed["detail"])
    run.join(120)
    [error] = outcome
    assert isinstance(error, UnreachableError)
    assert str(error).startswith(f"bank: {REASON}, for 6.0 s, and the job has not begun; check")
    assert re.search(rf"bank +queued(, place 1)?; {REASON}", capsys.readouterr().err)
    for name in houses.names:
        done = coterie("party", "jobs", "--config", houses.path(name), "--json")
        assert [job["state"] for job in json.loads(done.out)["jobs"]] == ["CANCELLED"]


@pytest.mark.slow
def test_a_job_begins_when_the_address_is_mended(houses):
    peers = part(houses)
    outcome, board = [], Board(houses.names, show=False)
    patience = Patience(connect=60, heartbeat=60)
    run = threading.Thread(target=run_with, args=(houses, outcome, board, patience))
    run.start()
    wait_for(lambda: REASON in board.lines["bank"].state, "the reason on the board")
    houses.write("bank", peers=peers)
    run.join(120)
    assert outcome[0]["records"] == 18
