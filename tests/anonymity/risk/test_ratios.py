"""The ratios of the paper's example, and their exact bounds."""

from itertools import product

import numpy as np
import pytest

from coterie.anonymity.risk.ratios import (
    least_separation,
    most_separation,
    ratios_of,
    ratios_of_sizes,
)
from tests.anonymity.risk.people import AGE, ROWS, SEX, STATE, codes_of


@pytest.mark.parametrize(
    ("chosen", "distinct", "separation"),
    [([AGE], 0.6, 0.8), ([SEX], 0.4, 0.6), ([STATE], 0.6, 0.7), ([SEX, STATE], 0.8, 0.9),
     ([AGE, STATE], 1, 1), ([AGE, SEX], 1, 1), ([], 0.2, 0)],
)  # fmt: skip
def test_the_worked_example(chosen, distinct, separation):
    columns = codes_of(ROWS)
    found = ratios_of([columns[j] for j in chosen], 5)
    assert (found.distinct, round(found.separation, 12)) == (distinct, separation)


def test_one_record_is_told_apart():
    assert ratios_of_sizes(np.array([1]), 1).separation == 1


def test_the_printed_limits_are_not_the_bounds():
    assert round(least_separation(100, 50), 4) == 0.7424
    assert round(most_separation(100, 50), 5) == 0.98990


def test_the_bounds_are_attained_and_never_passed():
    for groups in range(1, 7):
        sizes = [s for s in product(range(1, 7), repeat=groups) if sum(s) == 6]
        found = [ratios_of_sizes(np.array(s), 6).separation for s in sizes]
        assert min(found) == least_separation(6, groups)
        assert max(found) == most_separation(6, groups)
