"""Pairs that a model ranks rightly, beside a count of all pairs."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from coterie.protocols.messaging.memory import run_parties
from coterie.protocols.models.concordance import bounds_of_classes, counted, ranked
from coterie.protocols.primitives.randomness import Random

NAMES = ("a", "b", "c")


def jointly(parts):
    def party(name):
        return lambda channel: ranked(channel, NAMES, ("c", "a"), *parts[name], Random(name))

    found = set(run_parties({name: party(name) for name in NAMES}).values())
    assert len(found) == 1
    return found.pop()


def test_the_area_under_the_curve_is_that_of_scikit_learn_within_the_ties():
    rng = np.random.default_rng(1)
    y = rng.random(200) < 0.4
    score = rng.normal(size=200) + y
    bounds = bounds_of_classes(0.4, 1.1, 64)
    parts = {}
    for name, at in zip(NAMES, np.array_split(np.arange(200), 3), strict=True):
        sides = (np.where(side, 0, -1) for side in (y[at], ~y[at]))
        parts[name] = tuple(counted(side, score[at], bounds, 1) for side in sides)
    right, ties, pairs = jointly(parts)
    assert pairs == y.sum() * (~y).sum()
    assert abs(right / (2 * pairs) - roc_auc_score(y, score)) <= ties / (2 * pairs)
    assert ties / pairs < 0.05


def test_pairs_are_counted_within_rows_only():
    rng = np.random.default_rng(2)
    tables = {name: rng.integers(0, 5, (2, 3, 4)).astype(np.uint64) for name in NAMES}
    high, low = sum(table.astype(int) for table in tables.values())
    right = ties = 0
    for row in range(3):
        for b in range(4):
            for c in range(4):
                number = high[row, b] * low[row, c]
                right += number * (2 if c < b else 1 if c == b else 0)
                ties += number * (b == c)
    pairs = sum(high[row].sum() * low[row].sum() for row in range(3))
    assert jointly(tables) == (right, ties, pairs)


def test_scores_on_a_bound_and_beyond_the_last_have_a_class():
    bounds = bounds_of_classes(0, 1, 4)
    scores = np.array([-9.0, bounds[0], 0.1, 9.0, 5.0])
    rows = np.array([0, 0, 0, 0, -1])
    assert counted(rows, scores, bounds, 1).tolist() == [[2, 0, 1, 1]]
    assert bounds[1] == pytest.approx(0)
