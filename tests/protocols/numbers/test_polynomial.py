"""Oblivious polynomial evaluation against plain evaluation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.protocols.numbers.polynomial import (
    evaluate_coefficients,
    evaluate_points,
    powers,
    shift_argument,
)
from coterie.protocols.numbers.shares import Ring
from coterie.protocols.primitives.randomness import Random
from tests.protocols.pairs import ENGINES, run_engines

moduli = st.one_of(st.integers(2, 2**70), st.integers(1, 64).map(lambda bits: 1 << bits))


@settings(max_examples=60, deadline=None)
@given(moduli, st.integers(0, 5), st.integers(0, 2**32))
def test_a_shifted_argument_gives_the_same_values(m: int, degree: int, seed: int) -> None:
    ring, rng = Ring(m), Random(seed)
    coefficients = rng.integers(m, degree + 1)
    a, y = ring.random(4, rng), ring.random(4, rng)
    rows = shift_argument(ring, coefficients, a)
    terms = np.concatenate([ring.array([[1]] * 4), powers(ring, y, degree)], axis=1)[
        :, : degree + 1
    ]
    got = ring.sum(ring.multiply(rows, terms), axis=1).tolist()
    expected = [
        sum(c * pow(int(u) + int(v), i, m) for i, c in enumerate(coefficients)) % m
        for u, v in zip(a, y, strict=True)
    ]
    assert got == expected


@pytest.mark.parametrize("kind", ENGINES)
@pytest.mark.parametrize("degree", [0, 1, 3, 5])
def test_oblivious_evaluation_is_evaluation(kind: str, degree: int) -> None:
    ring, rng = Ring(2**62 - 57), Random(degree)
    rows, points = ring.random((20, degree + 1), rng), ring.random(20, rng)
    one, two = run_engines(
        kind,
        lambda engine, rng: evaluate_coefficients(engine, ring, rows, rng),
        lambda engine, rng: evaluate_points(engine, ring, points, degree, rng),
    )
    expected = [
        sum(int(c) * int(y) ** i for i, c in enumerate(row)) % ring.modulus
        for row, y in zip(rows, points, strict=True)
    ]
    assert ring.add(one, two).tolist() == expected
