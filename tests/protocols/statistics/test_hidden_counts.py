"""Decisions on shares are the decisions on the counts, and everybody hears the same."""

import numpy as np
import pytest

from coterie.anonymity.counts.hidden_cells import Holders, Table, plan
from coterie.base.errors import PeerFaultError
from coterie.protocols.circuits.boolean import to_bits
from coterie.protocols.messaging.memory import run_same
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.hidden_counts import HiddenCounts
from coterie.protocols.statistics.visible_cells import visible_cells

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

    return run_same(NAMES, party)


def test_what_is_large_stays_between_the_servers():
    values = [0, 1, 4, 5, 6, 100000, 0, 3]
    for zeros in (False, True):
        found = run(lambda g, s, zeros=zeros: g.large(s, 8, 5, zeros), values)
        assert found["b"] is None
        large = found["a"] ^ found["c"]
        assert large.tolist() == [value >= 5 or (zeros and value == 0) for value in values]
        assert 0 < found["a"].sum() + found["c"].sum() < 16


def test_what_is_visible_is_told_to_everybody_and_noted():
    table = [[50, 1, 60], [70, 80, 90], [20, 20, 30]]
    components = plan([Table(("x", "y"), (3, 3))], Holders({"x": "a", "y": "b"}, SERVERS))

    def decide(group, share):
        flat = None if share is None else share.reshape(-1)
        return visible_cells(group, components, flat, 9, 5), group.channel.opened.listed()

    for visible, listed in run(decide, table).values():
        assert visible.reshape(3, 3).tolist() == [[0, 0, 1], [1, 0, 1], [1, 1, 1]]
        assert [(entry["what"], entry["to"]) for entry in listed] == [
            ("count: which cells are visible", ["a", "b", "c"])
        ]


def test_leaves_are_told_to_everybody():
    nodes = [[0, 0, 0], [5, 0, 0], [5, 6, 0], [2, 1, 0], [0, 50, 51]]

    def decide(group, share):
        flat = None if share is None else share.reshape(-1)
        above = None if share is None else to_bits(np.array([2, 1, 0, 0, 0]) * group.first, 2)
        leaf, label, kept = group.leaves(flat, 5, 3, above, 4)
        assert (kept is None) == (share is None)
        return leaf, label, group.labels(kept, 5, 3)

    for leaf, label, own in run(decide, nodes).values():
        assert leaf.tolist() == [True, True, False, True, False]
        assert own.tolist() == [2, 0, 1, 0, 2]  # too few records: the parent's class
        assert label.tolist() == [2, 0, 0, 0, 0]  # of a node that is divided nothing is told


def test_what_is_told_of_a_level_does_not_depend_on_the_classes_of_nodes_that_are_divided():
    def decide(group, share):
        sent = []
        send = group.tell
        group.tell = lambda bits, shape: sent.append(send(bits, shape)) or sent[-1]
        group.leaves(None if share is None else share.reshape(-1), 2, 2, None, 4)
        return [bits.tolist() for bits in sent]

    assert run(decide, [[9, 8], [0, 7]]) == run(decide, [[8, 9], [0, 7]])


def test_at_the_last_level_nothing_but_classes_is_told():
    """A pure node, a small one and a mixed one of the same class look the same."""

    def decide(group, share):
        sent = []
        send = group.tell
        group.tell = lambda bits, shape: sent.append(send(bits, shape)) or sent[-1]
        flat = None if share is None else share.reshape(-1)
        return group.leaves(flat, 3, 2, None, 4, last=True), sent

    for (_, label, _), sent in run(decide, [[9, 0], [1, 1], [9, 8]]).values():
        assert label.tolist() == [0, 0, 0]
        assert [bits.tolist() for bits in sent] == [[[0], [0], [0]]]


def test_opened_counts_are_the_counts():
    for values in run(lambda g, s: g.open(s, 3), [7, 0, 99]).values():
        assert values.tolist() == [7, 0, 99]


def test_servers_that_tell_different_things_are_named():
    def tell(group, share):
        bits = None
        if share is not None:
            bits = np.full((1, 4), group.first, np.uint8)
        return group.tell(bits, (1, 4))

    with pytest.raises(PeerFaultError, match="c: told something else than the other server, a"):
        run(tell, [1])
