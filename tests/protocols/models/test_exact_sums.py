"""Sums of real numbers of any size, exact."""

from fractions import Fraction

import numpy as np
import pytest

from coterie.base.errors import DataError
from coterie.protocols.messaging.memory import run_parties
from coterie.protocols.models.exact_sums import ExactSums
from coterie.protocols.primitives.randomness import Random

NAMES = ("a", "b", "c")


def totals(vectors):
    def party(name):
        return lambda channel: ExactSums(channel, NAMES, Random(name)).totals(vectors[name])

    return run_parties({name: party(name) for name in NAMES})


def test_small_numbers_beside_huge_ones_keep_their_digits():
    rng = np.random.default_rng(1)
    vectors = {n: rng.normal(size=8) * 10.0 ** np.arange(-12, 28, 5) for n in NAMES}
    exact = [sum(Fraction(float(vectors[n][at])) for n in NAMES) for at in range(8)]
    for found in totals(vectors).values():
        for one, due in zip(found, exact, strict=True):
            assert abs(Fraction(one) - due) <= 2 * Fraction(1, 2**95) + abs(due) / 2**52


def test_a_number_that_is_none_is_an_error_before_anything_is_added():
    vectors = {n: np.array([1.0, np.nan]) for n in NAMES}
    with pytest.raises(DataError, match="larger"):
        totals(vectors)
