"""Whether sums would be over a few people, counted plainly and decided on shares."""

from itertools import product

import numpy as np
import pytest

from coterie.protocols.messaging.memory import run_parties
from coterie.protocols.models.small_support import (
    FEW,
    PAIRED,
    all_large,
    least_count,
    support_counts,
    supported,
)
from coterie.protocols.primitives.randomness import Random
from coterie.protocols.statistics.hidden_counts import HiddenCounts

NAMES = ("a", "b", "c")


def decided(tables, minimum):
    def party(name):
        def run(channel):
            hidden = HiddenCounts(channel, NAMES, ("a", "b"), Random(name))
            mine = support_counts(tables[name])
            return all_large(hidden, NAMES, mine, minimum, Random(f"{name} counts"))

        return run

    found = set(run_parties({name: party(name) for name in NAMES}).values())
    assert len(found) == 1
    return found.pop()


def plainly(table, minimum):
    """By the rule as the module states it, one record at a time."""
    for i, j in product(range(table.shape[1]), repeat=2):
        for a, b in product((0, 1), repeat=2):
            count = sum(1 for row in table if row[i] != a and row[j] != b)
            if 0 < count < minimum:
                return False
    return True


@pytest.mark.parametrize("seed", range(6))
def test_the_decision_is_that_of_a_plain_count(seed):
    rng = np.random.default_rng(seed)
    table = (rng.random((40, 3)) < [0.5, 0.3 + 0.1 * (seed % 2), 0.5]).astype(float)
    tables = dict(zip(NAMES, np.array_split(table, 3), strict=True))
    results = {minimum: decided(tables, minimum) for minimum in (1, 4, 12)}
    assert results == {minimum: plainly(table, minimum) for minimum in (1, 4, 12)}


def test_one_record_that_differs_is_noticed_and_numbers_are_not():
    rng = np.random.default_rng(3)
    table = np.column_stack([rng.normal(size=30), np.zeros(30)])
    tables = dict(zip(NAMES, np.array_split(table, 3), strict=True))
    assert decided(tables, 5)
    tables["c"][-1, 1] = 7.0
    assert not decided(tables, 5)


def of(*values):
    column = np.array(values, float)[:, None]
    return supported(column, np.rint(1000 * column).astype(np.int64))


@pytest.mark.parametrize("codes", [(0, 1), (2, 3), (-7.5, 40), (1, 0)])
def test_two_values_are_counted_alike_in_any_coding(codes):
    cells, least = of(*[codes[0]] * 9, codes[1])
    assert least.tolist() == [1]
    assert sorted(cells.sum(axis=(0, 1)).tolist()) == [0, 0, 1, 9]


def test_each_value_of_a_column_of_few_is_counted_and_of_many_what_is_not_common():
    few = [value for value in range(FEW) for _ in range(6)]
    assert of(*few)[1].tolist() == [6]
    assert of(*few[:-4])[1].tolist() == [2]
    many = [*few, *[FEW] * 6]
    cells, least = of(*many)
    assert cells[:, 0].sum(axis=0).tolist() == [len(many) - 6, 0, 0, 0]  # those that are not 0
    assert least.tolist() == [len(many) - 6]
    far = [3.0] * 500 + list(range(100, 120))
    assert of(*far)[1].tolist() == [20]  # those that are not 3, each of another value
    assert of(*[3.0] * 500, 10**6)[1].tolist() == [1]
    assert PAIRED < FEW


def test_the_least_count_is_zero_or_large_if_all_are():
    assert least_count(np.array([0, 7, 5])) == 5
    assert least_count(np.array([0, 0])) == 0
