"""Counts and sums by attributes whose cells lie at one party each, beside those of the joined table."""

import numpy as np
import pytest

from coterie.protocols.messaging.memory import run_same
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.shared_counts import Transfers
from coterie.protocols.statistics.shared_tables import Axis, JointTable, mixed_counts, mixed_sums

NAMES, SERVERS, RECORDS = ("a", "b", "c"), ("b", "c"), 90
AXES = [Axis("x", None, 3), Axis("y", None, 2), Axis("z", None, 5)]


@pytest.fixture
def table():
    """Values, and who holds each."""
    rng = np.random.default_rng(2)
    values = {axis.name: rng.integers(0, axis.size, RECORDS) for axis in AXES}
    values["number"] = rng.integers(-(2**40), 2**40, RECORDS)
    holders = {name: rng.integers(0, 3, RECORDS) for name in values}
    return values, holders


def own_codes(table, me):
    values, holders = table
    at = NAMES.index(me)
    return {a.name: np.where(holders[a.name] == at, values[a.name], -1) for a in AXES}


def added(found):
    first, second = (found[name] for name in SERVERS)
    assert found["a"] is None
    return first + second


def joint(values):
    return np.ravel_multi_index([values[a.name] for a in AXES], [a.size for a in AXES])


@pytest.mark.parametrize("known", [(), ("y",), ("x", "y", "z")])
def test_counts_are_those_of_the_joined_table(table, known, monkeypatch):
    monkeypatch.setattr("coterie.protocols.statistics.shared_tables._ELEMENTS", 400)
    values, _ = table

    def party(channel):
        transfers = Transfers(channel, Random(channel.me))
        codes = own_codes(table, channel.me) | {name: values[name] for name in known}
        over = JointTable(NAMES, SERVERS, AXES, codes, RECORDS)
        return mixed_counts(transfers, over, Random(channel.me), known)

    expected = np.bincount(joint(values), minlength=30)
    assert added(run_same(NAMES, party)).tolist() == expected.tolist()


@pytest.mark.parametrize("axes", [0, 3])
def test_numbers_are_added_up_wherever_they_lie(table, axes):
    values, holders = table

    def party(channel):
        here = holders["number"] == NAMES.index(channel.me)
        numbers = np.where(here, values["number"], 0).astype(np.uint64)[:, None]
        transfers, codes = Transfers(channel, Random(channel.me)), own_codes(table, channel.me)
        by = AXES[:axes]
        both = np.concatenate([numbers, numbers], axis=1)
        over = JointTable(NAMES, SERVERS, by, codes, RECORDS)
        return mixed_sums(transfers, over, both, Random(f"out {channel.me}"))

    group = joint(values) if axes else np.zeros(RECORDS, int)
    expected = [int(values["number"][group == cell].sum()) for cell in range(30 if axes else 1)]
    found = added(run_same(NAMES, party)).astype(np.int64).reshape(-1, 2)
    assert found.tolist() == [[number, number] for number in expected]
