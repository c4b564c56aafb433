"""What a server holds does not grow with the jobs it has served, however they ended."""

import gc
import os
import threading
import time
import weakref

import numpy as np

from coterie.party.operator import commands
from coterie.transport.session import Session
from tests.party.outcomes import KINDS, OUTCOMES, furnish, play

ROUND = len(KINDS) * len(OUTCOMES)
FIRST = 2 * len(OUTCOMES)  # jobs after which every kind and every outcome has been seen


def held():
    """What this process, which serves all parties, holds."""
    gc.collect()
    return {
        "descriptors": len(os.listdir("/proc/self/fd")),
        "threads": threading.active_count(),
        "sessions": sum(isinstance(each, Session) for each in gc.get_objects()),
    }


def settled(bound):
    """What is held once it is within the bound, or after a minute; ends take a moment."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        now = held()
        if all(now[key] <= bound[key] for key in bound):
            return now
        time.sleep(0.1)
    return held()


def test_jobs_leave_no_descriptor_no_thread_and_no_temporary_file_behind(houses):
    others = held()["sessions"]  # of tests before this one
    furnish(houses)
    houses.serve_all()
    coordinator = houses.coordinator()
    for number in range(FIRST):
        play(houses, coordinator, number)
    time.sleep(1)
    before = held()
    for number in range(ROUND):
        play(houses, coordinator, number)
    # One leak of one descriptor in one outcome of one kind would be above this bound.
    bound = {**before, "threads": before["threads"] + 4, "sessions": others}
    after = settled(bound)
    assert all(after[key] <= bound[key] for key in bound), (before, after)
    assert not [path for name in houses.names for path in houses.state(name).glob("tmp*")]
    # What was read for a job has a number for each person of the table, and ended jobs are many.
    records = [record for server in houses.servers.values() for record in server._book.all()]
    assert [r.state for r in records if r.people is not None or r.prepared is not None] == []


class Holder:
    """Arrays that refer to each other, as those of a job that has failed often do."""

    def __init__(self):
        self.array = np.zeros(1 << 20)
        self.itself = self


class Counted:
    """A server as far as its memory is concerned."""

    def __init__(self):
        self.ended, self.asked = 7, threading.Event()

    @property
    def ended_jobs(self):
        self.asked.set()
        return self.ended


def test_a_server_frees_what_an_ended_job_held_although_it_refers_to_itself(monkeypatch):
    given_back = threading.Event()
    monkeypatch.setattr(commands, "_TIDYING", 0.01)
    monkeypatch.setattr(commands, "give_back", given_back.set)
    server, stopping = Counted(), threading.Event()
    tidying = threading.Thread(target=commands._tidy, args=(server, stopping))
    gc.disable()  # or it may be collected by chance
    try:
        tidying.start()
        assert server.asked.wait(60)  # what is there before that is kept
        held = weakref.ref(Holder())
        time.sleep(0.1)
        assert held() is not None  # nothing has ended
        assert not given_back.is_set()
        server.ended += 1
        assert given_back.wait(60)
        assert held() is None
    finally:
        stopping.set()
        tidying.join()
        gc.enable()
        gc.unfreeze()
