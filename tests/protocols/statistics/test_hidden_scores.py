"""Choices on shares are the plain choices wherever the published bound tells the scores apart."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.base.errors import UsageError
from coterie.protocols.messaging.memory import run_same
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.bayesnet import Family, search
from coterie.protocols.statistics.hidden_scores import HiddenScores, settings_for
from coterie.protocols.statistics.shared_counts import Transfers
from coterie.protocols.statistics.shared_tables import Axis, JointTable, table_shares
from coterie.protocols.statistics.tree import STOP, TreePlan, grow
from tests.protocols.statistics.plain_models import ln_factorial, x_ln_x
from tests.protocols.statistics.test_bayesnet import plain_edges
from tests.protocols.statistics.test_tree import as_result, plain_tree

NAMES = ("a", "b", "c")
SERVERS = ("b", "a")


def halves(values, seed=5):
    values = np.asarray(values, np.uint32)
    first = np.random.default_rng(seed).integers(0, 2**32, values.shape, np.uint32)
    return {SERVERS[0]: first, SERVERS[1]: values - first}


def run(function, largest=1000, **options):
    def party(channel):
        group = HiddenScores(channel, NAMES, SERVERS, largest, Random(channel.me), **options)
        return function(group, channel.me)

    found = run_same(NAMES, party)
    assert found["a"] == found["b"] == found["c"]
    return found["c"]


def entropy(table):
    table = np.asarray(table)
    return sum(map(x_ln_x, table.sum(1))) - sum(map(x_ln_x, table.reshape(-1)))


@settings(deadline=None, max_examples=6)
@given(st.integers(0, 2**32), st.integers(1, 4), st.integers(1, 4), st.integers(2, 3))
def test_splits_are_by_least_entropy(seed, nodes, candidates, classes):
    rng = np.random.default_rng(seed)
    sizes = [[int(s) for s in rng.integers(2, 4, candidates)] for _ in range(nodes)]
    tables = [[rng.integers(0, 40, (size, classes)) for size in row] for row in sizes]
    flat = np.concatenate([table.reshape(-1) for row in tables for table in row])
    shares = halves(flat)
    chosen = run(lambda group, me: group.split(shares.get(me), nodes, sizes, classes))
    bound = 4 * max(t.sum() for row in tables for t in row) * settings_for(1000).error_bound
    for row, choice in zip(tables, chosen, strict=True):
        scores = [entropy(table) for table in row]
        assert scores[choice] <= min(scores) + bound


def test_without_enough_gain_a_node_stops():
    strong, weak = [[40, 0], [0, 40]], [[20, 20], [21, 19]]
    flat = np.concatenate([np.reshape(strong, -1), np.reshape(weak, -1)])
    shares = halves(flat)

    def split(group, me):
        return group.split(shares.get(me), 2, [[2], [2]], 2)

    assert run(split, minimum_gain=0.1) == [0, STOP]
    assert run(split) == [0, 0]


def k2(table):
    size = table.shape[1]
    return sum(
        ln_factorial(size - 1) - ln_factorial(row.sum() + size - 1) + sum(map(ln_factorial, row))
        for row in table
    )


def chosen_families(groups):
    held = [[halves(table.reshape(-1), i) for i, table in enumerate(group)] for group in groups]

    def best(group, me):
        families = [
            [Family(share.get(me), *table.shape) for share, table in zip(s, g, strict=True)]
            for s, g in zip(held, groups, strict=True)
        ]
        bounds = [
            max(group.k2_bound(int(t.sum()), f) for t, f in zip(g, fs, strict=True))
            for g, fs in zip(groups, families, strict=True)
        ]
        return group.best(families), bounds

    return run(best)


@settings(deadline=None, max_examples=8)
@given(st.integers(0, 2**32), st.sampled_from([2, 3, 60]))
def test_families_are_by_greatest_k2_score(seed, most):
    """Also families of many zeros and ones, whose factorials Stirling's formula does not know."""
    rng = np.random.default_rng(seed)
    groups = []
    for _ in range(6):
        sizes = [1, *map(int, rng.integers(2, 13, int(rng.integers(1, 4))))]
        groups.append([rng.integers(0, most, (size, 3)) for size in sizes])
    for group, choice, bound in zip(groups, *chosen_families(groups), strict=True):
        scores = [k2(table) for table in group]
        assert scores[choice] >= max(scores) - bound


