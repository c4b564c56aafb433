"""Drawn numbers have the exact probabilities of the discrete distributions, at small and large scales."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chisquare, kstest

from coterie.protocols.aggregates.discrete_noise import (
    MOST,
    gaussian,
    laplace,
    root_scale_of,
    scale_of,
)
from coterie.protocols.primitives.randomness import Random

DRAWS = 60_000


def exact(weight, reach):
    """Probabilities of -reach … reach, from the formula, with sums that lose nothing."""
    weights = [weight(y) for y in range(-reach, reach + 1)]
    total = math.fsum(weight(y) for y in range(-40 * reach, 40 * reach + 1))
    return np.array(weights) / total


def check(drawn, probabilities):
    """Chi-square over the numbers of a reach, and those beyond it as one."""
    reach = len(probabilities) // 2
    inside = drawn[np.abs(drawn) <= reach]
    counts = [*np.bincount(inside + reach, minlength=2 * reach + 1), len(drawn) - len(inside)]
    expected = len(drawn) * np.array([*probabilities, 1 - probabilities.sum()])
    assert chisquare(counts, expected).pvalue > 1e-4


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(1), Fraction(7, 2)])
def test_small_laplace_numbers_have_their_exact_probabilities(scale):
    reach = max(2, math.ceil(3 * scale))
    drawn = laplace(scale_of(scale), DRAWS, Random("laplace"))
    check(drawn, exact(lambda y: math.exp(-abs(y) / scale), reach))


@pytest.mark.parametrize("square", [Fraction(1, 2), Fraction(1), Fraction(19, 3)])
def test_small_gaussian_numbers_have_their_exact_probabilities(square):
    reach = max(1, math.floor(2.5 * math.sqrt(square)))
    drawn = gaussian(root_scale_of(square), DRAWS, Random("gaussian"))
    check(drawn, exact(lambda y: math.exp(-y * y / (2 * float(square))), reach))


@pytest.mark.parametrize("size", [2**20, 2**49])
def test_large_numbers_are_as_continuous_ones_and_their_last_bits_are_even(size):
    for drawn, name in (
        (laplace(scale_of(Fraction(size)), 20_000, Random(1)), "laplace"),
        (gaussian(root_scale_of(Fraction(size) ** 2), 20_000, Random(2)), "norm"),
    ):
        assert kstest(drawn / size, name).pvalue > 1e-4
        assert chisquare(np.bincount(drawn & 15, minlength=16)).pvalue > 1e-4


def test_scales_are_rounded_up_and_hardly():
    for least in (Fraction(1, 7), Fraction(22, 7), Fraction(10**12, 7)):
        scale = scale_of(least)
        assert 0 <= Fraction(scale.top, scale.bottom) - least <= least / 2**29 + 1
        root = root_scale_of(least)
        found = Fraction(root.top, root.bottom) ** 2
        assert least <= found <= least * (1 + Fraction(1, 2**27)) + 1


def test_a_scale_beyond_words_is_refused():
    with pytest.raises(ValueError, match="room"):
        scale_of(Fraction(2 * MOST))


@pytest.mark.parametrize("scale", [scale_of, root_scale_of])
def test_what_no_record_changes_has_no_scale(scale):
    with pytest.raises(ValueError, match="no record changes"):
        scale(Fraction(0))


def test_none_are_drawn_where_none_are_wanted():
    assert laplace(scale_of(Fraction(3)), 0, Random(1)).tolist() == []
