"""The integer programme against enumeration of all removals of small tables."""

from itertools import combinations

import numpy as np
import pytest

from coterie.anonymity.rules import exact
from coterie.anonymity.rules.exact import TooLargeError, hide_exactly
from coterie.anonymity.rules.mining import Rule, count, frequent_sets, maximal

pytest.importorskip("scipy")


def best(table, sensitive, least, border):
    """The fewest lost sets of the border, and the fewest removals for that, by trying all."""
    cells = np.argwhere(table).tolist()
    cells = [(i, t) for i, t in cells if i in sensitive and table[list(sensitive), t].all()]
    answer = None
    for number in range(len(cells) + 1):
        for chosen in combinations(cells, number):
            tried = table.copy()
            for i, t in chosen:
                tried[i, t] = False
            if count(tried, sensitive) < least:
                lost = sum(count(tried, items) < least for items in border)
                answer = min(answer, (lost, number)) if answer else (lost, number)
    return answer


@pytest.mark.parametrize("seed", [0, 1, 2, 3, 5])
def test_nothing_better_exists(seed):
    table = np.random.default_rng(seed).random((4, 7)) < 0.75
    least = 3
    kept = [s for s in frequent_sets(table, least, 3) if not {0, 1} <= set(s)]
    border = maximal(kept)
    assert count(table, (0, 1)) >= least, "there is nothing to hide"
    done = hide_exactly(table, [Rule((0,), (1,))], least, kept)
    assert count(done, (0, 1)) < least
    lost = sum(count(done, items) < least for items in border)
    assert (lost, int((table & ~done).sum())) == best(table, (0, 1), least, border)


def test_a_programme_that_is_too_large_is_refused(monkeypatch):
    monkeypatch.setattr(exact, "MOST_VARIABLES", 5)
    table = np.ones((4, 30), bool)
    with pytest.raises(TooLargeError):
        hide_exactly(table, [Rule((0,), (1,))], 3, [(0, 2), (1, 3)])


def test_a_set_that_is_not_frequent_needs_nothing():
    table = np.zeros((3, 5), bool)
    assert (hide_exactly(table, [Rule((0,), (1,))], 2, []) == table).all()
