"""Tables of sums by attributes of any parties, as shares at two servers."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.protocols.messaging.memory import run_same
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.shared_counts import Transfers
from coterie.protocols.statistics.shared_tables import (
    Axis,
    JointTable,
    group_shares,
    horizontal_shares,
)

NAMES = ["a", "b", "c"]
SERVERS = ("b", "c")


def plain(axes, codes, rows):
    table = np.zeros([*(axis.size for axis in axes), rows.shape[1]], object)
    for i, row in enumerate(rows.tolist()):
        at = tuple(int(codes[axis.name][i]) for axis in axes)
        for column, value in enumerate(row):
            table[(*at, column)] += value
    return [int(x) % 2**64 for x in table.reshape(-1)]


@settings(deadline=None, max_examples=25)
@given(st.lists(st.tuples(st.sampled_from(NAMES), st.integers(1, 5)), max_size=4), st.data())
def test_the_servers_hold_shares_of_the_sums_of_every_cell(held, data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    records, owner = data.draw(st.integers(1, 25)), data.draw(st.sampled_from(NAMES))
    axes = [Axis(f"x{at}", name, size) for at, (name, size) in enumerate(held)]
    codes = {axis.name: rng.integers(0, axis.size, records) for axis in axes}
    rows = rng.integers(0, 2**64, (records, data.draw(st.integers(1, 3))), dtype=np.uint64)

    def party(channel):
        mine = {axis.name: codes[axis.name] for axis in axes if axis.owner == channel.me}
        random = Random(channel.me)
        return group_shares(
            Transfers(channel, random.fork("t")), JointTable(NAMES, SERVERS, axes, mine, records),
            owner, rows if channel.me == owner else None, rows.shape[1], random,
        )  # fmt: skip

    found = run_same(NAMES, party)
    assert found["a"] is None
    assert (found["b"] + found["c"]).tolist() == plain(axes, codes, rows)


def test_with_horizontal_partition_the_sums_of_all_parties_are_added():
    rng = np.random.default_rng(4)
    axes = [Axis("x", None, 3), Axis("y", None, 2)]
    parts = {
        name: ({"x": rng.integers(0, 3, 9), "y": rng.integers(0, 2, 9)},
               rng.integers(0, 2**64, (9, 2), dtype=np.uint64))
        for name in NAMES
    }  # fmt: skip

    def party(channel):
        codes, rows = parts[channel.me]
        rng = Random(channel.me)
        table = JointTable(NAMES, SERVERS, axes, codes, len(rows))
        return horizontal_shares(channel, table, rng, rows, np.uint64)

    found = run_same(NAMES, party)
    codes = {n: np.concatenate([parts[p][0][n] for p in NAMES]) for n in ("x", "y")}
    rows = np.concatenate([parts[p][1] for p in NAMES])
    assert (found["b"] + found["c"]).tolist() == plain(axes, codes, rows)
