"""The most revealing rules, against a count of every rule with Python's own numbers."""

import math
from itertools import combinations

import numpy as np

from coterie.anonymity.rules.revealing import revealing_rules


def plain(columns, sensitive, fewest):
    """The information of every rule, by its premise and value."""
    n, found = len(sensitive), {}
    for size in (1, 2):
        for chosen in combinations(range(len(columns)), size):
            keys = list(zip(*(columns[j].tolist() for j in chosen), strict=True))
            for key in sorted(set(keys)):
                who = [i for i in range(n) if keys[i] == key]
                for value in sorted(set(sensitive.tolist())):
                    p = sum(sensitive[i] == value for i in who) / len(who)
                    q = sum(sensitive == value) / n
                    if len(who) < fewest or p <= q:
                        continue
                    bits = p * math.log2(p / q)
                    bits += (1 - p) * math.log2((1 - p) / (1 - q)) if p < 1 else 0
                    found[tuple(zip(chosen, key, strict=True)), value] = len(who) / n * bits
    return {
        rule: bits
        for rule, bits in found.items()
        if len(rule[0]) == 1
        or all(bits > found.get(((part,), rule[1]), 0) + 1e-12 for part in rule[0])
    }


def test_the_rules_are_those_of_a_plain_count():
    rng = np.random.default_rng(1)
    for _ in range(5):
        columns = [rng.integers(0, size, 80) for size in (2, 3, 4)]
        sensitive = np.where(rng.random(80) < 0.6, columns[1], rng.integers(0, 3, 80))
        found = revealing_rules(columns, [2, 3, 4], sensitive, 3, fewest=4, most=10)
        expected = sorted(plain(columns, sensitive, 4).values(), reverse=True)[:10]
        assert np.allclose([rule.information for rule in found], expected)
        for rule in found:
            who = np.all([columns[j] == code for j, code in rule.premise], axis=0)
            assert rule.people == who.sum() >= 4
            assert np.isclose(rule.confidence, (sensitive[who] == rule.value).mean())
            assert np.isclose(rule.share, (sensitive == rule.value).mean())


def test_a_column_that_tells_nothing_has_no_rule():
    column, sensitive = np.repeat([0, 1], 10), np.tile([0, 1], 10)
    assert revealing_rules([column], [2], sensitive, 2) == []


def test_a_constant_column_and_a_constant_value_tell_nothing():
    assert revealing_rules([np.zeros(20, int)], [1], np.arange(20) % 2, 2) == []
    assert revealing_rules([np.arange(20) % 2], [2], np.zeros(20, int), 1) == []


def test_a_rule_about_fewer_people_is_left_out():
    column, sensitive = np.array([0] * 4 + [1] * 16), np.array([1] * 4 + [0] * 16)
    found = revealing_rules([column], [2], sensitive, 2)
    assert [rule.premise for rule in found] == [((0, 1),)]
