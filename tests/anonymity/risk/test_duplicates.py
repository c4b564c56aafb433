"""Likely duplicates: a planted one is found, and chance is not surprising."""

import numpy as np

from coterie.anonymity.risk.duplicates import likely_duplicates
from tests.anonymity.risk.people import codes_of, random_rows


def test_a_planted_pair_comes_first_with_the_column_in_which_it_differs():
    rows = random_rows(np.random.default_rng(1), 200, (100, 100, 30, 100, 100))
    rows[117] = (*rows[20][:2], 31, *rows[20][3:])
    rows[150] = rows[4]
    found = likely_duplicates(codes_of(rows), 200)
    planted = {(pair.one, pair.other): pair.differs for pair in found}
    assert planted[20, 117] == 2
    assert planted[4, 150] is None
    assert len(found) == 2


def test_agreement_on_frequent_values_surprises_nobody():
    rows = random_rows(np.random.default_rng(1), 200, (2, 3, 2))
    assert likely_duplicates(codes_of(rows), 200) == []


def test_a_column_that_tells_nothing_new_is_not_counted_twice():
    rows = [(a, a, b) for a, b in random_rows(np.random.default_rng(1), 60, (12, 9))]
    twice = likely_duplicates(codes_of(rows), 60)
    once = likely_duplicates(codes_of(rows), 60, counted=[0, 2])
    assert len(once) < len(twice) or (once == twice == [])
