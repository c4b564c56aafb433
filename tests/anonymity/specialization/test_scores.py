"""Scores as whole numbers, beside 80 digits of the decimal module."""

from fractions import Fraction

import numpy as np
import pytest

from coterie.anonymity.specialization import scores
from coterie.anonymity.specialization.scores import RULES, SCALE, Effect, best_split, nearest
from tests.anonymity.specialization import exact_scores

NOTHING = np.empty((0, 0))


def random_tables(seed, count):
    """Counts of all sizes, up to 10^7 records: spread, pure, lopsided, independent of the class."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        shape = int(rng.integers(2, 7)), int(rng.integers(2, 5))
        most = int(10 ** rng.uniform(0.3, 6.0))
        table = rng.integers(0, most, shape, endpoint=True)
        way = rng.integers(4)
        if way == 0:
            table[rng.random(shape) < 0.5] = 0
        elif way == 1:
            table[1:] = rng.integers(0, 3, (shape[0] - 1, shape[1]))
        elif way == 2:
            table = np.outer(rng.integers(1, 1000, shape[0]), rng.integers(1, 300, shape[1]))
        if table.sum():
            yield table.tolist()


@pytest.mark.parametrize("seed", range(4))
def test_gains_and_ratios_are_the_exact_ones_rounded(seed):
    for table in random_tables(seed, 150):
        assert scores.information_gain(table) == exact_scores.information_gain(table), table
        assert scores.gain_ratio(table) == exact_scores.gain_ratio(table), table


def test_ten_million_records_and_a_single_other_one():
    for table in ([[9_999_999, 0], [0, 1]], [[5_000_000, 4_999_998], [1, 1]], [[1, 0], [0, 1]]):
        assert scores.information_gain(table) == exact_scores.information_gain(table)
        assert scores.gain_ratio(table) == exact_scores.gain_ratio(table)


def test_where_64_bits_do_not_decide_more_are_taken(monkeypatch):
    """The first computation is never trusted here, so that the second gives every answer."""
    expected = [
        (exact_scores.information_gain(t), exact_scores.gain_ratio(t)) for t in random_tables(9, 60)
    ]
    monkeypatch.setattr(scores, "ULPS", 1 << 58)
    found = [(scores.information_gain(t), scores.gain_ratio(t)) for t in random_tables(9, 60)]
    assert found == expected


def test_the_error_bound_matters(monkeypatch):
    """Some counts lie so near to a half that 64 bits alone would round them wrongly."""
    monkeypatch.setattr(scores, "ULPS", 0)
    rng = np.random.default_rng(3)
    wrong = 0
    for _ in range(4000):
        table = [[10_000_000 - int(rng.integers(1000)), 1], [int(rng.integers(3)), 1]]
        wrong += scores.gain_ratio(table) != exact_scores.gain_ratio(table)
    assert wrong


def test_the_gain_for_the_loss_of_anonymity_is_rounded_once():
    rng = np.random.default_rng(6)
    for table in random_tables(6, 80):
        losses = [int(n) for n in rng.integers(0, 50, int(rng.integers(1, 4)))]
        smallest = [(loss + 3, 3) for loss in losses]
        divisor = 1 + Fraction(sum(losses), len(losses))
        found = RULES["information-gain-per-anonymity-loss"].score(
            Effect(table, NOTHING, smallest, 0)
        )
        assert found == exact_scores.information_gain(table, divisor)


def test_discernibility_is_a_fraction_rounded_once():
    rng = np.random.default_rng(7)
    for _ in range(100):
        sizes = rng.integers(0, 4_000_000, (3, 3))
        records = int(sizes.sum()) + int(rng.integers(100))
        fall = sum(sum(row) ** 2 - sum(n * n for n in row) for row in sizes.tolist())
        found = RULES["discernibility"].score(Effect([], sizes, (), records))
        assert found == round(Fraction(fall * SCALE, records**2))


def test_a_half_goes_to_the_even_number():
    assert [nearest(n, 2) for n in (-3, -1, 1, 3, 5)] == [-2, 0, 0, 2, 2]
    assert [nearest(n, 3) for n in (1, 2, 4, 5)] == [0, 1, 1, 2]


def test_one_child_or_one_class_scores_nothing():
    for table in ([[3, 4], [0, 0]], [[3, 0], [4, 0]], [[2, 4], [1, 2]]):
        assert scores.gain_ratio(table) == 0 == scores.information_gain(table)


def plain_best_split(counts, by_size):
    """The first place with the largest rounded value."""
    occurring = [j for j in range(counts.shape[1]) if counts[:, j].any()]
    best = None
    for place in occurring[1:]:
        parts = [counts[:, :place].sum(axis=1).tolist(), counts[:, place:].sum(axis=1).tolist()]
        if by_size:
            shares = [Fraction(sum(part), int(counts.sum())) for part in parts]
            value = round((1 - sum(share**2 for share in shares)) * SCALE)
        else:
            value = exact_scores.information_gain(parts)
        if best is None or value > best[0]:
            best = value, place
    return None if best is None else best[1]


@pytest.mark.parametrize("by_size", [False, True])
@pytest.mark.parametrize("most", [1, 2, 40, 100_000])
def test_the_best_split_is_the_first_of_the_largest_exact_gain(by_size, most):
    rng = np.random.default_rng(most)
    for _ in range(40):
        counts = rng.integers(0, most, (int(rng.integers(1, 4)), 8), endpoint=True)
        counts[:, rng.random(8) < 0.3] = 0
        if rng.random() < 0.3:  # mirrored columns have equal gains at two places
            counts = np.hstack([counts, counts[:, ::-1]])
        assert best_split(counts.astype(np.int32), by_size) == plain_best_split(counts, by_size)


def test_the_best_split_is_the_same_when_64_bits_are_not_trusted(monkeypatch):
    rng = np.random.default_rng(8)
    tables = [rng.integers(0, 30, (2, 12)).astype(np.int32) for _ in range(20)]
    expected = [best_split(counts) for counts in tables]
    monkeypatch.setattr(scores, "ULPS", 1 << 40)
    assert [best_split(counts) for counts in tables] == expected


def test_a_quantile_split_leaves_even_groups_of_k_to_further_splits():
    def groups(sizes, k):
        """The sizes of the groups that splits lead to, as long as both sides have k."""
        place = scores.quantile_split(np.array(sizes), k)
        if place is None or min(sum(sizes[:place]), sum(sizes[place:])) < k:
            return [sum(sizes)]
        return groups(sizes[:place], k) + groups(sizes[place:], k)

    assert groups([1] * 30, 10) == [10, 10, 10]
    for records in range(1, 60):
        for k in range(1, records + 1):
            found = groups([1] * records, k)
            assert len(found) == records // k
            assert max(found) - min(found) <= 1
    assert scores.quantile_split(np.array([0, 4, 0]), 1) is None
    assert scores.quantile_split(np.array([9, 1, 2]), 4) == 1
