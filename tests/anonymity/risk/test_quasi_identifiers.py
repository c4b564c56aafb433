"""The bound on unique people: printed examples, enumeration, and the search over sets."""

from itertools import product
from math import comb, prod

import numpy as np
import pytest

from coterie.anonymity.risk.quasi_identifiers import least_cells, possible, singleton_share
from tests.anonymity.risk.people import subsets


@pytest.mark.parametrize(
    ("cells", "population", "share"),
    [(4e9, 300_000_000, 0.9277), (4e8, 6_000_000_000, 0.0245), (9e8, 300_000_000, 0.7165)],
)
def test_the_worked_examples(cells, population, share):
    assert round(singleton_share(cells, population), 4) == share


@pytest.mark.parametrize(
    ("alpha", "ratio"),
    [(0.05, 0.136), (0.2, 0.544), (0.3, 0.815), (0.5, 1.443), (0.75, 3.476), (0.9, 9.491),
     (0.99, 99.50)],
)  # fmt: skip
def test_the_thresholds_on_cells(alpha, ratio):
    assert least_cells(alpha, 10**8) / 10**8 == pytest.approx(ratio, abs=0.005 * max(ratio, 0.2))


def test_small_populations_have_the_exact_bound():
    assert singleton_share(2, 2) == pytest.approx(0.5)
    assert singleton_share(10, 10) == pytest.approx(0.387, abs=5e-4)
    assert singleton_share(100, 34) == pytest.approx(0.718, abs=5e-4)


@pytest.mark.parametrize(("cells", "people"), [(2, 2), (3, 2), (2, 4), (3, 3), (4, 3)])
def test_no_distribution_is_above_the_bound_and_one_attains_it(cells, people):
    """The expected share of unique people, over a grid of distributions."""
    grid = [w for w in product(range(13), repeat=cells) if sum(w) == 12]
    worst = max(sum(p / 12 * (1 - p / 12) ** (people - 1) for p in weights) for weights in grid)
    bound = singleton_share(cells, people)
    assert worst <= bound + 1e-12
    if cells >= people:  # with fewer cells one of them is larger than 1 in n
        assert worst == pytest.approx(bound, abs=0.02)


@pytest.mark.parametrize("seed", range(20))
def test_minimal_sets_are_those_of_trying_all(seed):
    rng = np.random.default_rng(seed)
    values = {f"c{j}": int(v) for j, v in enumerate(rng.integers(1, 12, 6))}
    population, alpha = int(rng.integers(2, 5000)), float(rng.uniform(0.05, 0.9))
    names = list(values)
    good = [
        {names[j] for j in s}
        for s in subsets(6)
        if s and singleton_share(prod(values[names[j]] for j in s), population) >= alpha
    ]
    minimal = [s for s in good if not any(other < s for other in good)]
    found = possible(values, population, alpha)
    assert sorted(map(sorted, minimal)) == sorted(sorted(f.columns) for f in found)
    for finding in found:
        assert finding.cells == prod(values[name] for name in finding.columns)
        assert finding.crowd == population / finding.cells


def test_the_search_can_end_at_a_size():
    values = dict.fromkeys("abcdefgh", 3)
    assert {len(f.columns) for f in possible(values, 30, 0.2)} == {3}
    assert len(possible(values, 30, 0.2)) == comb(8, 3)
    assert possible(values, 30, 0.2, largest=2) == []
