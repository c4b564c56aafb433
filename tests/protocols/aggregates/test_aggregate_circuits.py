"""Circuits over sums give what the numbers give."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.protocols.aggregates.aggregate_circuits import (
    multiple_circuit,
    quotient_circuit,
    square_circuit,
    top_circuit,
)
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


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 2**64 - 1), st.integers(1, 10**9), st.integers(0, 2**63))
def test_multiples_and_quotients_are_rounded_down(number, base, divisor):
    inputs = shared("number", [number])
    [found] = from_bits(evaluate(multiple_circuit(base), inputs)["multiple"])
    assert int(found) == number // base
    inputs |= shared("divisor", [divisor], 2)
    [found] = from_bits(evaluate(quotient_circuit(), inputs)["quotient"])
    assert int(found) == (number // divisor if divisor else 2**64 - 1)


@settings(deadline=None, max_examples=40)
@given(st.lists(st.integers(0, 4), min_size=5, max_size=5), st.integers(1, 3), st.integers(0, 60))
def test_the_largest_records_are_weighed_from_the_top_bucket_down(buckets, largest, part):
    weights = (1, 3, 7, 12, 30)
    records = [w for w, count in zip(weights, buckets, strict=True) for _ in range(count)]
    above = np.cumsum(buckets[::-1])[::-1].astype(np.uint32)
    mask = np.random.default_rng(3).integers(0, 2**32, 5, np.uint32)
    inputs = {
        "above0": to_bits(mask, 32).reshape(1, -1),
        "above1": to_bits(above - mask, 32).reshape(1, -1),
        **shared("part", [part]),
    }
    [[safe]] = evaluate(top_circuit(weights, largest), inputs)["safe"]
    assert bool(safe) == (sum(sorted(records)[-largest:]) <= part)
