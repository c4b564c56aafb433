"""What the judgement by earlier jobs tells the others is one declared bit.

The bank has a history, which the others do not know. In two worlds its earlier jobs are as far apart
as they can be: other people, other partners, other coordinators, other reasons to refuse. Where the
verdict is the same, the messages that the others and the coordinator get are the same.
"""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from coterie.base.errors import RefusedError
from coterie.party.books.people import People
from coterie.party.history.gate import HistoryGate
from coterie.party.history.releases import History
from coterie.party.policy import Policy
from coterie.party.settings import Repeat
from coterie.protocols.messaging.release_gate import show_groups, show_people
from coterie.transport.error_messages import describe_to_coordinator, farewell_for
from tests.party.history.test_gate import RELEASE
from tests.party.history.test_releases import entry
from tests.party.test_policy import JOB
from tests.views import assert_alike, watch

NAMES = ("bank", "lender", "card")
PEOPLE = np.arange(40)
DIGESTS = np.arange(100, 140, dtype=np.uint64)
HALVES, SLICES = PEOPLE // 20, PEOPLE % 10
DAY = 86400.0


def remember(history, at, people, groups=None, classes="", coordinator="analyst"):
    """An earlier job of somebody about some of the bank's people."""
    known = People(history.folder, ["ID"]).numbers(DIGESTS[people])
    made = entry(at, known, time=history.clock() - at * DAY)
    one = replace(made, coordinator=coordinator, counted={"Sex": classes})
    history.add(one, known)
    if groups is not None:
        history.add_groups(one.job, known, {"Sex": groups})


def goes_on(history, world):
    """Nothing is remembered; or the same question, of another coordinator, and one about others."""
    if world:
        remember(history, 1, PEOPLE, groups=HALVES, coordinator="somebody else")
        remember(history, 2, PEOPLE[:15], coordinator="analyst")


def refuses_people(history, world):
    """All but one person were counted before; or the same people in other classes, twice."""
    if world:
        remember(history, 1, PEOPLE, classes="cut at 30")
        remember(history, 2, PEOPLE, classes="cut at 31")
    else:
        remember(history, 1, PEOPLE[:-1])


def refuses_groups(history, world):
    """One earlier release whose groups meet these in two people; or many that meet them in one."""
    if world:
        for at in range(1, 6):
            remember(history, at, PEOPLE, groups=PEOPLE)
    else:
        remember(history, 1, PEOPLE, groups=SLICES)


def parties(past, folder, watched, world):
    """The bank's judgement as its server gives it, and what its server then tells the others."""
    history = History(folder / f"{past.__name__} {world}", lambda: 100 * DAY)
    if not history.folder.exists():
        past(history, world)
    written = history.entries()

    def bank(channel, rng):
        record = type("Record", (), {"job_id": "f" * 32, "coordinator": "analyst", "records": 40})
        gate = HistoryGate(
            history, Policy(repeat=Repeat(k=3)), RELEASE, record, JOB, "", DIGESTS,
            lambda event, **facts: None, None, lambda result: None,
        )  # fmt: skip
        told = "goes on", "goes on"
        try:
            show_people(gate, channel, PEOPLE)
            show_groups(gate, channel, PEOPLE, {"Sex": HALVES})
        except RefusedError as error:
            farewell = farewell_for(error, "bank", "search").SerializeToString().hex()
            told = farewell, describe_to_coordinator(error, "rows")
        for peer in channel.peers:
            channel.send(peer, *told)
        history.prune({"f" * 32})  # the next run begins with the same past
        assert history.entries() == written

    def other(channel, rng):
        return channel.recv("bank")

    return {name: bank if name == "bank" else other for name in NAMES}


@pytest.mark.parametrize("past", [goes_on, refuses_people, refuses_groups])
def test_the_verdict_is_all_that_others_see_of_a_history(past, tmp_path):
    assert_alike(partial(parties, past, tmp_path, "lender"), "lender", runs=2)


def test_the_verdicts_differ_from_each_other(tmp_path):
    """So that equal messages above mean that nothing but the verdict is told."""
    told = [
        watch(parties(past, tmp_path, "lender", 0), "seed")["lender"].received[0][2]
        for past in (goes_on, refuses_people)
    ]
    assert told[0] != told[1]
