"""Sums by group as shares add up to the sums."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.base.errors import PeerFaultError
from coterie.protocols.messaging.memory import run_parties, run_same
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.grouped_sums import Grouper, grouped_sums
from coterie.protocols.statistics.shared_counts import Transfers

NAMES = ["a", "b", "c", "d"]


def plain(rows, groups):
    """Sums by a loop over the records."""
    shape = [size for _, size, _ in reversed(groups)] + [rows.shape[1]]
    sums = np.zeros(shape, object)
    for i, row in enumerate(rows.tolist()):
        at = tuple(int(codes[i]) for _, _, codes in reversed(groups))
        for column, value in enumerate(row):
            sums[(*at, column)] += value
    return sums.reshape(-1)


def shares(rows, groups, dtype=np.uint64, seed=0):
    """`groups` has for each grouper its name, its number of groups and the groups of the records."""
    records, width = rows.shape
    groupers = [Grouper(name, size) for name, size, _ in groups]
    codes = {name: codes for name, _, codes in groups}

    def party(channel):
        rng = Random(f"{seed}{channel.me}")
        mine = rows.astype(dtype) if channel.me == "a" else None
        own = codes.get(channel.me)
        return grouped_sums(
            Transfers(channel, rng.fork("t")), "a", groupers, records, mine, width, own, rng, dtype
        )

    return run_same(NAMES, party)


def total(found, dtype=np.uint64):
    parts = [share for share in found.values() if share is not None]
    return sum(parts[1:], parts[0]).astype(dtype)


@settings(deadline=None, max_examples=25)
@given(st.lists(st.sampled_from("abcd"), max_size=4, unique=True), st.integers(0, 30), st.data())
def test_shares_of_all_parties_add_up_to_the_sums(names, records, data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    rows = rng.integers(0, 2**63, (records, data.draw(st.integers(1, 5))), dtype=np.uint64)
    sizes = [data.draw(st.integers(1, 9)) for _ in names]
    sized = zip(names, sizes, strict=True)
    groups = [(name, size, rng.integers(0, size, records)) for name, size in sized]
    dtype = data.draw(st.sampled_from([np.uint32, np.uint64]))
    bits = 8 * np.dtype(dtype).itemsize
    expected = [int(x) % 2**bits for x in plain(rows, groups)]
    assert total(shares(rows, groups, dtype), dtype).tolist() == expected


def test_chunks_of_records_change_nothing(monkeypatch):
    rng = np.random.default_rng(5)
    rows = rng.integers(0, 99, (200, 2), dtype=np.uint64)
    groups = [("b", 5, rng.integers(0, 5, 200)), ("c", 3, rng.integers(0, 3, 200))]
    monkeypatch.setattr("coterie.protocols.statistics.grouped_sums._ELEMENTS", 70)
    assert total(shares(rows, groups)).tolist() == plain(rows, groups).tolist()


def test_a_party_groups_once():
    with pytest.raises(ValueError, match="groups once"):
        shares(np.zeros((1, 1)), [("b", 2, np.zeros(1, int)), ("b", 2, np.zeros(1, int))])


def test_sealed_vectors_of_another_shape_are_a_fault_of_their_sender():
    def owner(channel):
        rng = Random("a")
        rows = np.zeros((3, 2), np.uint64)
        grouped_sums(Transfers(channel, rng), "a", [Grouper("b", 4)], 3, rows, 2, None, rng)

    def grouper(channel):
        rng = Random("b")
        codes = np.zeros(3, int)
        grouped_sums(Transfers(channel, rng), "a", [Grouper("b", 4)], 3, None, 1, codes, rng)

    with pytest.raises(PeerFaultError, match="a: sent no sealed vectors of 3 records"):
        run_parties({"a": owner, "b": grouper})
