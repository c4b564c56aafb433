"""Rules are hidden by every way, with as few removals as the formulas say."""

import numpy as np
import pytest

from coterie.anonymity.rules.hiding import hide, removals
from coterie.anonymity.rules.mining import Rule, count, frequent_sets, least_count, rules_of

SUPPORT, CONFIDENCE = 0.2, 0.5


def baskets(seed):
    rng = np.random.default_rng(seed)
    table = rng.random((5, 50)) < 0.5
    table[1] |= table[0] & (rng.random(50) < 0.6)
    return table


def found_in(table):
    return set(rules_of(frequent_sets(table, least_count(SUPPORT, 50), 3), CONFIDENCE))


@pytest.mark.parametrize("way", ["fewest", "support", "confidence", "border"])
@pytest.mark.parametrize("seed", range(4))
def test_no_sensitive_rule_is_found_afterwards(way, seed):
    table = baskets(seed)
    least = least_count(SUPPORT, 50)
    rules = [Rule((0,), (1,)), Rule((2,), (3, 4)), Rule((0, 2), (1,))]
    kept = [s for s in frequent_sets(table, least, 3) if not {0, 1} <= set(s)]
    done = hide(table, rules, least, CONFIDENCE, way, kept)
    assert not found_in(done) & set(rules)
    assert not (done & ~table).any()  # items only go


@pytest.mark.parametrize("way", ["support", "confidence"])
def test_one_rule_takes_as_many_removals_as_the_formula_says(way):
    table, rule = baskets(1), Rule((0,), (1,))
    least = least_count(SUPPORT, 50)
    together, premise = count(table, (0, 1)), count(table, (0,))
    expected = {
        "support": together - least + 1,
        "confidence": together - least_count(CONFIDENCE, premise) + 1,
    }[way]
    done = hide(table, [rule], least, CONFIDENCE, way, [])
    assert (table & ~done).sum() == expected == removals(table, rule, least, CONFIDENCE, way)
    assert removals(table, rule, least, CONFIDENCE, "fewest") <= expected
    fewer = np.flatnonzero(table[1] & ~done[1])[:-1]
    almost = table.copy()
    almost[1, fewer] = False
    short = (
        count(almost, (0, 1)) >= least
        if way == "support"
        else count(almost, (0, 1)) >= CONFIDENCE * count(almost, (0,))
    )
    assert short  # one removal less is not enough


def test_the_smallest_transactions_lose_the_most_supported_item():
    table = np.array([[1, 1, 1, 1], [1, 1, 1, 1], [1, 1, 1, 1], [0, 0, 1, 1], [1, 0, 0, 0]], bool)
    done = hide(table, [Rule((0,), (1, 2))], 4, 0.9, "fewest", [])
    assert np.argwhere(table & ~done).tolist() == [[1, 1]]


def test_the_border_way_takes_the_item_with_the_larger_margin():
    table = np.zeros((4, 12), bool)
    table[0, :10] = table[1, :10] = True
    table[2, :4] = True  # the set {0, 2} has 4 transactions, the least that is frequent
    table[3, 3:12] = True  # the set {1, 3} has margin
    kept = [(0, 2), (1, 3)]
    done = hide(table, [Rule((0,), (1,))], 4, 0.1, "border", kept)
    assert count(done, (0, 1)) == 3
    assert count(done, (0, 2)) == 4  # not one transaction is taken from the tight set


def test_a_rule_that_another_one_brings_back_is_hidden_again():
    """Taking 0 out for 2 -> 0 raises the confidence of 0 -> 1."""
    rng = np.random.default_rng(3)
    found_again = 0
    for _ in range(40):
        table = rng.random((3, 40)) < 0.7
        rules = [Rule((0,), (1,)), Rule((2,), (0,))]
        done = hide(table, rules, 4, 0.6, "confidence", [])
        assert all(not removals(done, rule, 4, 0.6, "confidence") for rule in rules)
        first = hide(table, rules[:1], 4, 0.6, "confidence", [])
        second = hide(first, rules[1:], 4, 0.6, "confidence", [])
        found_again += removals(second, rules[0], 4, 0.6, "confidence") > 0
    assert found_again  # one rule after the other is not enough


def test_a_rule_that_is_not_there_changes_nothing():
    table = baskets(2)
    table[1] = False
    done = hide(table, [Rule((0,), (1,))], 10, 0.5, "fewest", [])
    assert (done == table).all()
