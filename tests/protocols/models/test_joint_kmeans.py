"""Clusters of columns at several parties beside Lloyd's iteration in plain whole numbers."""

import numpy as np
import pytest

from coterie.base.errors import DataError
from coterie.protocols.circuits.boolean import evaluate, from_bits, to_bits
from coterie.protocols.messaging.memory import run_same
from coterie.protocols.models.joint_kmeans import REACH, cluster_columns, mean_circuit
from coterie.protocols.models.kmeans import large_shares
from coterie.protocols.models.small_support import PAIRED, supported
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.hidden_counts import HiddenCounts
from coterie.protocols.statistics.shared_counts import Transfers

TWO = {"a": [0, 2], "b": [1]}
THREE = {"a": [1], "b": [], "c": [2, 0]}
START = [[0, 0, 0], [900, -900, 0], [-2000, 2000, 100], [8000, 8000, 8000]]
N = 50


def points(seed=1):
    rng = np.random.default_rng(seed)
    middles = np.array([[-3000, 1000, 200], [2500, -2500, 0], [100, 3000, -4000]])
    found = middles[rng.integers(0, 3, N)] + rng.normal(0, 900, (N, 3))
    return np.rint(found).astype(int).clip(-REACH, REACH)


def nearest(table, centres):
    """Each record's centre, by the squares of differences; the first of equals."""
    gaps = [[sum((a - b) ** 2 for a, b in zip(row, c, strict=True)) for c in centres] for row in table.tolist()]  # fmt: skip
    return np.array([row.index(min(row)) for row in gaps])


def plainly(table, centres, iterations, minimum):
    centres, settled = [list(c) for c in centres], False
    for _ in range(iterations):
        home, before = nearest(table, centres), [list(c) for c in centres]
        for at in range(len(centres)):
            if (home == at).any():
                centres[at] = (table[home == at].sum(axis=0) // (home == at).sum()).tolist()
        settled = before == centres
    while True:
        home = nearest(table, centres)
        sizes = [int((home == at).sum()) for at in range(len(centres))]
        if min(sizes) >= minimum:
            sums = [table[home == at].sum(axis=0).tolist() for at in range(len(centres))]
            return sums, sizes, settled
        centres = [c for c, size in zip(centres, sizes, strict=True) if size >= minimum]


def jointly(table, held, start, iterations, minimum, seen=None):
    names = list(held)
    seen = [] if seen is None else seen

    def party(channel):
        me = channel.me
        hidden = HiddenCounts(channel, names, ("a", "b"), Random(f"{me} hidden"))
        return cluster_columns(
            Transfers(channel, Random(f"{me} transfers")),
            hidden,
            names,
            held,
            table[:, held[me]],
            supported(table[:, held[me]].astype(float), table[:, held[me]])[0],
            start,
            iterations,
            lambda share, cells: large_shares(hidden, share, cells, minimum),
            lambda share, size: seen.append((channel.me, share)),
            Random(me),
        )

    found = run_same(names, party)
    assert len({repr(one) for one in found.values()}) == 1
    return found["a"]


@pytest.mark.parametrize(("held", "iterations"), [(TWO, 1), (THREE, 4)])
def test_clusters_are_those_of_plain_whole_numbers_and_small_ones_go(held, iterations):
    table = points()
    sums, sizes, settled = plainly(table, START, iterations, 3)
    assert len(sizes) == 3  # nobody is near the last centre
    found = jointly(table, held, START, iterations, 3)
    assert (found.sums, found.sizes, found.settled) == (sums, sizes, settled)


def test_values_of_a_column_of_few_are_counted_within_each_cluster():
    table = points()
    table[:, 1] = np.where(np.arange(N) % 7 == 0, 2000, -2500)
    seen = []
    found = jointly(table, THREE, START, 2, 3, seen)
    shares = {name: share for name, share in seen if share is not None}
    counts = (shares["a"] + shares["b"]).astype(int).reshape(len(found.sizes), 3, PAIRED)
    assert set(shares) == {"a", "b"}
    assert (counts[:, 1, :2].sum(axis=1) == found.sizes).all()
    sums = np.array(found.sums)[:, 1]
    assert (counts[:, 1, 1] * 2000 - counts[:, 1, 0] * 2500 == sums).all()
    assert (counts[:, [0, 2], 0] <= np.array(found.sizes)[:, None]).all()
    assert not counts[:, [0, 2], 1:].any()


def test_no_cluster_of_enough_records_is_an_error():
    with pytest.raises(DataError, match="ask for fewer clusters"):
        jointly(points()[:4], TWO, START[:2], 2, 5)


def test_a_mean_is_rounded_down_and_an_empty_cluster_keeps_its_centre():
    cases = [(0, 1, 9), (7, 2, 9), (16384, 1, 0), (5 * (1 << 20), 1 << 20, 1), (0, 0, 123)]
    total, size, before = (np.array(column, np.uint64) for column in zip(*cases, strict=True))
    inputs = {}
    for name, numbers, width in (("sum", total, 40), ("size", size, 40), ("before", before, 15)):
        inputs[f"{name}0"] = to_bits(numbers, width)
        inputs[f"{name}1"] = to_bits(0 * numbers, width)
    found = from_bits(evaluate(mean_circuit(), inputs)["mean"])
    assert found.tolist() == [0, 3, 16384, 5, 123]
