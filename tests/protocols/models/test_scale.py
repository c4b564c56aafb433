"""Means and deviations of all parties' columns beside those of the pooled table."""

import numpy as np
import pytest

from coterie.base.errors import DataError
from coterie.protocols.messaging.memory import run_same
from coterie.protocols.models.exact_sums import ExactSums
from coterie.protocols.models.scale import ROWS, Scale, in_rows, pooled_scale
from coterie.protocols.primitives.randomness import Random

NAMES = ["a", "b", "c"]


def scaled(table):
    parts = dict(zip(NAMES, np.array_split(table, 3), strict=True))

    def party(channel):
        sums = ExactSums(channel, NAMES, Random(channel.me))
        return pooled_scale(sums, parts[channel.me], len(table), ["x", "y"])

    found = run_same(NAMES, party)
    assert found["a"] == found["b"] == found["c"]
    return found["a"]


def test_the_scale_is_that_of_the_pooled_table():
    table = np.random.default_rng(1).normal([1e6, -3], [2, 50], (3 * ROWS + 7, 2))
    scale = scaled(table)
    np.testing.assert_allclose(scale.means, table.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(scale.deviations, table.std(axis=0), rtol=1e-9)
    out = np.empty_like(table)
    np.testing.assert_allclose(scale.moved(table, out), (table - table.mean(0)) / table.std(0), atol=1e-9)  # fmt: skip
    assert out.std() == pytest.approx(1)


def test_a_constant_column_is_named():
    with pytest.raises(DataError, match="'y' has the same value in all records"):
        scaled(np.column_stack([np.arange(9.0), np.ones(9)]))


@pytest.mark.parametrize("records", [0, 1, ROWS, ROWS + 1, 3 * ROWS])
def test_parts_cover_all_records_once(records):
    places = np.arange(records)
    parts = [places[rows] for rows in in_rows(records)]
    assert np.array_equal(np.concatenate([*parts, places[:0]]), places)
    assert all(0 < len(part) <= ROWS for part in parts)


def test_a_scale_moves_by_its_mean_and_deviation():
    assert Scale([1.0], [2.0]).moved(np.array([[5.0]])) == 2.0
