"""Groups are those that a plain dictionary finds."""

from collections import Counter

import numpy as np
import pytest

from coterie.anonymity.risk.grouping import (
    counted_sizes,
    group_sizes,
    grouped,
    numbered,
    pairs_together,
    pairs_within,
    whole,
)
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


@pytest.mark.parametrize("most", [1, 3, 7, 50, None])
def test_groups_of_some_records_at_a_time_have_the_sizes_of_all(most):
    rng = np.random.default_rng(4)
    columns = [rng.integers(0, size, 50).astype(np.uint8) for size in (2, 3, 4)]
    rows = list(zip(*(column.tolist() for column in columns), strict=True))
    expected = sorted(Counter(rows).values())
    found = counted_sizes(columns, 50, most)
    assert sorted(np.repeat(found.size, found.times)) == expected
    assert (len(found), found.records, found.smallest) == (len(expected), 50, expected[0])
    assert found.uniques == expected.count(1)
    assert found.below(3) == sum(size for size in expected if size < 3)
    assert found.together == sum(size * (size - 1) // 2 for size in expected)


@pytest.mark.parametrize("widest", [3, 2**31 - 1])
def test_every_record_but_the_first_of_its_group_is_in_a_pair_with_the_first(widest):
    rng = np.random.default_rng(5)
    columns = [rng.choice([0, 1, widest], 60).astype(np.int64) for _ in range(3)]
    rows = list(zip(*(column.tolist() for column in columns), strict=True))
    found = sorted(
        (int(b), int(a))
        for one, other in pairs_together(columns, 60)
        for a, b in zip(one, other, strict=True)
    )
    assert found == [(i, rows.index(row)) for i, row in enumerate(rows) if rows.index(row) < i]
