"""Sums of streams against AES of `cryptography`, one leaf at a time."""

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from coterie.protocols.primitives import aes, leaf_sums
from coterie.protocols.primitives.leaf_sums import LeafSums, schedules
from coterie.protocols.primitives.randomness import Random

KEYS = Random("leaves").array((3, 16, 16), np.uint8)


@pytest.fixture(params=["of this processor", "portable"])
def implementation(request, monkeypatch):
    if request.param == "portable":
        monkeypatch.setattr(leaf_sums, "accelerated", lambda: False)


def stream(key, first, blocks):
    counters = b"".join(i.to_bytes(16, "little") for i in range(first, first + blocks))
    made = Cipher(algorithms.AES(key.tobytes()), modes.ECB()).encryptor().update(counters)
    return np.frombuffer(made, np.uint64)


@pytest.mark.usefixtures("implementation")
@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize(("first", "blocks"), [(0, 8), (5, 24), (2**40, 16), (3, 0)])
def test_sums_are_those_of_the_leaves_with_each_bit(known, first, blocks):
    totals, by_bit = LeafSums(KEYS, known).sums(first, blocks)
    assert totals.shape == (3, 2 * blocks)
    assert by_bit.shape == (3, 4, 2 * blocks)
    for tree in range(3):
        leaves = [stream(key, first, blocks) for key in KEYS[tree]]
        places = range(0 if known else 1, 16)
        assert (totals[tree] == np.bitwise_xor.reduce([leaves[x] for x in places])).all()
        for bit in range(4):
            expected = np.bitwise_xor.reduce([leaves[x] for x in range(16) if x >> bit & 1])
            assert (by_bit[tree, bit] == expected).all()


@pytest.mark.usefixtures("implementation")
def test_a_stream_is_the_same_in_pieces():
    whole, _ = LeafSums(KEYS).sums(9, 32)
    parts = [LeafSums(KEYS).sums(first, 16)[0] for first in (9, 25)]
    assert (np.concatenate(parts, axis=1) == whole).all()


def test_pieces_of_another_length_are_refused():
    with pytest.raises(ValueError, match="by 8 blocks"):
        LeafSums(KEYS).sums(0, 12)


def test_a_missing_leaf_is_not_read():
    """Place 0 is zeros at the party that lacks it, and any other value changes nothing."""
    other = KEYS.copy()
    other[:, 0] ^= 255
    one, two = LeafSums(KEYS, known=False).sums(0, 8), LeafSums(other, known=False).sums(0, 8)
    assert all((a == b).all() for a, b in zip(one, two, strict=True))


@pytest.mark.skipif(not aes.accelerated(), reason="the processor has no AES instructions")
def test_key_schedules_are_those_of_fips_197():
    keys = np.concatenate([KEYS[0], np.array([[0] * 16, [255] * 16], np.uint8)])
    for key, words in zip(keys, schedules(keys), strict=True):
        assert (words == aes.expand_key(key.tobytes())).all()
