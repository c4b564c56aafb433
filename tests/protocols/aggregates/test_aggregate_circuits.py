"""Circuits over sums give what the numbers give."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.protocols.aggregates.aggregate_circuits import square_circuit
from coterie.protocols.circuits.boolean import evaluate, from_bits, to_bits


def shared(name, values, seed=1):
    """Two shares of each number, as inputs of a circuit."""
    mask = np.random.default_rng(seed).integers(0, 2**64, len(values), np.uint64)
    numbers = np.array([value % 2**64 for value in values], np.uint64)
    return {f"{name}0": to_bits(mask, 64), f"{name}1": to_bits(numbers - mask, 64)}


@settings(deadline=None, max_examples=30)
@given(st.integers(1, 21), st.lists(st.integers(0, 2**63 - 1), min_size=3, max_size=3))
def test_squares_are_put_together_from_their_parts(half, parts):
    inputs = {}
    for at, (name, value) in enumerate(zip(("high", "both", "low"), parts, strict=True)):
        inputs |= shared(name, [value], at)
    [found] = from_bits(evaluate(square_circuit(half), inputs)["square"])
    assert int(found) == (parts[0] << 2 * half) + (parts[1] << (half + 1)) + parts[2]
