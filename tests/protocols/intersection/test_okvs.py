"""A hint gives every key its value, and shows nothing of the keys."""

import numpy as np
import pytest

from coterie.protocols.intersection.okvs import decode, encode, table_size
from coterie.protocols.primitives.randomness import Random


@pytest.mark.parametrize("count", [0, 1, 3, 40, 3000])
def test_every_key_has_its_value(count):
    keys, values = Random("keys").array((count, 2)), Random("values").array(count)
    hint = encode(keys, values, Random("hint"))
    assert (decode(hint, keys) == values).all()
    assert len(hint.table) == table_size(count)


def test_keys_that_no_position_peels_are_solved_with_the_dense_words(monkeypatch):
    monkeypatch.setattr("coterie.protocols.intersection.okvs._peel", lambda *arguments: 0)
    keys, values = Random("keys").array((20, 2)), Random("values").array(20)
    assert (decode(encode(keys, values, Random("hint")), keys) == values).all()


def test_another_key_has_a_value_that_looks_random():
    keys, others = Random("keys").array((500, 2)), Random("others").array((500, 2))
    hint = encode(keys, np.zeros(500, np.uint64), Random("hint"))
    bits = np.unpackbits(decode(hint, others).view(np.uint8))
    assert 0.48 < bits.mean() < 0.52


def test_a_hint_of_random_values_is_balanced_whatever_the_keys():
    keys = np.arange(1000, dtype=np.uint64).reshape(500, 2)
    hint = encode(keys, Random("values").array(500), Random("hint"))
    assert 0.48 < np.unpackbits(hint.table.view(np.uint8)).mean() < 0.52


def test_two_values_of_one_key_have_no_hint():
    keys = np.zeros((2, 2), np.uint64)
    with pytest.raises(ValueError, match="cannot be different"):
        encode(keys, np.array([1, 2], np.uint64), Random(0))
