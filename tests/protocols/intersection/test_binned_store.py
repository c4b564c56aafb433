"""A store in bins gives every key its value, any other key a random one, and has the stated size."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.protocols.intersection import binned_store
from coterie.protocols.intersection.binned_store import Places, Shape, encode, shape_for
from coterie.protocols.primitives import field128
from coterie.protocols.primitives.randomness import Random
from tests.strength import assert_whole, numbers


def blocks(label, count):
    return Random(label).array((count, 2))


def product(x, y):
    """In GF(2^128), by school multiplication on Python integers."""
    out = 0
    for bit in range(128):
        if y >> bit & 1:
            out ^= x << bit
    for bit in range(254, 127, -1):
        if out >> bit & 1:
            out ^= 1 << bit ^ 0x87 << bit - 128
    return out


def as_number(block):
    return int(block[0]) | int(block[1]) << 64


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 400), st.integers(0, 2**32))
def test_every_key_has_its_value(count, seed):
    keys, values = blocks(f"k{seed}", count), blocks(f"v{seed}", count)
    shape = shape_for(count)
    places, words = encode(shape, keys, values, Random(seed))
    assert words.shape == (shape.words, 2)
    assert (places.decode(words) == values).all()
    shuffled = np.random.default_rng(seed).permutation(count)
    assert (Places(shape, places.seed, keys[shuffled]).decode(words) == values[shuffled]).all()


def test_keys_of_several_bins_have_their_values(monkeypatch):
    monkeypatch.setattr(binned_store, "BIN_KEYS", 500)
    shape_for.cache_clear()
    shape = shape_for(4000)
    assert shape.bins == 8
    keys, values = blocks("k", 4000), blocks("v", 4000)
    places, words = encode(shape, keys, values, Random(0))
    assert (places.decode(words) == values).all()
    shape_for.cache_clear()


def test_the_sizes_are_those_of_the_published_fit():
    """The specification's: 16 bins of 64,305 and e = 1.2439 at a million."""
    shape = shape_for(10**6)
    assert (shape.bins, shape.capacity, shape.dense) == (16, 64_305, 2)
    assert shape.places == math.ceil(1.2439 * 64_305) or shape.places / 64_305 < 1.2439
    assert shape.words / 10**6 == pytest.approx(1.280, abs=5e-4)
    assert shape_for(10_000).words / 10_000 < 1.35
    assert [shape_for(count).bins for count in (0, 1, 1 << 16, (1 << 16) + 1)] == [1, 1, 1, 2]


def test_bins_have_room_for_what_random_keys_exceed_once_in_2_to_the_40():
    """Against the exact tail, with whole numbers."""
    shape, count = shape_for(70_000), 70_000
    assert shape.bins == 2

    def beyond(room):  # a bin of two has more than `room` keys
        term, total = math.comb(count, room + 1), 0
        for keys in range(room + 1, room + 2000):
            total += term
            term = term * (count - keys) // (keys + 1)
        return math.log2(2 * total) - count

    assert beyond(shape.capacity) <= -40 < beyond(shape.capacity - 2)


@pytest.mark.parametrize("count", [5, 30, 200])
def test_the_gap_never_has_more_keys_than_dense_words(count):
    """2,000 stores: with a rate of 2^-40 none fails, and gaps are rare but there."""
    shape, gaps = shape_for(count), 0
    for at in range(2000):
        places = Places(shape, Random(f"s{at}").bytes(16), blocks(f"k{at}", count))
        _, where, _, rows = places._bin(0)
        order, own = np.empty((2, len(rows)), np.uint32)
        peeled, left = binned_store._peel(
            where, shape.places, order, own, np.empty(shape.dense, np.uint32)
        )
        assert peeled + left == count
        gaps += left > 0
    assert gaps < 200


