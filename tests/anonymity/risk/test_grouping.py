"""Groups are those that a plain dictionary finds."""

import numpy as np
import pytest

from coterie.anonymity.risk.grouping import group_sizes, grouped, numbered, pairs_within, whole
from tests.anonymity.risk.people import codes_of, group_counts, random_rows


@pytest.mark.parametrize("seed", range(10))
def test_groups_are_the_records_alike_in_all_columns(seed):
    rng = np.random.default_rng(seed)
    rows = random_rows(rng, int(rng.integers(1, 60)), rng.integers(1, 9, 5))
    columns = codes_of(rows)
    found = grouped(columns, len(rows))
    seen = {}
    for row, number in zip(rows, found.numbers.tolist(), strict=True):
        assert seen.setdefault(row, number) == number
    assert sorted(seen.values()) == list(range(found.count))
    expected = sorted(group_counts(rows, range(5)).values())
    assert sorted(found.sizes) == expected == sorted(group_sizes(columns, len(rows)))


def test_large_keys_are_hashed_and_stay_exact():
    keys = np.array([0, 2**61, 5, 2**61, 5 + 2**40, 0], np.int64)
    found = numbered(keys, 2**62)
    assert found.numbers.tolist() == [0, 1, 2, 1, 3, 0]
    assert found.count == 4


def test_without_columns_all_records_are_one_group():
    assert grouped([], 7).sizes.tolist() == [7]
    assert whole(0).count == 0
    assert group_sizes([], 0).tolist() == []


def test_pairs_are_counted_beyond_32_bits():
    assert pairs_within(np.array([10_000_000, 1])) == 10_000_000 * 9_999_999 // 2
