"""Frequent sets and rules against enumeration of all of them."""

from itertools import combinations

import numpy as np
import pytest

from coterie.anonymity.rules import mining
from coterie.anonymity.rules.mining import (
    Rule,
    TooManySetsError,
    count,
    frequent_sets,
    least_count,
    maximal,
    rules_of,
)


def some(seed, items=6, records=40):
    return np.random.default_rng(seed).random((items, records)) < 0.5


def every_set(table, least, longest):
    transactions = [set(np.flatnonzero(column).tolist()) for column in table.T]
    found = {}
    for size in range(1, longest + 1):
        for items in combinations(range(len(table)), size):
            number = sum(set(items) <= transaction for transaction in transactions)
            if number >= least:
                found[items] = number
    return found


@pytest.mark.parametrize("seed", range(4))
def test_all_frequent_sets_and_rules_are_found(seed):
    table = some(seed)
    found = frequent_sets(table, 7, 4)
    expected = every_set(table, 7, 4)
    assert found == expected
    rules = {
        Rule(premise, tuple(sorted(set(items) - set(premise))))
        for items in expected
        for size in range(1, len(items))
        for premise in combinations(items, size)
        if expected[items] / expected[premise] >= 0.6
    }
    assert set(rules_of(found, 0.6)) == rules


def test_thresholds_are_compared_as_whole_numbers():
    assert least_count(0.1, 30) == 3  # 0.1 * 30 is a little more than 3 as a float
    assert least_count(0.101, 30) == 4
    assert least_count(0.001, 30) == 1


def test_a_count_is_of_transactions_with_all_items():
    table = np.array([[1, 1, 0], [1, 0, 1]], bool)
    assert count(table, (0, 1)) == 1


def test_the_border_has_the_sets_that_no_other_contains():
    assert sorted(maximal([(0,), (1,), (2,), (0, 1)])) == [(0, 1), (2,)]


def test_too_many_sets_are_an_error(monkeypatch):
    monkeypatch.setattr(mining, "MOST_SETS", 10)
    with pytest.raises(TooManySetsError):
        frequent_sets(np.ones((8, 5), bool), 1, 4)
