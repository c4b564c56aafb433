"""Crowds: Theorem 4 and Equation 1 against tables, enumeration and drawing."""

from itertools import product
from math import prod

import numpy as np
import pytest

from coterie.anonymity.risk.crowd import allot, least_group, least_mean, most_cells, shares
from coterie.base.errors import UsageError


@pytest.mark.parametrize(
    ("k", "beta", "chernoff", "exact"),
    [(2, 0.1, 6.45, 3.89), (5, 0.05, 12.74, 9.15), (10, 0.1, 18.14, 14.21), (10, 0.01, 23.81, 18.78),
     (50, 0.1, 66.50, 59.25), (100, 1e-6, 166.9, 154.9), (1000, 0.1, 1069, 1041),
     (20000, 0.1, 20305, 20181)],
)  # fmt: skip
def test_people_that_a_cell_needs(k, beta, chernoff, exact):
    assert least_mean(k, beta, "chernoff") == pytest.approx(chernoff, rel=5e-4)
    assert least_mean(k, beta) == pytest.approx(exact, rel=5e-4)


def test_the_printed_example():
    assert most_cells(300_000_000, 100, 0.1, "chernoff") == pytest.approx(2.443e6, rel=1e-3)
    assert most_cells(10, 10, 0.1) == 1
    assert most_cells(7, 1, 0.1) == 7
    with pytest.raises(UsageError, match="no crowd of k = 8"):
        most_cells(7, 8, 0.1)


@pytest.mark.parametrize("k", [3, 10])
def test_drawn_people_have_their_crowd(k):
    people, beta = 20_000, 0.1
    cells = most_cells(people, k, beta)
    counts = np.random.default_rng(1).multinomial(people, [1 / cells] * cells, 50)
    assert (counts >= k).mean() >= 1 - beta - 0.01
    more = np.random.default_rng(1).multinomial(people, [1 / (cells * 1.1)] * int(cells * 1.1), 50)
    assert (more >= k).mean() < 1 - beta


@pytest.mark.parametrize("seed", range(40))
def test_parts_of_equation_1_are_the_best_of_all_whole_numbers(seed):
    """Rounding is a heuristic: never above D', never far from the best, never to be raised."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 9, 3).tolist()
    weights = rng.uniform(0.2, 3, 3).tolist()
    cells = int(rng.integers(1, prod(sizes) + 5))
    found = allot(cells, sizes, weights)

    def loss(parts):
        return sum(w / d for w, d in zip(weights, parts, strict=True))

    fitting = [p for p in product(*(range(1, s + 1) for s in sizes)) if prod(p) <= cells]
    assert tuple(found) in fitting
    best = min(map(loss, fitting))
    relaxed = loss(shares(cells, sizes, weights)) if prod(sizes) > cells else best
    assert relaxed <= best + 1e-9
    assert loss(found) <= 1.35 * best
    for at in range(3):
        raised = [d + (i == at) for i, d in enumerate(found)]
        assert found[at] == sizes[at] or prod(raised) > cells


def test_the_printed_allotment():
    parts = shares(2.4e6, [2, 20_000, 100_000], [1.0, 1.0, 1.0])
    assert [round(p, 1) for p in parts] == [2, 1095.4, 1095.4]
    assert shares(2.4e6, [10**6] * 3, [1.0] * 3)[0] == pytest.approx(133.9, abs=0.05)


def test_a_group_of_a_sample_stands_for_more_people():
    assert least_group(10, 0.1, 1.0) == 10
    assert least_group(10, 0.1, 1e-6) == 1
    rng = np.random.default_rng(2)
    for share in (0.05, 0.3, 0.7):
        records = least_group(10, 0.1, share)
        people = records + rng.negative_binomial(records, share, 200_000)
        assert (people >= 10).mean() >= 0.895
        if records > 1:
            fewer = records - 1 + rng.negative_binomial(records - 1, share, 200_000)
            assert (fewer >= 10).mean() < 0.905
