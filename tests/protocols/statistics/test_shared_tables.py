"""Shared tables equal the tables of the joined columns."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.protocols.messaging.memory import run_same
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.shared_counts import Transfers
from coterie.protocols.statistics.shared_tables import (
    Axis,
    JointTable,
    horizontal_shares,
    table_shares,
)


def plain_table(axes, codes):
    table = np.zeros([axis.size for axis in axes], int)
    np.add.at(table, tuple(codes[axis.name] for axis in axes), 1)
    return table.reshape(-1).tolist()


@st.composite
def tables(draw):
    names = ["a", "b", "c", "d"][: draw(st.integers(2, 4))]
    axes = [
        Axis(f"x{i}", draw(st.sampled_from([None, *names])), draw(st.integers(1, 4)))
        for i in range(draw(st.integers(1, 4)))
    ]
    records = draw(st.integers(0, 30))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    codes = {axis.name: rng.integers(0, axis.size, records) for axis in axes}
    servers = tuple(draw(st.permutations(names))[:2])
    return names, servers, axes, codes, records


@settings(deadline=None, max_examples=15)
@given(tables())
def test_vertical_tables_add_up_at_the_servers(case):
    names, servers, axes, codes, records = case

    def party(channel):
        rng = Random(channel.me)
        own = {a.name: codes[a.name] for a in axes if a.owner in (None, channel.me)}
        table = JointTable(names, servers, axes, own, records)
        return table_shares(Transfers(channel, rng), table, rng.fork("out"))

    found = run_same(names, party)
    assert (found[servers[0]] + found[servers[1]]).tolist() == plain_table(axes, codes)
    assert all(found[name] is None for name in names if name not in servers)


def test_horizontal_tables_add_up_at_the_servers():
    names, servers = ["a", "b", "c"], ("c", "a")
    axes = [Axis("x", None, 3), Axis("y", None, 2)]
    rng = np.random.default_rng(1)
    tables = {name: {"x": rng.integers(0, 3, 20), "y": rng.integers(0, 2, 20)} for name in names}

    def party(channel):
        table = JointTable(names, servers, axes, tables[channel.me], 20)
        return horizontal_shares(channel, table, Random(channel.me))

    found = run_same(names, party)
    joined = {key: np.concatenate([tables[name][key] for name in names]) for key in "xy"}
    assert (found["c"] + found["a"]).tolist() == plain_table(axes, joined)
