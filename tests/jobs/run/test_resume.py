"""Small jobs of every kind whose parties are killed, one after the other and two at once.

`make kills` kills every party before and after each of its messages.
"""

import random

import pytest

from coterie.protocols.messaging.wrappers import Fault
from tests.jobs.run.interrupted import World
from tests.jobs.run.resumed_jobs import NAMES, RANDOM, comparable, write_job


@pytest.fixture
def world(tmp_path):
    def make(name):
        (tmp_path / "data").mkdir(exist_ok=True)
        return World(write_job(name, tmp_path / "data"), tmp_path / "data", tmp_path / "run")

    return make


@pytest.mark.parametrize("name", NAMES)
def test_a_job_whose_parties_are_killed_again_and_again_gives_the_same_release(
    name, world, tmp_path
):
    whole = world(name)
    whole.folder = tmp_path / "whole"
    assert set(whole.attempt().values()) == {None}
    choose = random.Random(name)
    killed = world(name)
    for number in (1, 2):
        names = choose.sample(killed.job.party_names, number)
        faults = {
            party: Fault(
                choose.choice(("kill-before", "kill-after")),
                choose.randrange(max(1, whole.messages[party] // 2), whole.messages[party]),
            )
            for party in names
        }
        killed.attempt(faults)
    assert set(killed.attempt().values()) == {None}
    assert comparable(name, killed.release()) == comparable(name, whole.release())


@pytest.mark.parametrize("name", RANDOM)
def test_what_is_random_in_a_release_is_drawn_once(name, world):
    job = world(name)
    assert set(job.attempt().values()) == {None}
    first = drawn(job)
    for _ in range(5):  # few things are drawn, and a second draw may be the same by chance
        for party in "abc":  # as if the last answers had been lost at one party
            cut(job.space(party).folder / "answers", 2)
        assert set(job.attempt().values()) == {None}
        assert drawn(job) == first


def drawn(job):
    """The release, and what the parties keep of a tree's branches."""
    kept = [job.space(party).kept / "branches.csv" for party in "abc"]
    return job.release(), [path.read_text() for path in kept if path.exists()]


def cut(path, answers):
    """Leaves only the first answers, at most, and not the last one; and what was drawn."""
    from coterie.jobs.run.answers_file import AnswersFile

    file = AnswersFile(path, b"the data")
    stored = file.read()
    found = [a for a in stored if a.token]
    assert len(found) > 1
    left = min(answers, len(found) - 1)
    file.replace([*(a for a in stored if not a.token), *found[:left]])
    file.close()
