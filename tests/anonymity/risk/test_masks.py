"""Columns to withhold: the paper's example, and the greedy rule counted plainly."""

import numpy as np
import pytest

from coterie.anonymity.risk.masks import published, published_by_pairs, sampled_threshold
from coterie.anonymity.risk.ratios import ratios_of
from coterie.base.errors import UsageError
from tests.anonymity.risk.people import (
    ROWS,
    SEX,
    STATE,
    codes_of,
    group_counts,
    random_rows,
    separation,
)


def test_the_worked_example():
    assert set(published(codes_of(ROWS), 5, 0.8, "distinct")) == {SEX, STATE}
    assert len(published(codes_of(ROWS), 5, 0.8, "separation")) == 1
    assert published(codes_of(ROWS), 5, 0.1, "separation") == ()


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("measure", ["separation", "distinct"])
def test_each_column_is_the_one_that_tells_least_and_the_limit_is_kept(seed, measure):
    rng = np.random.default_rng(seed)
    rows = random_rows(rng, 40, (2, 3, 4, 5, 2))
    beta = float(rng.uniform(0.2, 0.98))

    def ratio(chosen):
        if measure == "separation":
            return separation(rows, chosen)
        return len(group_counts(rows, chosen)) / len(rows)

    chosen = published(codes_of(rows), len(rows), beta, measure)
    assert not chosen or ratio(chosen) <= beta + 1e-12
    for at in range(len(chosen) + 1):
        others = [j for j in range(5) if j not in chosen[:at]]
        found = {j: ratio([*chosen[:at], j]) for j in others}
        if at < len(chosen):
            assert found[chosen[at]] == min(found.values())
        elif found:
            assert min(found.values()) > beta - 1e-12


@pytest.mark.parametrize("seed", range(10))
def test_a_sample_keeps_the_limit_of_the_whole_table(seed):
    rng = np.random.default_rng(seed)
    rows = random_rows(rng, 300, (2, 3, 4, 5, 2))
    columns = codes_of(rows)
    chosen = published_by_pairs(columns, 300, 0.9, 0.001, 3000, rng)
    assert ratios_of([columns[j] for j in chosen], 300).separation <= 0.9


def test_the_threshold_of_a_sample():
    assert round(sampled_threshold(14, 0.8, 0.01, 50_000), 4) == 0.7786
    with pytest.raises(UsageError, match="it takes more than 36"):
        sampled_threshold(14, 0.8, 0.01, 30)
