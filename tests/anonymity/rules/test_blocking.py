"""Unknowns leave no certain rule, and do not tell what they hide."""

import numpy as np
import pytest

from coterie.anonymity.rules.blocking import block, certain_confidence
from coterie.anonymity.rules.mining import Rule


def baskets(seed):
    rng = np.random.default_rng(seed)
    table = rng.random((4, 60)) < 0.5
    table[1] |= table[0]
    return table, rng


@pytest.mark.parametrize("seed", range(3))
def test_the_least_support_or_confidence_is_a_margin_below(seed):
    table, rng = baskets(seed)
    rules = [Rule((0,), (1,)), Rule((2,), (3,))]
    unknown = block(table, rules, 0.2, 0.5, 0.1, 1.0, rng.bytes)
    for rule in rules:
        # In the worst case for whoever looks: every unknown of the rule is absent, of X there.
        certain = table & ~unknown
        least = sum(certain[list(rule.whole), t].all() for t in range(60))
        most = sum((table | unknown)[list(rule.premise), t].all() for t in range(60))
        assert certain_confidence(table, unknown, rule) == (least, least / most)
        assert least < 0.1 * 60 or least < 0.4 * most


def test_as_many_unknowns_hide_nothing_as_hide_an_item():
    table, rng = baskets(7)
    unknown = block(table, [Rule((0,), (1,))], 0.2, 0.5, 0.1, 1.0, rng.bytes)
    real, decoys = int((unknown & table).sum()), int((unknown & ~table).sum())
    absent = int((~table[1]).sum())
    assert real > 0
    assert decoys == min(real, absent)
    assert not unknown[[0, 2, 3]].any()


def test_a_rule_that_is_far_below_needs_no_unknown():
    table, rng = baskets(8)
    table[1] = False
    assert not block(table, [Rule((0,), (1,))], 0.2, 0.5, 0.1, 1.0, rng.bytes).any()
