"""The parts under the intersection by transfers: tables, code, function, key-value store, lookups."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from coterie.protocols.intersection import cuckoo, okvs, oprf
from coterie.protocols.intersection.matching import RepeatedTagError, Table, common, in_tag_order
from coterie.protocols.intersection.oprf import OprfReceiver, OprfSender
from coterie.protocols.messaging.memory import run_parties
from coterie.protocols.messaging.wrappers import Metered
from coterie.protocols.primitives.blocks import encrypted
from coterie.protocols.primitives.randomness import Random


def values(count: int, seed: int = 1) -> np.ndarray:
    return Random(seed).array((count, 2))


@pytest.mark.parametrize("count", [0, 1, 2, 100, 5000, 100_000])
def test_a_cuckoo_table_holds_every_value_once_in_one_of_its_bins(count):
    items = values(count)
    table = cuckoo.build(items, Random(2))
    full = np.flatnonzero(table.item >= 0)
    assert sorted(table.item[full].tolist()) == list(range(count))
    places = cuckoo.positions(items, table.key, len(table.item))
    assert (places[table.item[full], table.which[full]] == full).all()
    assert len(table.item) % 128 == 0


def test_a_table_of_equal_values_cannot_be_built():
    with pytest.raises(ValueError, match="cannot be random"):
        cuckoo.build(np.zeros((5, 2), np.uint64), Random(1))


@pytest.mark.parametrize("count", [64, 128, 256, 512])
def test_small_tables_come_out_at_the_first_attempt(count, monkeypatch):
    """3000 tables without a failure: no proof of 2^-40, but a formula wrong by much would show."""
    monkeypatch.setattr(cuckoo, "_TABLES", 1)
    for seed in range(750):
        cuckoo.build(values(count, seed), Random(count))


def test_words_of_the_code_differ_in_128_places_at_least():
    words = oprf._words(values(2000), oprf._code_keys(bytes(16), 448), 7)
    bits = np.unpackbits(words.view(np.uint8), axis=1).astype(np.int32)
    ones = bits.sum(axis=1)
    distances = ones[:, None] + ones[None, :] - 2 * bits @ bits.T
    np.fill_diagonal(distances, 448)
    assert distances.min() >= 128
    assert 222 < distances[~np.eye(2000, dtype=bool)].mean() < 226


@pytest.mark.parametrize("count", [0, 1, 2**20, 2**24, 2**25, 2**30, 2**40])
def test_the_width_of_the_code_follows_the_number_of_values(count):
    """Each of the sender's three words for a value meets one word of the receiver's, in one bin."""
    width = oprf.code_width(count)
    assert 3 * count * binom.cdf(127, width, 0.5) <= 2.0**-40
    assert width == (448 if count <= 2**24 else 512)
    assert width == 448 or 3 * count * binom.cdf(127, width - 64, 0.5) > 2.0**-40


@pytest.mark.parametrize("width", [448, 512, 576])
def test_the_function_agrees_and_its_matrix_has_the_width(width, monkeypatch):
    monkeypatch.setattr(oprf, "code_width", lambda count: width)
    ours, theirs = values(300), values(400)[100:]
    meters = {}
    table, mine, other = evaluate(ours, theirs, lambda t: meters.setdefault(t.me, Metered(t)))
    which = np.zeros(300, np.uint8)
    full = table.item >= 0
    which[table.item[full]] = table.which[full]
    for i in range(100, 300):
        assert (other[which[i], i - 100] == mine[i]).all()
    assert not (other[(which[100:200] + 1) % 3, np.arange(100)] == mine[100:200]).all(axis=1).any()
    sent = meters["r"].total.sent_bytes
    bins = len(table.item)
    assert width * bins // 8 < sent < width * bins // 8 + 200
    assert meters["s"].total.sent_bytes > 64 * width  # its points of the base transfers


def evaluate(receiver_values, sender_values, wrap=lambda transport: transport):
    def receive(channel):
        function = OprfReceiver(channel, "s", len(sender_values), Random("r"))
        with channel.step("f"):
            function.set_up()
            table = cuckoo.build(receiver_values, Random("t"))
            return table, function.extend(receiver_values, table)

    def send(channel):
        function = OprfSender(channel, "r", len(sender_values), Random("s"))
        with channel.step("f"):
            function.set_up()
            function.extend(len(receiver_values))
        out = np.zeros((3, len(sender_values), 2), np.uint64)
        for which, start, outputs in function.evaluate(sender_values):
            out[which, start : start + len(outputs)] = outputs
        return out

    results = run_parties({"r": receive, "s": send}, wrap=wrap)
    return *results["r"], results["s"]


@pytest.mark.parametrize("count", [1, 700, 40_000])
def test_both_sides_compute_the_same_function_and_other_outputs_are_unrelated(count):
    items = values(count)
    mixed = np.concatenate([items[::-1], values(count, 9)])
    table, mine, theirs = evaluate(items, mixed)
    which = np.empty(count, np.int64)
    full = table.item >= 0
    which[table.item[full]] = table.which[full]
    shared = theirs[:, :count][:, ::-1]
    assert (shared[which, np.arange(count)] == mine).all()
    known = {tuple(word) for word in mine.tolist()}
    assert len(known) == count
    others = {tuple(word) for word in theirs[:, count:].reshape(-1, 2).tolist()}
    others |= {
        tuple(word)
        for shift in (1, 2)
        for word in shared[(which + shift) % 3, np.arange(count)].tolist()
    }
    assert not known & others
    assert len(others) == 5 * count


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 400), st.integers(0, 2**32))
def test_a_store_returns_the_value_of_every_key(count, seed):
    keys, wanted = values(count, seed), Random(seed + 1).array(count)
    hint = okvs.encode(keys, wanted, Random(seed + 2))
    assert len(hint.table) == okvs.table_size(count)
    assert (okvs.decode(hint, keys) == wanted).all()


@pytest.mark.parametrize("count", [5000, 200_000])
def test_large_stores_too_and_other_keys_get_random_words(count):
    keys, wanted = values(count), Random(1).array(count)
    hint = okvs.encode(keys, wanted, Random(2))
    assert (okvs.decode(hint, keys) == wanted).all()
    other = okvs.decode(hint, values(count, 77))
    assert len(np.unique(other)) == count
    bits = np.unpackbits(other.view(np.uint8)).mean()
    assert abs(bits - 0.5) < 5 * 0.5 / np.sqrt(64 * count)


def test_what_cannot_be_peeled_is_solved_with_the_dense_words():
    """Two keys in the same three positions: the sparse part alone has no solution for unequal values."""
    positions = np.array([[0, 40, 80]] * 3, np.uint32)
    subsets = np.array([0b0111, 0b1010, 0b0110], np.uint64)
    wanted = np.array([5, 6, 7], np.uint64)
    table, dense = Random(1).array(120), Random(2).array(64)
    assert okvs._solve(positions, subsets, wanted, table, dense)
    for place, subset, value in zip(positions, subsets.tolist(), wanted.tolist(), strict=True):
        total = int(np.bitwise_xor.reduce(table[place]))
        for bit in range(64):
            total ^= int(dense[bit]) if subset >> bit & 1 else 0
        assert total == value
    assert not okvs._solve(positions[:2], subsets[:1].repeat(2), wanted[:2], table, dense)


def test_equal_keys_with_different_values_have_no_store():
    with pytest.raises(ValueError, match="cannot be different"):
        okvs.encode(np.zeros((2, 2), np.uint64), np.array([1, 2], np.uint64), Random(1))


def test_free_words_of_a_store_are_random():
    """All values zero and few keys: a table with zeros in it would show where keys are not."""
    hint = okvs.encode(values(10), np.zeros(10, np.uint64), Random(3))
    assert len(np.unique(hint.table)) == len(hint.table)
    assert not (hint.table == 0).any()


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.integers(0, 30), max_size=30),
    st.lists(st.lists(st.integers(0, 40), max_size=30), max_size=3),
)
def test_lookups_equal_set_arithmetic(own, others):
    def tags(numbers):
        return encrypted(bytes(16), np.array([[n, 0] for n in numbers], np.uint64).reshape(-1, 2))

    if len(set(own)) < len(own):
        with pytest.raises(RepeatedTagError):
            Table(tags(own))
        return
    table = Table(tags(own))
    held = common(table, len(own), [tags(other) for other in others])
    expected = [all(number in other for other in others) for number in own]
    assert held.tolist() == expected
    rows = in_tag_order(tags(own), np.flatnonzero(held))
    ordered = [tuple(tag) for tag in tags(own)[rows].tolist()]
    assert ordered == sorted(ordered)
    assert sorted(rows.tolist()) == [row for row, yes in enumerate(expected) if yes]
