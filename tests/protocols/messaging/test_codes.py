"""Codes survive packing, take no more bits than they need, and bad packings are refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.protocols.messaging.codes import bits_for, pack_codes, unpack_codes


@given(st.data())
def test_unpacking_gives_the_codes_back_from_the_fewest_whole_bytes(data):
    choices = data.draw(st.integers(1, 1000))
    codes = data.draw(st.lists(st.integers(0, choices - 1), max_size=50))
    packed = pack_codes(np.array(codes, np.uint16), choices)
    assert len(packed) == -(-len(codes) * (choices - 1).bit_length() // 8)
    assert unpack_codes(packed, len(codes), choices).tolist() == codes


def test_no_choice_needs_no_bit():
    assert [bits_for(choices) for choices in (1, 2, 3, 256, 257)] == [0, 1, 2, 8, 9]


@pytest.mark.parametrize(
    ("packed", "count", "choices", "message"),
    [
        (b"\0\0", 1, 2, "has 2 bytes where 1 are due"),
        (b"\2", 1, 2, "bits set beyond its end"),
        (b"\3", 1, 3, "the code 3 where 2 is the largest"),
    ],
)
def test_what_no_codes_pack_to_is_refused(packed, count, choices, message):
    with pytest.raises(ValueError, match=message):
        unpack_codes(np.frombuffer(packed, np.uint8), count, choices)
    with pytest.raises(ValueError, match="not an array of bytes"):
        unpack_codes(packed, count, choices)
