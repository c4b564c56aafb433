"""What parties book while they specialize together."""

from dataclasses import replace

import numpy as np
import pytest

from coterie.anonymity.models.privacy import DistinctDiversity
from coterie.protocols.messaging.memory import run_parties
from coterie.protocols.messaging.wrappers import Wrapper
from tests.anonymity.tables import Case
from tests.protocols.integration.splits import Split, loans


class Sending(Wrapper):
    """Notes the steps in which a party sends, among what it books."""

    def __init__(self, inner, events):
        super().__init__(inner)
        self.events = events

    def transmit(self, peer, message):
        if message.step.endswith("instruct"):
            self.events.append("sent")
        super().transmit(peer, message)


def books_of(split):
    books = {name: [] for name in split.names}
    parties = {name: split.party(name, book=books[name].append) for name in split.names}
    return books, run_parties(parties)


@pytest.mark.parametrize("turns", [False, True])
def test_all_parties_book_all_that_is_given(turns):
    books, outcomes = books_of(replace(loans(), turns=turns))
    assert books["ann"] == books["bob"]
    given = dict.fromkeys(("ann", "bob"), 0)
    for contribution in books["ann"]:
        given[contribution.giver] += contribution.score
        assert contribution.to == tuple({"ann", "bob"} - {contribution.giver})
    assert given == outcomes["ann"].contributions
    assert len({contribution.mark for contribution in books["ann"]}) == len(books["ann"])


@pytest.mark.parametrize("turns", [False, True])
def test_a_gift_is_booked_before_it_is_sent(turns):
    split = replace(loans(), turns=turns)
    events = []
    parties = {name: split.party(name) for name in split.names}
    parties["bob"] = split.party("bob", book=lambda contribution: events.append(contribution.giver))
    run_parties(parties, wrap=lambda t: Sending(t, events) if t.me == "bob" else t)
    own = [event for event in events if event != "ann"]
    booked = sent = 0
    for event in own:
        booked += event == "bob"
        sent += event == "sent"
        assert turns or sent <= booked
    assert own[:2] == ["bob", "sent"]
    assert booked > 1


def test_a_mark_does_not_depend_on_the_order_of_the_records():
    split = loans()
    order = np.random.default_rng(4).permutation(len(split.case.rows))
    rows = [split.case.rows[i] for i in order]
    other = replace(split, case=replace(split.case, rows=rows))
    assert books_of(split)[0] == books_of(other)[0]


def test_a_rejected_proposal_is_booked_to_who_saw_it():
    rows = [
        {"a": a, "s": s, "class": c} for a, s, c in [("x", "1", "n"), ("y", "2", "y")] for _ in "12"
    ]
    case = Case(rows, {"a": ("taxonomy", [["x", "*"], ["y", "*"]])}, [(("a",), 2)])
    split = Split(
        case,
        ("ann", "bob", "cat"),
        {"a": "ann", "s": "bob"},
        ("ann",),
        {0: ("s", DistinctDiversity(2))},
    )
    split.conditions = "holder"
    books, outcomes = books_of(split)
    assert outcomes["ann"].winners == []
    [contribution] = books["ann"]
    assert (contribution.giver, contribution.to, contribution.proposal) == ("ann", ("bob",), True)
    assert contribution.score == 2**30
    assert books["bob"] == books["cat"] == []
