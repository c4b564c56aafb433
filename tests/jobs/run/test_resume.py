"""Small jobs of every kind whose parties are killed, one after the other and two at once.

`make kills` kills every party before and after each of its messages.
"""

import csv
import json
import random
import shutil

import pytest

from coterie.jobs.kinds.kept_models import FILE
from coterie.protocols.messaging.channel import Channel
from coterie.protocols.messaging.wire import encode
from tests.jobs.run.interrupted import World
from tests.jobs.run.resumed_jobs import NAMES, PEOPLE, RANDOM, RECOMPUTED, comparable, write_job
from tests.protocols.wrappers import Fault


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


def test_shares_that_two_parties_keep_belong_together_whoever_is_killed(world):
    """Of two attempts they would add up to random numbers of 40 bits."""
    job = world("naive bayesnet mixed")
    assert set(job.attempt().values()) == {None}
    first = job.messages["b"]
    shutil.rmtree(job.folder)
    for party, at in (("b", first - 4), ("a", 20)):
        job.attempt({party: Fault("kill-after", at)})
    assert set(job.attempt().values()) == {None}
    one, other = (json.loads((job.space(p).kept / FILE).read_text())["shares"] for p in "ab")
    assert set(one) == set(other) == {"Sex", "Job"}
    for node, shares in one.items():
        costs = [(x + y) % 2**40 for x, y in zip(shares, other[node], strict=True)]
        assert max(costs) < 2**24


@pytest.mark.parametrize("name", RECOMPUTED)
def test_what_is_not_kept_is_opened_alike_a_second_time_and_masked_anew(name, world, monkeypatch):
    """Otherwise two attempts would tell two things, or one mask would cover two vectors."""
    opened, sent = [], []
    honest, broadcast = Channel.open, Channel.broadcast

    def noting(self, opening, value, to=None):
        if self.me == "a" and not opening.name.startswith("job: "):
            opened.append((opening.name, str(value)))
        return honest(self, opening, value, to)

    def sending(self, *values):
        sent.append(b"".join(map(bytes, encode(values))))
        return broadcast(self, *values)

    job = world(name)
    job.attempt()
    expected, last = job.release(), job.messages["b"] - 2
    shutil.rmtree(job.folder)
    monkeypatch.setattr(Channel, "open", noting)
    monkeypatch.setattr(Channel, "broadcast", sending)
    job.attempt({"b": Fault("kill-after", last)})
    first, masked = list(opened), {message for message in sent if len(message) > 100}
    opened.clear()
    sent.clear()
    assert set(job.attempt().values()) == {None}
    assert first
    assert masked
    assert opened[: len(first)] == first
    assert masked.isdisjoint(sent)
    assert job.release() == expected


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


def by_values(job, node):
    """A node of a tree whose branches have the values that their owners know."""
    if "branches" not in node:
        return node["class"]
    with (job.space(node["party"]).kept / "branches.csv").open(newline="") as file:
        own = {(row["attribute"], row["branch"]): row["value"] for row in csv.DictReader(file)}
    return node["attribute"], {
        own[node["attribute"], number]: by_values(job, below)
        for number, below in node["branches"].items()
    }


def test_the_hidden_branches_of_a_tree_keep_their_meaning_over_interruptions(
    world, tmp_path, monkeypatch
):
    text, *rest = PEOPLE["tree"]
    deep = text.replace("max_depth: 1", "max_depth: 2")
    monkeypatch.setitem(PEOPLE, "tree", (deep, *rest))
    job = world("tree")
    assert set(job.attempt().values()) == {None}
    expected, count = by_values(job, job.release()["tree"]), job.messages["b"]
    assert "branches" in str(job.release()["tree"]["branches"])  # two levels
    for at in range(count // 2, count, max(1, count // 16)):
        shutil.rmtree(job.folder)
        job.attempt({"b": Fault("kill-after", at)})
        assert set(job.attempt().values()) == {None}
        assert by_values(job, job.release()["tree"]) == expected, at
