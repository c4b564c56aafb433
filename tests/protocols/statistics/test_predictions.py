"""The class of least cost, found on shares: against sums in the clear."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.base.errors import DataError, PeerFaultError
from coterie.protocols.messaging.memory import run_parties
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics import predictions
from coterie.protocols.statistics.hidden_counts import HiddenCounts
from coterie.protocols.statistics.predictions import cost_bits, costs_of, predict_by_costs

NAMES = ("a", "b", "c")


def classified(costs, servers, receivers, bits=28):
    def party(channel):
        rng = Random(channel.me)
        hidden = HiddenCounts(channel, NAMES, servers, rng.fork("hidden"))
        return predict_by_costs(hidden, costs[channel.me], bits, receivers, rng.fork("predict"))

    return run_parties(dict.fromkeys(NAMES, party))


@settings(deadline=None, max_examples=8)
@given(
    st.integers(2, 5),
    st.permutations(NAMES),
    st.sets(st.sampled_from(NAMES), min_size=1),
    st.integers(0, 2**32),
)
def test_every_receiver_gets_the_first_class_of_least_cost_and_nobody_else_any(
    classes, order, receivers, seed
):
    draw = np.random.default_rng(seed)
    # Few different numbers, so that many sums are equal.
    costs = {name: draw.integers(0, 4, (60, classes)) for name in NAMES}
    found = classified(costs, (order[0], order[1]), sorted(receivers))
    expected = [
        min(range(classes), key=lambda at: (sum(int(costs[n][i, at]) for n in NAMES), at))
        for i in range(60)
    ]
    for name in NAMES:
        if name in receivers:
            assert found[name].tolist() == expected
        else:
            assert found[name] is None


def test_costs_as_large_as_they_can_be_do_not_overflow(monkeypatch):
    monkeypatch.setattr(predictions, "_TOGETHER", 7)  # also: several runs of the circuit
    bits = cost_bits(5)
    worst = int(costs_of(np.array([1 / (2**31 + 2**12)]))[0])
    assert worst < 1 << 25
    costs = {name: np.full((5, 2), 2 * worst) for name in NAMES}
    costs["b"][:, 0] -= [0, 1, 0, 1, 0]
    found = classified(costs, ("a", "b"), ["c"], bits)
    assert found["c"].tolist() == [0, 0, 0, 0, 0]
    costs["b"][:, 1] -= [2, 0, 1, 2, 0]
    assert classified(costs, ("a", "b"), ["c"], bits)["c"].tolist() == [1, 0, 1, 1, 0]


def test_a_cost_is_the_logarithm_in_steps():
    assert costs_of(np.array([1.0, 0.5, 0.001])).tolist() == [
        round(-math.log(p) * 2**20) for p in (1.0, 0.5, 0.001)
    ]


def test_more_attributes_than_sums_hold_are_refused():
    with pytest.raises(DataError, match="more than 4095"):
        cost_bits(4096)


def test_a_server_that_sends_shares_of_no_class_is_named(monkeypatch):
    told = predictions._told

    def lying(channel, servers, places, *rest):
        if channel.me == "b":
            places = places | np.uint64(128)
        return told(channel, servers, places, *rest)

    monkeypatch.setattr(predictions, "_told", lying)
    costs = {name: np.zeros((5, 2), np.int64) for name in NAMES}
    with pytest.raises(PeerFaultError, match="b: and a sent shares of no class"):
        classified(costs, ("a", "b"), ["c"])
