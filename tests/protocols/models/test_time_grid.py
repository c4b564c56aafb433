"""Grids of time: how far they reach, and which cells are joined."""

import numpy as np
import pytest

from coterie.base.errors import DataError
from coterie.protocols.messaging.memory import run_parties
from coterie.protocols.models import time_grid
from coterie.protocols.models.time_grid import even_grid, longest_power, merged_cells
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.hidden_counts import HiddenCounts

NAMES = ("a", "b", "c")


def jointly(party):
    found = run_parties({name: (lambda c, n=name: party(c, n)) for name in NAMES})
    assert all(np.array_equal(found["a"], other) for other in found.values())
    return found["a"]


@pytest.mark.parametrize(
    ("longest", "power"), [((3, 1, 0), 4), ((4, 4, 4), 4), ((0.3, 800, 5), 1024), ((0, 0, 0), 2**-31)]
)  # fmt: skip
def test_the_grid_reaches_to_the_power_of_two_above_the_longest_time(longest, power):
    own = dict(zip(NAMES, longest, strict=True))
    assert jointly(lambda c, n: longest_power(c, NAMES, own[n], Random(n))) == power


def test_the_sums_behind_the_power_say_nothing_of_how_many_have_it(monkeypatch):
    seen = []
    modular = time_grid.SecureSum.modular

    def noted(self, values, modulus):
        seen.append(total := modular(self, values, modulus))
        return total

    monkeypatch.setattr(time_grid.SecureSum, "modular", noted)
    for own in ({"a": 9, "b": 9, "c": 9}, {"a": 9, "b": 0, "c": 0}):
        jointly(lambda c, n, own=own: longest_power(c, NAMES, own[n], Random(n)))
    for total in seen:
        told = total[total != 0].astype(float) / time_grid.PRIME
        assert len(told) == 35
        assert 0.3 < told.mean() < 0.7


def test_a_time_that_no_power_reaches_asks_for_a_grid():
    with pytest.raises(DataError, match="name a 'grid'"):
        jointly(lambda c, n: longest_power(c, NAMES, 1e12, Random(n)))


def merged(events, minimum):
    parts = dict(zip(NAMES, events, strict=True))

    def party(channel, name):
        counts = HiddenCounts(channel, NAMES, ("a", "b"), Random(name))
        return merged_cells(counts, NAMES, parts[name], minimum, Random(f"{name} events"))

    return jointly(party)


@pytest.mark.parametrize("seed", range(4))
def test_every_joined_cell_has_enough_events_and_no_cell_could_end_earlier(seed):
    rng = np.random.default_rng(seed)
    events = rng.poisson(0.7, (3, 20)).astype(np.uint32)
    ends, gathered = [], 0
    for count in events.sum(axis=0):
        gathered += count
        ends.append(gathered >= 5)
        gathered = 0 if gathered >= 5 else gathered
    ends[np.flatnonzero(ends)[-1]] = False
    ends[-1] = True
    assert merged(events, 5).tolist() == ends
    sums = np.add.reduceat(events.sum(axis=0), [0, *(np.flatnonzero(ends)[:-1] + 1)])
    assert (sums >= 5).all()


def test_too_few_events_are_named():
    with pytest.raises(DataError, match="fewer than 5 events"):
        merged(np.ones((3, 1), np.uint32), 5)


def test_cells_of_one_width_reach_the_end():
    assert even_grid(30, 90) == [30, 60, 90]
    assert even_grid(30, 100) == [30, 60, 90, 120]
