"""The noise keeps its promise: checked against the definition of differential privacy."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from coterie.protocols.aggregates.noise import Noise, Query

LAPLACE = Noise(Fraction(1, 2), Fraction(0))
GAUSSIAN = Noise(Fraction(1), Fraction(1, 10**5))


@pytest.mark.parametrize(("low", "high"), [(-3, 3), (0, 5), (-4, 1), (1, 1)])
@pytest.mark.parametrize("groups", [1, 3])
def test_changes_are_the_largest_between_any_two_neighbours(low, high, groups):
    ways = list(product(range(groups), range(low, high + 1)))
    sums = []
    for group, value in ways:
        vector = np.zeros(groups, int)
        vector[group] = value
        sums.append(vector)
    query = Query(low, high)
    apart = [(a - b) for a in sums for b in sums]
    assert query.change(groups) == max(np.abs(d).sum() for d in apart)
    assert query.squared_change(groups) == max((d * d).sum() for d in apart)


def test_laplace_ratios_of_all_queries_together_stay_within_epsilon():
    queries = [Query(1, 1), Query(-40, 40), Query(-7, 9)]
    scales = LAPLACE.scales(queries, 6)
    spent = sum(
        Fraction(query.change(6) * scale.bottom, scale.top)
        for query, scale in zip(queries, scales, strict=True)
    )
    assert LAPLACE.epsilon * Fraction(999, 1000) < spent <= LAPLACE.epsilon


def probabilities(scale, reach):
    """Of a discrete Gaussian, from the formula."""
    deviation = scale.top / scale.bottom
    weights = np.exp(-(np.arange(-reach, reach + 1) ** 2) / (2 * deviation**2))
    return weights / weights.sum()


def test_gaussian_noise_keeps_delta_by_the_definition():
    """Of numbers of records, two groups of which change by one each: all answers enumerated."""
    [scale] = GAUSSIAN.scales([Query(1, 1)], 2)
    one = probabilities(scale, 90)
    here = np.outer(one[1:-1], one[1:-1])
    there = np.outer(one[:-2], one[2:])
    beyond = np.maximum(here - math.exp(GAUSSIAN.epsilon) * there, 0).sum()
    assert 0 < beyond <= GAUSSIAN.delta
    small = probabilities(type(scale)(scale.top // 2, scale.bottom), 90)
    here, there = np.outer(small[1:-1], small[1:-1]), np.outer(small[:-2], small[2:])
    assert np.maximum(here - math.exp(GAUSSIAN.epsilon) * there, 0).sum() > GAUSSIAN.delta


def test_gaussian_queries_together_have_the_rho_of_the_promise():
    """A query costs its squared change over twice the squared scale, and the costs add up."""
    queries = [Query(1, 1), Query(-40, 40), Query(-7, 9)]
    spent = sum(
        Fraction(query.squared_change(6) * scale.bottom**2, 2 * scale.top**2)
        for query, scale in zip(queries, GAUSSIAN.scales(queries, 6), strict=True)
    )
    assert GAUSSIAN.rho * Fraction(999, 1000) < spent <= GAUSSIAN.rho


def test_rho_gives_the_epsilon_of_the_promise():
    rho = float(GAUSSIAN.rho)
    epsilon = rho + 2 * math.sqrt(rho * math.log(1 / GAUSSIAN.delta))
    assert float(GAUSSIAN.epsilon) * 0.999 < epsilon <= GAUSSIAN.epsilon


@pytest.mark.parametrize("noise", [LAPLACE, GAUSSIAN])
def test_the_stated_deviation_is_that_of_the_distribution(noise):
    [scale] = noise.scales([Query(1, 1)], 2)
    size = scale.top / scale.bottom
    y = np.arange(-2000, 2001)
    weights = np.exp(-np.abs(y) / size) if not noise.delta else np.exp(-(y**2) / (2 * size**2))
    expected = math.sqrt((weights * y**2).sum() / weights.sum())
    assert noise.deviation(scale) == pytest.approx(expected, rel=1e-6)
