"""Sums over cells that lie at one party each, and the check that they do."""

import numpy as np
import pytest

from coterie.protocols.messaging.memory import run_same
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.contingency import Axis
from coterie.protocols.statistics.hidden_counts import HiddenCounts
from coterie.protocols.statistics.mixed_cells import held_once, pattern_counts, pattern_sums
from coterie.protocols.statistics.shared_counts import Transfers

NAMES, SERVERS, RECORDS = ("a", "b", "c"), ("b", "c"), 90
AXES = [Axis("x", None, 3), Axis("y", None, 2)]


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


def test_counts_are_those_of_the_joined_table(table):
    def party(channel):
        transfers = Transfers(channel, Random(channel.me))
        codes = own_codes(table, channel.me)
        return pattern_counts(transfers, NAMES, SERVERS, AXES, codes, RECORDS, Random(channel.me))

    values, _ = table
    joint = values["x"] * 2 + values["y"]
    assert added(run_same(NAMES, party)).tolist() == np.bincount(joint, minlength=6).tolist()


def test_numbers_are_added_up_wherever_they_lie(table):
    values, holders = table

    def party(channel):
        here = holders["number"] == NAMES.index(channel.me)
        numbers = np.where(here, values["number"], 0).astype(np.uint64)[:, None]
        return pattern_sums(
            Transfers(channel, Random(channel.me)), NAMES, SERVERS, AXES,
            own_codes(table, channel.me), RECORDS, Random(f"out {channel.me}"), NAMES, numbers, 1,
        )  # fmt: skip

    joint = values["x"] * 2 + values["y"]
    expected = [int(values["number"][joint == cell].sum()) for cell in range(6)]
    assert added(run_same(NAMES, party)).astype(np.int64).tolist() == expected


def test_columns_with_a_cell_at_two_parties_or_none_are_found():
    held = np.zeros((3, 4, RECORDS), bool)  # party, column, record
    held[np.arange(RECORDS) % 3, :, np.arange(RECORDS)] = True
    held[:, 1, 5] = False
    held[:, 2, 5] = [True, True, False]
    held[:, 3, 5] = True

    def party(channel):
        group = HiddenCounts(channel, NAMES, SERVERS, Random(channel.me))
        mine = list(held[NAMES.index(channel.me)])
        return held_once(group, mine, Random(f"check {channel.me}"))

    found = run_same(NAMES, party)
    assert list(found.values()) == [[True, False, False, False]] * 3
