"""The position of the least shared number, against NumPy and Python."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.protocols.circuits.garbling import Evaluator, Garbler
from coterie.protocols.circuits.minindex import circuit, minimum, minindex
from coterie.protocols.messaging.memory import run_parties
from coterie.protocols.primitives.randomness import Random


def both(function, first, second):
    result = run_parties(
        {
            "anna": lambda channel: function(Garbler(channel, "bela", Random("a")), first),
            "bela": lambda channel: function(Evaluator(channel, "anna", Random("b")), second),
        }
    )
    return result["anna"], result["bela"]


def split(values, modulus, seed=0):
    """Additive shares of a matrix of Python integers."""
    flat = [v for row in values for v in row]
    first = Random(f"split {seed}").integers(modulus, len(flat))
    second = [(v - r) % modulus for v, r in zip(flat, first, strict=True)]
    shape = (len(values), len(values[0]) if values else 1)
    kind = np.uint64 if modulus <= 2**64 else object
    return (np.array(part, kind).reshape(shape) for part in (first, second))


def position(row, greatest):
    return row.index(max(row) if greatest else min(row))


@settings(max_examples=30, deadline=None)
@given(
    st.one_of(st.integers(2, 100), st.integers(2, 2**100), st.sampled_from([2**16, 2**64, 2**65])),
    st.integers(1, 6),
    st.integers(1, 9),
    st.booleans(),
    st.booleans(),
    st.randoms(use_true_random=False),
)
def test_positions_and_numbers_of_the_least(modulus, rows, count, signed, greatest, random):
    low = -(modulus // 2) if signed else 0
    pool = [low, low + modulus - 1, *(low + random.randrange(modulus) for _ in range(3))]
    values = [[random.choice(pool) for _ in range(count)] for _ in range(rows)]  # with ties
    expected = [position(row, greatest) for row in values]
    first, second = split(values, modulus)
    left, right = both(
        lambda role, part: minindex(role, part, modulus, signed=signed, greatest=greatest),
        first,
        second,
    )
    assert left.tolist() == right.tolist() == expected
    if count > modulus:
        return
    left, right = both(
        lambda role, part: minimum(role, part, modulus, Random("m"), signed, greatest),
        first,
        second,
    )
    index = [(int(a) + int(b)) % modulus for a, b in zip(left[0], right[0], strict=True)]
    value = [(int(a) + int(b)) % modulus for a, b in zip(left[1], right[1], strict=True)]
    assert index == expected
    assert value == [row[at] % modulus for row, at in zip(values, expected, strict=True)]


@pytest.mark.parametrize("reveal", ["garbler", "evaluator", "shares"])
def test_only_those_named_learn_the_position(reveal):
    first, second = split([[5, 3, 9, 3]] * 40, 2**20)
    left, right = both(lambda role, part: minindex(role, part, 2**20, reveal), first, second)
    if reveal == "shares":
        assert ((left ^ right) == 1).all()
        assert len(set(left.tolist())) > 1
    else:
        assert (left is None) == (reveal == "evaluator")
        assert (right is None) == (reveal == "garbler")
        assert ((right if left is None else left) == 1).all()


def test_shares_of_the_position_are_spread_over_the_ring():
    first, second = split([[7, 1]] * 600, 8)
    left, right = both(lambda role, part: minimum(role, part, 8, Random("masks")), first, second)
    for share in (left[0], right[0], left[1], right[1]):
        assert np.bincount(share.astype(int), minlength=8).min() > 30


def test_the_circuit_has_the_gates_it_promises():
    width, count = 32, 10
    plan = circuit(count, 2**width)
    assert plan.ands <= count * (width - 1) + (count - 1) * (2 * width + 4)


@pytest.mark.parametrize(
    ("shares", "modulus", "match"),
    [
        (np.zeros(3, np.uint64), 8, "a matrix of integers"),
        (np.zeros((2, 0), np.uint64), 8, "a matrix of integers"),
        (np.zeros((2, 2)), 8, "a matrix of integers"),
        (np.full((2, 2), 8), 8, r"outside \[0, 8\)"),
        (np.full((2, 2), -1), 8, r"outside \[0, 8\)"),
    ],
)
def test_shares_that_are_none_are_refused(shares, modulus, match):
    with pytest.raises(ValueError, match=match):
        both(lambda role, part: minindex(role, part, modulus), shares, shares)


def test_positions_need_a_ring_that_holds_them():
    shares = np.zeros((1, 3), np.uint64)
    with pytest.raises(ValueError, match="no shares modulo 2"):
        both(lambda role, part: minimum(role, part, 2, Random(1)), shares, shares)