def test_a_family_that_is_better_because_of_zeros_wins():
    """By Stirling's formula alone the other family would win, by far more than the bound."""
    rng = np.random.default_rng(2)
    groups = []
    while len(groups) < 4:
        table = np.zeros((24, 2), int)
        table[:12] = rng.permuted(np.tile([2, 0], (12, 1)), axis=1)
        group = [table.sum(axis=0, keepdims=True), table]
        lead, stirlings = (measure(group[1]) - measure(group[0]) for measure in (k2, stirling_k2))
        if lead > 0.8 and stirlings < -0.8:
            groups.append(group)
    found, bounds = chosen_families(groups)
    assert found == [1, 1, 1, 1]
    assert max(bounds) < 0.8


def stirling_k2(table):
    """What scores were before small factorials were corrected."""

    def stirling(x):
        x = max(x, 1)
        return (x + 0.5) * math.log(x) - x + 0.5 * math.log(2 * math.pi)

    size = table.shape[1]
    return sum(
        stirling(size - 1) - stirling(row.sum() + size - 1) + sum(map(stirling, row))
        for row in table
    )


def test_a_whole_tree_and_net_equal_the_plain_ones():
    rng = np.random.default_rng(12)
    records, servers = 400, ("a", "b")
    names = ("a", "b", "c")
    axes = (Axis("x0", "a", 2), Axis("x1", "b", 3), Axis("x2", "c", 2), Axis("x3", "a", 2))
    codes = {"x0": rng.integers(0, 2, records), "x1": rng.integers(0, 3, records)}
    codes["x2"] = np.where(rng.random(records) < 0.8, codes["x0"], rng.integers(0, 2, records))
    codes["x3"] = np.where(rng.random(records) < 0.9, codes["x1"] % 2, rng.integers(0, 2, records))
    classes = np.where(
        rng.random(records) < 0.92, (codes["x0"] & (codes["x1"] > 0)) | codes["x2"], 1
    )
    plan = TreePlan(names, servers, axes, 2, records, 2, 20)

    def party(channel):
        random = Random(channel.me)
        group = HiddenScores(channel, names, servers, records + 3, random.fork("scores"))
        transfers = Transfers(channel, random.fork("transfers"))
        own = {axis.name: codes[axis.name] for axis in axes if axis.owner == channel.me}
        tree = grow(transfers, plan, own, classes, group, random.fork("tree"))

        def count(some):
            return table_shares(transfers, JointTable(names, servers, some, own, records), random)

        return as_result(tree, plan), search(channel, axes, 2, count, group)

    found = run_same(names, party)
    tree, gaps = plain_tree(plan, codes, classes)
    error = settings_for(records + 3).error_bound
    assert min(gaps) > 4 * records * error  # so the answer must be the same
    edges, net_gaps = plain_edges(list(axes), codes, 2)
    assert edges
    assert min(net_gaps) > 2 * ((2 * records + 2.5 * 18) * error + 27 / 767)
    for result in found.values():
        assert result == (tree, edges)


def test_counts_that_logarithms_cannot_hold_are_refused():
    with pytest.raises(UsageError, match="too large"):
        settings_for(2**31)


@pytest.mark.parametrize(("records", "terms"), [(1023, 5), (8191, 4), (131071, 3)])
def test_terms_are_the_papers_for_its_sizes(records, terms):
    assert settings_for(records).terms == terms


@pytest.mark.parametrize("records", [1000, 10**7, 6 * 10**7, 5 * 10**8, 2**31 - 1])
def test_precise_scores_of_any_number_of_records_fit_64_bits(records):
    """The largest sum of a K2 score, at twice the scale: two values, all records in one cell."""
    settings = settings_for(records, precise=True)
    most = 2 * (math.lgamma(records + 1) + 2 * records)
    assert 2 * most * settings.scale < 2**63
    assert settings.scale == 2**32 or 16 * most * settings.scale > 2**63
    assert settings.error_bound < 3.4e-5  # as at 2^32, where the series is the larger part
    assert (settings.scale == 2**32) == (records <= 10**7)


def test_counts_beyond_the_ring_are_refused():
    for precise in (False, True):
        with pytest.raises(UsageError, match="too large for logarithms on shares"):
            settings_for(2**32, precise)
