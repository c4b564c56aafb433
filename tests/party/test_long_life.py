"""What a server holds does not grow with the jobs it has served, however they ended."""

import gc
import os
import threading
import time

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
