"""Nets found on shares are the nets of the joined table."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.protocols.messaging.memory import run_same
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.bayesnet import search
from coterie.protocols.statistics.shared_counts import Transfers
from coterie.protocols.statistics.shared_tables import (
    Axis,
    JointTable,
    horizontal_shares,
    table_shares,
)
from tests.protocols.statistics.plain_models import k2, ln_factorial


class OpenDecisions:
    """An insecure stand-in: the servers tell everybody the counts."""

    def __init__(self, channel, servers):
        self.channel, self.servers = channel, servers

    def score(self, family):
        with self.channel.step("open"):
            if family.share is not None:
                self.channel.broadcast(family.share)
            parts = [
                family.share if name == self.channel.me else self.channel.recv(name)
                for name in self.servers
            ]
        table = (parts[0] + parts[1]).astype(int).reshape(family.configurations, family.size)
        return sum(
            ln_factorial(family.size - 1)
            - ln_factorial(int(row.sum()) + family.size - 1)
            + sum(ln_factorial(int(cell)) for cell in row)
            for row in table
        )

    def best(self, groups):
        return [int(np.argmax(np.round([self.score(f) for f in group], 9))) for group in groups]


@st.composite
def cases(draw):
    names = ["a", "b", "c"][: draw(st.integers(2, 3))]
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    records = draw(st.integers(5, 120))
    order = [
        Axis(f"x{i}", draw(st.sampled_from(names)), draw(st.integers(2, 3)))
        for i in range(draw(st.integers(1, 4)))
    ]
    codes = {}
    for i, axis in enumerate(order):
        noise = rng.integers(0, axis.size, records)
        source = codes[f"x{i - 1}"] % axis.size if i else noise
        codes[axis.name] = np.where(rng.random(records) < 0.7, source, noise)
    return names, order, codes, draw(st.integers(0, 2))


def plain_edges(order, codes, max_parents):
    records = len(codes["x0"])
    rows = [{name: int(column[i]) for name, column in codes.items()} for i in range(records)]
    domains = {axis.name: list(range(axis.size)) for axis in order}
    gaps = []
    edges = k2(rows, [axis.name for axis in order], domains, max_parents, gaps)
    return [tuple(edge) for edge in edges], gaps


@settings(deadline=None, max_examples=12)
@given(cases())
def test_vertical_columns_give_the_plain_net(case):
    names, order, codes, max_parents = case
    servers = (names[0], names[1])

    def party(channel):
        rng = Random(channel.me)
        transfers = Transfers(channel, rng)
        own = {axis.name: codes[axis.name] for axis in order if axis.owner == channel.me}

        def count(axes):
            return table_shares(
                transfers, JointTable(names, servers, axes, own, len(codes["x0"])), rng
            )

        return search(channel, order, max_parents, count, OpenDecisions(channel, servers))

    found = run_same(names, party)
    expected, gaps = plain_edges(order, codes, max_parents)
    if all(gap > 1e-6 for gap in gaps):
        assert found[names[0]] == expected
    assert all(edges == found[names[0]] for edges in found.values())


@settings(deadline=None, max_examples=5)
@given(cases())
def test_horizontal_rows_give_the_plain_net(case):
    names, order, codes, max_parents = case
    servers = (names[1], names[0])
    split = np.random.default_rng(1).integers(0, len(names), len(codes["x0"]))

    def party(channel):
        mine = split == names.index(channel.me)
        own = {name: column[mine] for name, column in codes.items()}
        rng = Random(channel.me)

        def count(axes):
            table = JointTable(names, servers, axes, own, int(mine.sum()))
            return horizontal_shares(channel, table, rng)

        return search(channel, order, max_parents, count, OpenDecisions(channel, servers))

    found = run_same(names, party)
    expected, gaps = plain_edges(order, codes, max_parents)
    if all(gap > 1e-6 for gap in gaps):
        assert found[names[0]] == expected
