"""Slots of one plaintext, against their definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.protocols.numbers.packing import Slots
from coterie.protocols.numbers.paillier import KeySizeError


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 100), st.integers(1, 12), st.randoms(use_true_random=False))
def test_packing_and_unpacking_are_inverse(bits: int, columns: int, random) -> None:
    slots = Slots.fitting((1 << bits) - 1, 3071, "a test")
    columns = min(columns, slots.count)
    values = np.array(
        [[random.randrange(1 << bits) for _ in range(columns)] for _ in range(4)],
        object if bits > 63 else np.uint64,
    )
    packed = slots.pack(values)
    assert max(packed).bit_length() <= 3071
    for j in range(columns):  # the definition
        assert [int(p) // slots.shift(j) % slots.shift(1) for p in packed] == values[:, j].tolist()
    assert slots.unpack(packed, columns).tolist() == values.tolist()


def test_packing_that_cannot_hold_its_values_is_refused() -> None:
    with pytest.raises(KeySizeError, match=r"one product needs 520 bits.*leaves 511"):
        Slots.fitting(1 << 513, 511, "one product")
    slots = Slots.fitting(255, 511, "a test")
    with pytest.raises(ValueError, match="256 does not fit a slot of 1 byte"):
        slots.pack(np.array([[256]]))
    with pytest.raises(ValueError, match="non-negative"):
        slots.pack(np.array([[-1]]))
    with pytest.raises(ValueError, match="64 values do not fit 63 slots"):
        slots.pack(np.zeros((1, 64), np.uint8))
