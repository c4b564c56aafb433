"""Circuits that count ones, on plain bits."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from coterie.protocols.circuits.boolean import evaluate, from_bits, to_bits
from coterie.protocols.patterns.unique_circuits import WIDTH, one_circuit, sum_circuit


@given(st.integers(0, 5), st.integers(0, 2**32 - 1))
def test_one_is_told_from_any_other_number(count, mask):
    inputs = {
        "rest0": to_bits(np.array([mask], np.uint64), WIDTH),
        "rest1": to_bits(np.array([(count - 1 - mask) % 2**32], np.uint64), WIDTH),
    }
    assert int(evaluate(one_circuit(), inputs)["one"][0, 0]) == (count == 1)


@given(st.lists(st.integers(0, 7), min_size=1, max_size=9))
def test_a_sum_is_the_sum(numbers):
    bits = to_bits(np.array(numbers), 3).reshape(1, -1)
    inputs = {"bits0": bits ^ 1, "bits1": np.ones_like(bits)}
    assert int(from_bits(evaluate(sum_circuit(len(numbers), 3), inputs)["sum"])[0]) == sum(numbers)
