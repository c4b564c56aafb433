"""The bound on unique people: printed examples, enumeration, and the search over sets."""

from itertools import product
from math import comb, prod

import numpy as np
import pytest

from coterie.anonymity.risk.quasi_identifiers import (
    least_cells,
    possible,
    singleton_share,
    values_in_population,
)
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
    population, alpha = (
        int(rng.integers(2, 5000)),
        float(rng.choice([1e-6, 0.01, rng.uniform(0.05, 0.9)])),
    )
    names = list(values)
    good = [
        {names[j] for j in s}
        for s in subsets(6)
        if s
        and all(values[names[j]] > 1 for j in s)
        and singleton_share(prod(values[names[j]] for j in s), population) >= alpha
    ]
    minimal = [s for s in good if not any(other < s for other in good)]
    found = possible(values, population, alpha).sets
    assert sorted(map(sorted, minimal)) == sorted(sorted(f.columns) for f in found)
    for finding in found:
        assert finding.cells == prod(values[name] for name in finding.columns)
        assert finding.crowd == population / finding.cells


def test_the_search_can_end_at_a_size():
    values = dict.fromkeys("abcdefgh", 3)
    assert {len(f.columns) for f in possible(values, 30, 0.2).sets} == {3}
    assert len(possible(values, 30, 0.2).sets) == comb(8, 3)
    small = possible(values, 30, 0.2, largest=2)
    assert small.sets == []
    assert (small.looked_at, small.complete) == (2, False)
    assert possible(values, 30, 0.2).complete


def test_a_search_that_is_cut_off_says_how_far_it_came_and_names_a_set_of_fewest_columns():
    values = {f"c{j}": 3 for j in range(60)}
    least = least_cells(0.2, 400)
    search = possible(values, 400, 0.2)
    assert 3**search.looked_at < least  # no set of so few columns is one, as it says
    assert not search.complete
    assert search.sets
    assert all(prod(values[name] for name in f.columns) >= least for f in search.sets)
    assert {len(f.columns) for f in search.sets} == {5}


@pytest.mark.parametrize("seed", range(10))
def test_what_was_tried_before_a_cut_is_what_trying_all_finds(seed, monkeypatch):
    monkeypatch.setattr("coterie.anonymity.risk.quasi_identifiers._MOST_SETS", 12)
    rng = np.random.default_rng(seed)
    values = {f"c{j}": int(v) for j, v in enumerate(rng.integers(2, 9, 7))}
    names, least = list(values), least_cells(0.2, 300)
    good = [{names[j] for j in s} for s in subsets(7) if prod(values[names[j]] for j in s) >= least]
    minimal = [s for s in good if not any(other < s for other in good)]
    search = possible(values, 300, 0.2)
    due = sorted(sorted(s) for s in minimal if len(s) <= search.looked_at)
    assert due == sorted(
        sorted(f.columns) for f in search.sets if len(f.columns) <= search.looked_at
    )
    assert all(set(f.columns) in minimal for f in search.sets)
    assert bool(minimal) == bool(search.sets)
    assert search.complete or len(minimal) > 12 or search.looked_at < 7


@pytest.mark.parametrize("law", ["even", "skewed", "unique"])
def test_values_that_the_table_lacks_are_estimated_no_lower_than_they_are(law):
    rng = np.random.default_rng(5)
    people = {
        "even": rng.integers(0, 30_000, 50_000),
        "skewed": (30_000 * rng.random(50_000) ** 4).astype(int),
        "unique": np.arange(50_000),
    }[law]
    estimates = []
    for _ in range(20):
        table = rng.choice(people, 5_000, replace=False)
        _, counts = np.unique(table, return_counts=True)
        once = int((counts == 1).sum())
        estimates.append(values_in_population(len(counts), once / 5_000, 5_000, 50_000, 0.2))
    assert np.mean(estimates) >= len(np.unique(people))


@pytest.mark.parametrize("alpha", [0.05, 0.2, 0.5, 0.9])
def test_a_column_with_nearly_as_many_values_as_records_is_a_set_alone(alpha):
    phone = values_in_population(4_600, 0.86, 5_000, 50_000, alpha)
    found = possible({"Phone": phone, "Sex": 2}, 50_000, alpha).sets
    assert ("Phone",) in [f.columns for f in found]
    assert values_in_population(2, 0, 5_000, 50_000, alpha) == 2


@pytest.mark.parametrize("own", [0.1, 0.3, 0.6, 0.78, 0.95])
@pytest.mark.parametrize("records", [500, 5_000, 20_000])
def test_a_column_of_common_and_own_values_is_named_where_enough_people_are_unique(own, records):
    """A share of the people have a value of their own, by enumeration, the others one of 50."""
    rng = np.random.default_rng(8)
    people = np.arange(20_000)
    street = np.where(people < own * len(people), 100 + people, people % 50)
    _, counts = np.unique(street, return_counts=True)
    assert (counts == 1).sum() == round(own * len(people))
    for _ in range(10):
        table = street[rng.choice(len(people), records, replace=False)]
        _, counts = np.unique(table, return_counts=True)
        share = float((counts == 1).sum()) / records
        for alpha in (own / 2, own - 0.08):  # a sample of 500 records is right to 0.07
            size = values_in_population(len(counts), share, records, len(people), alpha)
            found = possible({"Street": size, "Sex": 2}, len(people), alpha).sets
            bounds = {f.columns: f.bound for f in found}
            assert bounds["Street",] >= min(share, 0.999)
            assert ("Sex",) not in bounds
    assert values_in_population(2, 0, records, len(people), 0.2) == 2
