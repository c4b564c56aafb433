"""The grid of a column, and synthetic values that are put on it."""

import numpy as np
import pytest

from coterie.anonymity.condensation.grid import Grid, grid_of, on_grid


@pytest.mark.parametrize(
    ("values", "grid"),
    [
        ([17, 18, 40], Grid(0, 1, 0)),
        ([1_000, 2_500, 4_000], Grid(0, 1_500, 1_000)),
        ([100, 300, 1_200], Grid(0, 100, 0)),
        ([0.5, 0.25, 2.0], Grid(2, 25, 0)),
        ([-3, 1, 5], Grid(0, 4, 1)),
        ([7.5, 7.5], Grid(1, None, 75)),
        ([np.pi, np.e], Grid(0, 0, 0)),
        ([1e300, 1.0], Grid(0, 0, 0)),
    ],
)
def test_the_grid_is_the_coarsest_that_has_all_values(values, grid):
    found = grid_of(np.array(values, float))
    assert found == grid
    assert found.has(np.array(values, float))


def test_values_in_pieces_give_the_grid_of_all():
    rng = np.random.default_rng(1)
    for _ in range(50):
        values = np.round(rng.integers(-400, 400, 30) * rng.choice([0.25, 1, 5, 100]), 2)
        cut = int(rng.integers(1, 29))
        assert grid_of(values[:cut]).with_values(values[cut:]) == grid_of(values)


def test_synthetic_values_are_clipped_and_rounded_and_counted():
    values, clipped, rounded = on_grid(np.array([16.2, 17.0, 33.4, 95.0]), Grid(0, 1, 0), (17, 90))
    assert values.tolist() == [17, 17, 33, 90]
    assert (clipped, rounded) == (2, 1)


def test_the_grid_may_lie_between_the_limits():
    values, _, _ = on_grid(np.array([0.0, 9.9]), Grid(0, 4, 1), (0, 8))
    assert values.tolist() == [1, 5]


def test_a_column_without_a_grid_is_only_clipped():
    values, clipped, rounded = on_grid(np.array([0.1, 2.0]), Grid(0, 0, 0), (0.5, 3))
    assert values.tolist() == [0.5, 2.0]
    assert (clipped, rounded) == (1, 0)
