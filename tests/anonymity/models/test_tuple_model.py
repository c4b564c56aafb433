"""Several columns as one of tuples."""

import numpy as np
import pytest

from coterie.anonymity.models.exponential_diversity import ExponentialDiversity
from coterie.anonymity.models.tuple_model import join_columns


def test_columns_are_joined_into_the_tuples_that_occur():
    codes, tuples, texts = join_columns(
        [(np.array([1, 0, 1]), ("x", "y")), (np.array([0, 0, 0]), ("z",))]
    )
    assert [texts[code] for code in codes] == ["y, z", "x, z", "y, z"]
    assert tuples.tolist() == [[0, 0], [1, 0]]


def test_columns_with_more_combinations_than_a_number_holds_are_joined_alike():
    rng = np.random.default_rng(1)
    values = tuple(map(str, range(1 << 16)))
    columns = [(rng.integers(0, 3, 50), values) for _ in range(5)]
    codes, tuples, _ = join_columns(columns)
    small, few, _ = join_columns([(c, values[:3]) for c, _ in columns])
    assert codes.tolist() == small.tolist()
    assert tuples.tolist() == few.tolist()


def test_a_model_that_does_not_know_its_tuples_says_so():
    with pytest.raises(TypeError, match="has not been told which tuple is which"):
        ExponentialDiversity(2, ("a", "b")).holds_for(np.zeros(1, int), np.zeros(1, int), 1)
