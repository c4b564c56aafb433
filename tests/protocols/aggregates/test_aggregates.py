"""Two servers decide which groups are shown, and everybody learns the numbers of these alone."""

import numpy as np

from coterie.anonymity.counts.hidden_cells import Component, Lines
from coterie.protocols.aggregates.aggregates import Aggregates
from coterie.protocols.messaging.memory import run_same
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.hidden_counts import HiddenCounts

NAMES, SERVERS = ["a", "b", "c"], ("a", "b")


def at_servers(work, **numbers):
    """What the parties get of work on the numbers, of which the servers have shares."""
    masks = {n: np.random.default_rng(4).integers(0, 2**64, len(v), np.uint64)
             for n, v in numbers.items()}  # fmt: skip

    def share(name, me):
        if me not in SERVERS:
            return None
        whole = np.array([value % 2**64 for value in numbers[name]], np.uint64)
        return masks[name] if me == "a" else whole - masks[name]

    def party(channel):
        servers = Aggregates(HiddenCounts(channel, NAMES, SERVERS, Random(channel.me)))
        return work(servers, {name: share(name, channel.me) for name in numbers})

    found = list(run_same(NAMES, party).values())
    assert all(str(one) == str(found[0]) for one in found)
    return found[0]


def test_a_small_group_is_hidden_with_a_large_one():
    line = Component(np.arange(4), (Lines(np.arange(4)[None]),))
    shown = at_servers(lambda s, x: s.shown([line], x["n"], 4, 5), n=[9, 2, 7, 5])
    assert shown.tolist() == [2, 3]


def test_numbers_of_shown_groups_come_to_everybody():
    assert at_servers(lambda s, x: s.sums(x["v"], 3).tolist(), v=[-5, 2**60, 0]) == [-5, 2**60, 0]
    assert at_servers(lambda s, x: s.records(x["v"], 1).tolist(), v=[70]) == [70]


def test_squares_come_whole():
    found = at_servers(lambda s, x: s.squares(x, 20, 1), high=[2**61], both=[3], low=[1])
    assert found == [2**101 + 3 * 2**21 + 1]
