"""Counts as shares add up to the counts."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.base.errors import PeerFaultError
from coterie.protocols.messaging.memory import run_parties, run_same
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.shared_counts import Transfers, masked_sums, one_hot, share_out

NAMES = ["a", "b", "c", "d"]


def plain(rows, masks):
    sums = np.zeros((*[bits.shape[1] for bits in reversed(masks)], rows.shape[1]), int)
    for at in np.ndindex(sums.shape):
        product = rows[:, at[-1]].copy()
        for bits, j in zip(reversed(masks), at, strict=False):
            product *= bits[:, j]
        sums[at] = product.sum()
    return sums.reshape(-1)


def shares(rows, masks, servers=None, seed=0):
    names = NAMES[: 1 + len(masks)]
    maskers = [(name, bits.shape[1]) for name, bits in zip(names[1:], masks, strict=True)]
    records, width = rows.shape

    def party(channel):
        rng = Random(f"{seed}{channel.me}")
        transfers = Transfers(channel, rng)
        at = names.index(channel.me)
        share = masked_sums(
            transfers,
            "a",
            maskers,
            records,
            width,
            rows.astype(np.uint32) if at == 0 else None,
            masks[at - 1].astype(np.uint8) if at else None,
        )
        if servers:
            return share_out(channel, servers, names, len(share), share, rng)
        return share

    return run_same(names if len(names) > 1 else ["a", "b"], party)


@settings(deadline=None, max_examples=15)
@given(st.integers(1, 3), st.integers(0, 40), st.integers(1, 5), st.data())
def test_shares_of_all_parties_add_up_to_the_sums(maskers, records, width, data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    rows = rng.integers(0, 2, (records, width))
    masks = [rng.integers(0, 2, (records, data.draw(st.integers(1, 3)))) for _ in range(maskers)]
    total = sum(share.astype(np.uint64) for share in shares(rows, masks).values()) % 2**32
    assert total.tolist() == plain(rows, masks).tolist()


def test_a_contingency_table_is_a_product_of_one_hot_columns():
    rng = np.random.default_rng(3)
    x, y = rng.integers(0, 4, 500), rng.integers(0, 3, 500)
    found = shares(one_hot(x, 4), [one_hot(y, 3)], servers=("a", "b"))
    table = (found["a"] + found["b"]).reshape(3, 4)
    expected = np.zeros((3, 4), int)
    np.add.at(expected, (y, x), 1)
    assert table.tolist() == expected.tolist()


def test_chunks_of_records_change_nothing(monkeypatch):
    rng = np.random.default_rng(5)
    rows, bits = rng.integers(0, 9, (100, 3)), rng.integers(0, 2, (100, 2))
    monkeypatch.setattr("coterie.protocols.statistics.shared_counts._CHUNK", 60)
    total = sum(share.astype(np.uint64) for share in shares(rows, [bits]).values()) % 2**32
    assert total.tolist() == plain(rows, [bits]).tolist()


def test_a_single_share_is_spread_over_the_ring_whatever_the_data():
    high = np.concatenate(
        [shares(np.full((20, 256), value), [np.ones((20, 1), int)])["b"] >> 28 for value in (0, 1)]
    )
    counts = np.bincount(high, minlength=16)
    assert ((counts - 32) ** 2 / 32).sum() < 45  # chi-square, 15 degrees: chance below 1e-4


def test_servers_other_than_the_holders_get_the_shares():
    names = ["a", "b", "c"]

    def party(channel):
        mine = np.array([7, 2**32 - 3], np.uint32) if channel.me == "a" else None
        return share_out(channel, ("b", "c"), ["a"], 2, mine, Random(channel.me))

    found = run_same(names, party)
    assert found["a"] is None
    assert (found["b"] + found["c"]).tolist() == [7, 2**32 - 3]


def test_corrections_of_another_shape_are_refused_by_name():
    def cheat(channel):
        transfers = Transfers(channel, Random(1))
        with channel.step("products"):
            transfers.sender("b").random(10, 1)
            channel.send("b", np.zeros(3, np.uint32))

    def honest(channel):
        masked_sums(
            Transfers(channel, Random(2)), "a", [("b", 1)], 10, 2, bits=np.ones((10, 1), np.uint8)
        )

    with pytest.raises(PeerFaultError, match="a: sent no corrections"):
        run_parties({"a": cheat, "b": honest})
