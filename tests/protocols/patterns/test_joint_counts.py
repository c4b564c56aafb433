"""Counts of conjunctions, whoever holds the conditions."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.protocols.messaging.memory import run_same
from coterie.protocols.patterns import joint_counts
from coterie.protocols.patterns.joint_counts import conjunction_shares
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.shared_counts import Transfers
from tests.views import assert_alike

NAMES = ("ann", "bob", "cat")
SERVERS = ("ann", "bob")


def shares(sets, columns, records, rng_of=lambda channel: Random(channel.me)):
    def party(channel):
        rng = rng_of(channel)
        transfers = Transfers(channel, rng.fork("transfers"))
        return conjunction_shares(
            transfers, NAMES, SERVERS, sets, records, lambda key: columns[channel.me][key], rng
        )

    return run_same(NAMES, party)


def plain(sets, columns, records):
    return [
        sum(all(columns[p][key][i] for p, key in one.items()) for i in range(records))
        for one in sets
    ]


@settings(max_examples=4, deadline=None)
@given(st.data())
def test_shares_add_up_to_the_counts(data):
    records = data.draw(st.integers(1, 30))
    draw = np.random.default_rng(data.draw(st.integers(0, 99)))
    columns = {name: draw.integers(0, 2, (4, records)).astype(np.uint8) for name in NAMES}
    one = st.dictionaries(st.sampled_from(NAMES), st.integers(0, 3), min_size=1)
    sets = data.draw(st.lists(one, min_size=1, max_size=12))
    found = shares(sets, columns, records)
    assert found["cat"] is None
    assert (found["ann"] + found["bob"]).tolist() == plain(sets, columns, records)


def test_many_groups_are_counted_in_pieces(monkeypatch):
    monkeypatch.setattr(joint_counts, "_TOGETHER", 100)
    draw = np.random.default_rng(5)
    columns = {name: draw.integers(0, 2, (6, 37)).astype(np.uint8) for name in NAMES}
    sets = [{"ann": a, "bob": b} for a in range(6) for b in range(5)]
    sets += [{"ann": a, "bob": a % 2, "cat": 2} for a in range(6)]
    found = shares(sets, columns, 37)
    assert (found["ann"] + found["bob"]).tolist() == plain(sets, columns, 37)


def test_a_set_without_a_condition_is_refused():
    with pytest.raises(ValueError, match="conditions"):
        shares([{}], dict.fromkeys(NAMES, np.zeros((1, 3), np.uint8)), 3)


def conditions(watched, world):
    """The others' records satisfy all of their conditions in one world, none in the other."""
    sets = [{"ann": a, "bob": b, "cat": 0} for a in range(4) for b in range(2)]
    sets += [{"cat": 0}, {"bob": 1}, {"ann": 2, "cat": 0}]

    def party(channel, rng):
        bit = 1 if channel.me == watched else world
        transfers = Transfers(channel, rng.fork("transfers"))
        column = np.full(60, bit, np.uint8)
        return conjunction_shares(transfers, NAMES, SERVERS, sets, 60, lambda key: column, rng)

    return dict.fromkeys(NAMES, party)


@pytest.mark.parametrize("watched", NAMES)
def test_nobody_sees_which_records_satisfy_another_party(watched):
    assert_alike(partial(conditions, watched), watched, 2, shares=True)
