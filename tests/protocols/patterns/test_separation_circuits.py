"""Circuits over numbers of alike pairs, on plain bits."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from coterie.protocols.circuits.boolean import evaluate, from_bits, to_bits
from coterie.protocols.patterns.separation_circuits import WIDTH, level_circuit


@given(
    st.integers(0, 1000), st.lists(st.integers(0, 1000), max_size=3), st.integers(0, 7),
    st.integers(0, 2**32 - 1),
)  # fmt: skip
def test_a_level_is_the_lowered_count_with_its_offset_in_steps(count, others, offset, mask):
    numbers = {"count": count} | {f"other{at}_": other for at, other in enumerate(others)}
    inputs = {}
    for name, number in numbers.items():
        inputs[f"{name}0"] = to_bits(np.array([mask], np.uint64), WIDTH)
        inputs[f"{name}1"] = to_bits(np.array([(number - mask) % 2**32], np.uint64), WIDTH)
    inputs["offset0"] = to_bits(np.array([5]), 3)
    inputs["offset1"] = to_bits(np.array([5 ^ offset]), 3)
    found = evaluate(level_circuit(3, len(others), 8), inputs)["level"]
    lowered = min([count, *(max(other - 8, 0) for other in others)])
    assert int(from_bits(found)[0]) == (lowered + offset) // 8
