"""Costs of families, as shares: those of the plain probabilities, to the bound that is stated."""

import math

import numpy as np
import pytest

from coterie.protocols.messaging.memory import run_same
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.family_costs import (
    COST_BITS,
    HEADROOM,
    CountedFamily,
    family_costs,
    settings_of,
)
from coterie.protocols.statistics.hidden_scores import HiddenScores

NAMES = ("a", "b", "c")
SERVERS = ("c", "a")
STEP = 2**-20


def costs_on_shares(tables, records):
    """What the servers' shares of these tables, whose middle axis is the node's, add up to."""
    draw = np.random.default_rng(1)
    masks = [draw.integers(0, 2**32, table.size, np.uint32) for table in tables]

    def party(channel):
        scores = HiddenScores(channel, NAMES, SERVERS, records + 8, Random(channel.me))
        families = []
        for table, mask in zip(tables, masks, strict=True):
            share = {"c": mask, "a": table.reshape(-1).astype(np.uint32) - mask}.get(channel.me)
            families.append(CountedFamily(share, *table.shape))
        return family_costs(scores, families, records, Random("costs " + channel.me))

    found = run_same(NAMES, party)
    assert found["b"] == [None] * len(tables)
    for shares in (found["a"], found["c"]):
        assert all(int(share.max()) < 1 << COST_BITS for share in shares)
    return [
        (one + other) % (1 << COST_BITS)
        for one, other in zip(found["a"], found["c"], strict=True)
    ]  # fmt: skip


def test_a_cost_is_the_logarithm_of_the_probability_with_a_record_more_for_each_value():
    draw = np.random.default_rng(2)
    shapes = [(3, 2, 2), (1, 4, 3), (2, 3, 1)]
    tables = [draw.integers(0, 60, shape) * draw.integers(0, 2, shape) for shape in shapes]
    bound = 2 * settings_of(400 + 4).error_bound
    assert bound < 0.0001
    for table, found in zip(tables, costs_on_shares(tables, 400), strict=True):
        before, size, after = table.shape
        due = [
            -math.log((table[i, j, k] + 1) / (sum(table[i, :, k]) + size))
            for i in range(before)
            for j in range(size)
            for k in range(after)
        ]
        told = (found.astype(np.int64) - HEADROOM) * STEP
        assert np.abs(told - due).max() <= bound


@pytest.mark.parametrize("records", [1, 1 << 20])
def test_no_cost_is_negative_and_the_largest_has_room(records):
    """All records have one value: its probability is nearly one, and the others' nearly none."""
    [found] = costs_on_shares([np.array([[[records], [0]]])], records)
    sure, never = found.tolist()
    assert 0 < sure < never < 1 << 25
    assert settings_of((1 << 31) + 4096 - 1).error_bound * 2 / STEP < HEADROOM


def test_without_a_family_nothing_is_computed():
    assert costs_on_shares([], 10) == []
