"""Transposing packed bits."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.protocols.primitives.transpose import portable_transpose, transpose


@settings(deadline=None)
@given(st.integers(0, 40), st.integers(0, 150), st.integers(0, 2**32))
def test_bit_i_j_becomes_bit_j_i(groups, width, seed):
    matrix = np.random.default_rng(seed).integers(0, 256, (16 * groups, width), np.uint8)
    result = transpose(matrix)
    bits = np.unpackbits(matrix, axis=1, bitorder="little")
    assert (np.unpackbits(result, axis=1, bitorder="little") == bits.T).all()
    assert (portable_transpose(matrix) == result).all()


def test_rows_that_are_no_sixteens_are_refused():
    with pytest.raises(ValueError, match="sixteens"):
        transpose(np.zeros((24, 2), np.uint8))
