"""Decisions on shares are the decisions on the counts, and everybody hears the same."""

import numpy as np
import pytest

from coterie.base.errors import PeerFaultError
from coterie.protocols.messaging.memory import run_alike
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.hidden_counts import HiddenCounts

NAMES = ("a", "b", "c")
SERVERS = ("c", "a")


def shares(values):
    values = np.asarray(values, np.uint32)
    first = np.random.default_rng(1).integers(0, 2**32, values.shape, np.uint32)
    return {SERVERS[0]: first, SERVERS[1]: values - first}


def run(function, values):
    held = shares(values)

    def party(channel):
        group = HiddenCounts(channel, NAMES, SERVERS, Random(channel.me))
        return function(group, held.get(channel.me))

    return run_alike(NAMES, party)


def test_cells_are_told_to_everybody():
    values = [0, 1, 4, 5, 6, 100000, 0, 3]
    for empty, small in run(lambda g, s: g.cells(s, 8, 5), values).values():
        assert empty.tolist() == [value == 0 for value in values]
        assert small.tolist() == [0 < value < 5 for value in values]


def test_leaves_are_told_to_everybody():
    nodes = [[0, 0, 0], [5, 0, 0], [5, 6, 0], [2, 1, 0], [0, 50, 51]]

    def decide(group, share):
        flat = None if share is None else share.reshape(-1)
        return group.leaves(flat, 5, 3, [2, 1, 0, 0, 0], 4)

    for leaf, label in run(decide, nodes).values():
        assert leaf.tolist() == [True, True, False, True, False]
        assert label.tolist() == [2, 0, 1, 0, 2]  # too few records: the parent's class


def test_opened_counts_are_the_counts():
    for values in run(lambda g, s: g.open(s, 3), [7, 0, 99]).values():
        assert values.tolist() == [7, 0, 99]


def test_nothing_to_decide_is_no_work():
    for empty, small in run(lambda g, s: g.cells(s, 0, 5), []).values():
        assert len(empty) == len(small) == 0


def test_servers_that_tell_different_things_are_named():
    def tell(group, share):
        bits = None
        if share is not None:
            bits = np.full((1, 4), group.first, np.uint8)
        return group.tell(bits, (1, 4))

    with pytest.raises(PeerFaultError, match="c: told something else than the other server, a"):
        run(tell, [1])