def tight(count):
    """A store with so few places that hardly any key can be set aside, and many dense words."""
    return Shape(1, count, max(3, count // 2), count)


@pytest.mark.parametrize("count", [1, 2, 7, 24])
def test_keys_that_no_place_sets_aside_are_solved_with_the_dense_words(count):
    keys, values = blocks("k", count), blocks("v", count)
    for seed in range(5):
        places, words = encode(tight(count), keys, values, Random(seed))
        assert (places.decode(words) == values).all()


def test_a_value_is_the_sum_of_three_words_and_of_powers_times_the_dense_ones():
    shape = Shape(1, 5, 8, 3)
    places = Places(shape, bytes(16), blocks("k", 5))
    words = blocks("w", shape.words)
    _, where, numbers, rows = places._bin(0)
    found = places.decode(words)
    for at, row in enumerate(rows):
        power, total = 1, 0
        for dense in words[8:]:
            power = product(power, as_number(numbers[at]))
            total ^= product(power, as_number(dense))
        for place in where[at]:
            total ^= as_number(words[place])
        assert total == as_number(found[row])


def test_places_of_a_key_differ_and_are_spread_evenly():
    places = Places(Shape(1, 60_000, 7, 1), bytes(16), blocks("k", 60_000))
    _, where, _, _ = places._bin(0)
    assert all(len(set(row)) == 3 for row in where.tolist())
    sets = np.unique(np.sort(where, axis=1), axis=0, return_counts=True)[1]
    assert len(sets) == 35
    assert abs(sets - 60_000 / 35).max() < 6 * (60_000 / 35) ** 0.5


def test_another_key_has_a_value_that_looks_random():
    keys, others = blocks("k", 600), blocks("o", 600)
    places, words = encode(shape_for(600), keys, np.zeros_like(keys), Random("e"))
    read = Places(places.shape, places.seed, others).decode(words)
    assert 0.48 < np.unpackbits(read.view(np.uint8)).mean() < 0.52
    assert len(np.unique(read, axis=0)) == 600


def test_words_of_random_values_are_balanced_and_differ_with_the_generator():
    keys = np.arange(1200, dtype=np.uint64).reshape(600, 2)
    words = [encode(shape_for(600), keys, blocks("v", 600), Random(seed))[1] for seed in "ab"]
    for each in words:
        assert 0.48 < np.unpackbits(each.view(np.uint8)).mean() < 0.52
        assert len(np.unique(each, axis=0)) == len(each)  # free words are not all one constant
    assert not (words[0] == words[1]).all(axis=1).any()


def test_words_that_no_key_needs_have_all_their_bits():
    """Of a store without keys, whose words are all free, and of the free dense ones of another."""
    words = [
        encode(shape_for(1), blocks("k", 0), blocks("v", 0), Random(at))[1] for at in "abcdefghi"
    ]
    assert_whole(numbers(np.concatenate(words)), 128)
    dense = [
        encode(shape_for(2), blocks("k", 2), blocks("v", 2), Random(at))[1] for at in range(20)
    ]
    assert_whole(numbers(np.concatenate([each[-10:] for each in dense])), 128)


@pytest.mark.parametrize("same", [False, True])
def test_a_repeated_key_is_refused(same):
    keys = blocks("k", 20)
    keys[7] = keys[3]
    values = blocks("v", 20)
    if same:
        values[7] = values[3]
    with pytest.raises(ValueError, match="cannot be different"):
        encode(shape_for(20), keys, values, Random(0))


def test_a_full_bin_costs_another_seed():
    keys, values = blocks("k", 100), blocks("v", 100)
    narrow = Shape(2, 50, 90, 3)  # fits only where the keys fall evenly
    seed = next(s for s in range(1000) if Places(narrow, Random(s).bytes(16), keys).fullest > 50)
    assert Places(narrow, Random(seed).bytes(16), keys).encode(values, Random(0)) is None


def test_more_keys_than_the_store_is_for_are_refused():
    with pytest.raises(ValueError, match="in five attempts"):
        encode(shape_for(50), blocks("k", 60), blocks("v", 60), Random(0))


def test_portable_products_make_the_same_words(monkeypatch):
    keys, values = blocks("k", 300), blocks("v", 300)
    places, words = encode(shape_for(300), keys, values, Random(0))
    monkeypatch.setattr(field128, "accelerated", lambda: False)
    _, again = encode(shape_for(300), keys, values, Random(0))
    assert (words == again).all()
    assert (places.decode(words) == values).all()
