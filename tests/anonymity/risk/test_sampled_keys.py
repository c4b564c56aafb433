"""Sampled keys: sizes of the samples, and what they promise."""

import math

import numpy as np
import pytest

from coterie.anonymity.risk.ratios import ratios_of
from coterie.anonymity.risk.sampled_keys import (
    cover,
    distinct_key,
    draw_pairs,
    logarithm,
    pairs_for_separation,
    pairs_for_share,
    records_for_distinct,
    separation_key,
    share_set,
)
from tests.anonymity.risk.people import codes_of, random_rows


def test_the_sizes_of_the_samples_for_adult():
    assert round(logarithm(14, 0.01), 4) == 14.3092
    assert pairs_for_separation(14, 0.001, 0.01) == 14303
    assert records_for_distinct(14, 29096, 0.1, 0.01) == 2739
    assert records_for_distinct(14, 100, 0.1, 0.01) == 100
    assert pairs_for_share(14, 0.9, 0.1, 0.01) == math.ceil(16 * logarithm(14, 0.01) / 0.009)


@pytest.mark.parametrize("records", [2, 3, 10, 57])
def test_pairs_are_different_and_of_different_records(records):
    every = records * (records - 1) // 2
    for number in (1, every // 4 + 1, every // 2 + 1, every, every + 5):
        one, other = draw_pairs(records, number, np.random.default_rng(1))
        assert len(one) == min(number, every)
        assert (one < other).all()
        assert (other < records).all()
        assert len(set(zip(one.tolist(), other.tolist(), strict=True))) == len(one)


def test_every_pair_is_drawn_as_often_as_any_other():
    counts = np.zeros((6, 6))
    rng = np.random.default_rng(3)
    for _ in range(3000):
        one, other = draw_pairs(6, 3, rng)
        counts[one, other] += 1
    drawn = counts[np.triu_indices(6, 1)]
    assert np.abs(drawn / drawn.mean() - 1).max() < 0.15


def test_places_of_large_tables_are_exact():
    one, other = draw_pairs(10_000_000, 100_000, np.random.default_rng(0))
    assert (one >= 0).all()
    assert (one < other).all()
    assert other.max() < 10_000_000


@pytest.mark.parametrize("seed", range(20))
def test_the_promised_ratios_are_kept(seed):
    rng = np.random.default_rng(seed)
    rows = list(dict.fromkeys(random_rows(rng, 400, (30, 12, 9, 5, 4, 2))))
    columns, records = codes_of(rows), len(rows)
    chosen = separation_key(columns, records, 0.01, 0.001, rng)
    assert ratios_of([columns[j] for j in chosen], records).separation >= 0.99
    chosen = distinct_key(columns, records, 0.2, 0.001, rng)
    assert ratios_of([columns[j] for j in chosen], records).distinct >= 0.8
    chosen = share_set(columns, records, 0.95, 0.1, 0.001, rng)
    assert ratios_of([columns[j] for j in chosen], records).separation >= 0.9 * 0.95


def test_pairs_alike_in_all_columns_end_the_search():
    apart = np.array([[True, False], [False, True], [False, False]])
    assert cover(apart, 3) == (0, 1)
    assert cover(apart, 1) == (0,)
