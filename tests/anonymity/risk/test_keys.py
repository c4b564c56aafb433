"""Minimum keys, compared with trying all sets of columns."""

import math

import numpy as np
import pytest

from coterie.anonymity.risk import keys
from coterie.anonymity.risk.keys import differences, greedy_key, minimum_key, necessary
from tests.anonymity.risk.people import (
    AGE,
    ROWS,
    SEX,
    STATE,
    codes_of,
    group_counts,
    random_rows,
    subsets,
)


def smallest(rows, columns):
    """All sets of the least size that tell apart whatever differs."""
    every = len(set(rows))
    found = [s for s in subsets(columns) if len(group_counts(rows, s)) == every]
    return [s for s in found if len(s) == len(found[0])]


def table(seed):
    rng = np.random.default_rng(seed)
    return random_rows(rng, int(rng.integers(2, 80)), rng.integers(1, 7, int(rng.integers(1, 8))))


def test_the_worked_example():
    assert minimum_key(codes_of(ROWS), 5).columns in ((AGE, SEX), (AGE, STATE))
    assert set(greedy_key(codes_of(ROWS), 5)) in ({AGE, SEX}, {AGE, STATE})


@pytest.mark.parametrize("seed", range(60))
def test_the_minimum_is_one_of_the_smallest_sets(seed):
    rows = table(seed)
    found = minimum_key(codes_of(rows), len(rows))
    assert found.exact
    assert found.columns in smallest(rows, len(rows[0]))


@pytest.mark.parametrize("seed", range(30))
def test_a_sample_of_the_records_does_not_change_the_answer(seed, monkeypatch):
    monkeypatch.setattr(keys, "_SAMPLES", (5, 11))
    rows = table(seed)
    assert minimum_key(codes_of(rows), len(rows)).columns in smallest(rows, len(rows[0]))


@pytest.mark.parametrize("seed", range(30))
def test_a_search_cut_short_still_tells_all_apart_and_says_how_small_it_could_be(seed):
    rows = table(seed)
    found = minimum_key(codes_of(rows), len(rows), trials=0)
    assert len(group_counts(rows, found.columns)) == len(set(rows))
    assert found.at_least <= len(smallest(rows, len(rows[0]))[0]) <= len(found.columns)


@pytest.mark.parametrize("seed", range(30))
def test_greedy_takes_the_column_that_separates_most_and_keeps_its_bound(seed):
    rows = table(seed)
    columns = codes_of(rows)
    chosen = greedy_key(columns, len(rows))
    assert len(group_counts(rows, chosen)) == len(set(rows))
    least = len(smallest(rows, len(rows[0]))[0])
    assert len(chosen) <= (1 + 2 * math.log(len(rows))) * max(least, 1)

    def together(names):
        return sum(c * (c - 1) // 2 for c in group_counts(rows, names).values())

    for at in range(len(chosen)):
        left = {j: together([*chosen[:at], j]) for j in range(len(columns))}
        assert left[chosen[at]] == min(left.values())


@pytest.mark.parametrize("seed", range(20))
def test_a_column_is_necessary_when_all_smallest_and_larger_keys_have_it(seed):
    rows = table(seed)
    every = len(set(rows))
    good = [set(s) for s in subsets(len(rows[0])) if len(group_counts(rows, s)) == every]
    assert set(necessary(codes_of(rows), len(rows))) == set.intersection(*good)


def test_differences_are_empty_only_for_a_key():
    columns = codes_of(ROWS)
    assert differences(columns, 5, [AGE, SEX]) == set()
    assert differences(columns, 5, [SEX, STATE]) == {1 << AGE}
