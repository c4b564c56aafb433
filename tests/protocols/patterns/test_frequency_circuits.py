"""Classes of counts, on plain bits."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from coterie.protocols.circuits.boolean import evaluate, from_bits, to_bits
from coterie.protocols.patterns.frequency_circuits import WIDTH, class_circuit


@given(st.integers(0, 200), st.integers(0, 2**32 - 1))
def test_a_count_below_the_second_class_is_in_the_first(count, mask):
    inputs = {
        "count0": to_bits(np.array([mask], np.uint64), WIDTH),
        "count1": to_bits(np.array([(count - mask) % 2**32], np.uint64), WIDTH),
    }
    found = int(from_bits(evaluate(class_circuit(3, 24, 6), inputs)["class"])[0])
    assert found == (0 if count < 24 else count // 8)
