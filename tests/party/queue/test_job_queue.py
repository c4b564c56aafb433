"""Places for running jobs: a cap, a fair order, places that lapse, and no jobs that wait for each other."""

import random

import pytest

from coterie.party.queue.job_queue import JobQueue


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


class Served:
    """A queue, and what it granted in order."""

    def __init__(self, places=1, keep=30.0):
        self.clock = Clock()
        self.granted = []
        self.queue = JobQueue(lambda: places, lambda: keep, self.granted.append, self.clock)


def test_no_more_jobs_hold_places_than_there_are():
    served = Served(places=2)
    for job in "abc":
        served.queue.add(job, "analyst", asked=True)
    assert served.granted == ["a", "b"]
    assert [served.queue.place(job) for job in "abc"] == [0, 0, 1]
    served.queue.begin("a")
    served.queue.remove("a")
    assert served.granted == ["a", "b", "c"]


def test_a_place_goes_to_the_coordinator_that_holds_the_fewest_and_then_to_the_oldest_job():
    served = Served(places=1)
    for job, coordinator in [("a1", "a"), ("a2", "a"), ("a3", "a"), ("b1", "b"), ("c1", "c")]:
        served.queue.add(job, coordinator, asked=True)
    assert [served.queue.place(job) for job in ("a2", "b1", "c1", "a3")] == [3, 1, 2, 4]
    for job in ("a1", "b1", "c1"):
        served.queue.remove(job)
    assert served.granted == ["a1", "b1", "c1", "a2"]


def test_a_coordinator_with_many_jobs_does_not_keep_another_one_waiting():
    served = Served(places=2)
    for number in range(60):
        served.queue.add(f"a{number}", "a", asked=True)
    served.queue.add("b", "b", asked=True)
    assert served.queue.place("b") == 1
    served.queue.remove("a1")
    assert served.granted == ["a0", "a1", "b"]


def test_a_job_that_nobody_asks_for_keeps_no_place_from_others_and_stays_in_the_queue():
    served = Served()
    served.queue.add("idle", "analyst", asked=False)
    served.queue.add("next", "analyst", asked=True)
    assert served.granted == ["next"]
    assert served.queue.place("idle") == 1
    assert not served.queue.ask("idle")
    served.queue.remove("next")
    assert served.queue.ask("idle")


def test_a_reserved_place_lapses_and_the_job_keeps_its_place_in_the_queue():
    served = Served(keep=30.0)
    served.queue.add("first", "analyst", asked=False)
    served.queue.add("second", "analyst", asked=False)
    assert served.queue.ask("first")
    served.clock.now = 29.0
    assert served.queue.ask("first")  # asked for again: it is kept for longer
    assert not served.queue.ask("second")
    served.clock.now = 60.0
    assert served.queue.ask("second")
    assert [served.queue.place(job) for job in ("first", "second")] == [1, 0]
    assert not served.queue.begin("first")


def test_a_job_is_begun_once():
    """A peer's stream and the leader's word may both tell a party to begin."""
    served = Served()
    served.queue.add("a", "analyst", asked=True)
    assert [served.queue.begin("a") for _ in range(3)] == [True, False, False]


def test_a_place_that_is_used_does_not_lapse():
    served = Served(keep=1.0)
    served.queue.add("a", "analyst", asked=False)
    served.queue.ask("a")
    assert served.queue.begin("a")
    served.clock.now = 1000.0
    served.queue.look()
    served.queue.release("a")
    assert served.queue.holds("a")


def test_a_job_that_lets_others_pass_comes_back():
    served = Served()
    served.queue.add("away", "analyst", asked=True)
    served.queue.add("next", "analyst", asked=True)
    served.queue.release("away", pause=2.0)
    assert served.granted == ["away", "next"]
    served.queue.remove("next")
    assert served.granted == ["away", "next"]
    served.clock.now = 2.0
    served.queue.look()
    assert served.granted == ["away", "next", "away"]


def _play(seed, ordered):
    """Jobs of random parties at parties of one place; how many are left when nothing moves."""
    draw = random.Random(seed)
    clock = Clock()
    queues = {name: JobQueue(lambda: 1, lambda: 1e9, lambda job: None, clock) for name in "abcd"}
    jobs = {}
    for number in range(20):
        parties = draw.sample("abcd", draw.randint(2, 4))
        jobs[str(number)] = sorted(parties) if ordered else parties
        for party in parties:
            queues[party].add(str(number), str(number % 3), asked=False)
    secured = dict.fromkeys(jobs, 0)
    idle = 0
    while jobs and idle < 400:
        idle += 1
        job = draw.choice(list(jobs))
        parties = jobs[job]
        if secured[job] == len(parties):  # it runs, and ends
            for party in parties:
                queues[party].remove(job)
            del jobs[job]
            idle = 0
        elif queues[parties[secured[job]]].ask(job):
            secured[job] += 1
            idle = 0
    return len(jobs)


@pytest.mark.parametrize("seed", range(20))
def test_jobs_that_take_their_places_by_name_all_run(seed):
    assert _play(seed, ordered=True) == 0


def test_jobs_that_take_their_places_in_any_order_would_wait_for_each_other():
    assert any(_play(seed, ordered=False) for seed in range(20))
