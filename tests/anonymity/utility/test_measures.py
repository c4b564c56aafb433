"""Utility measures against numbers worked out by hand."""

import numpy as np
import pytest

from coterie.anonymity.classifier.class_error import class_error, raw_class_error
from coterie.anonymity.table.columns import categorical_column, continuous_column
from coterie.anonymity.table.table import (
    Generalized,
    Labels,
    Table,
    regions_of_nodes,
    regions_of_ranks,
)
from coterie.anonymity.utility.discernibility import weighted_discernibility
from coterie.anonymity.utility.measures import measured
from coterie.anonymity.utility.queries import query_error
from tests.anonymity.small_tables import PLACES

CITIES = ["San Diego", "San Diego", "Los Angeles", "Wichita"]
AGES = ["20", "25", "30", "40"]


def example(kept: list[int]) -> tuple[Table, dict[str, Generalized], np.ndarray]:
    """California for three, the root for the last; ages 20 to 30 and 40."""
    place = categorical_column("place", CITIES, PLACES)
    age = continuous_column("age", AGES)
    nodes = np.array([PLACES.labels.index(x) for x in ("California",) * 3 + ("USA",)])
    shown = {
        "place": regions_of_nodes(place, nodes[kept]),
        "age": regions_of_ranks(
            age, np.array([0, 0, 0, 3])[kept], np.array([3, 3, 3, 4])[kept], True
        ),
    }
    return Table((place, age)), shown, np.array(kept)


def test_a_release_without_suppression():
    found = measured(*example([0, 1, 2, 3]))
    assert found.discernibility == 3 * 3 + 1
    # place: 2 of 5 leaves is 1/4, the root 1; age: 10 of 20 years, then an exact one.
    assert found.normalised_width == pytest.approx((3 * 0.25 + 1 + 3 * 0.5 + 0) / 8)
    # place: California is one of three levels up, the root three of three.
    assert found.precision == pytest.approx(1 - (3 / 3 + 1 + 3 * 0.5) / 8)
    # place: log2(3/2) twice, log2(3/1), log2(4/1) of at most log2(4/2) twice and 2 * log2(4).
    place = (2 * np.log2(1.5) + np.log2(3) + 2) / (2 * 1 + 2 * 2)
    age = 3 * np.log2(3) / 8
    assert found.entropy_loss == pytest.approx((place + age) / 2)


def test_suppressed_records_are_charged_in_every_measure():
    found = measured(*example([0, 1, 2]))
    assert found.discernibility == 9 + 4
    assert found.normalised_width == pytest.approx((3 * 0.25 + 1 + 3 * 0.5 + 1) / 8)
    assert found.precision == pytest.approx(1 - (3 / 3 + 1 + 3 * 0.5 + 1) / 8)
    place = (2 * np.log2(1.5) + np.log2(3) + 2) / 6
    assert found.entropy_loss == pytest.approx((place + (3 * np.log2(3) + 2) / 8) / 2)


def test_weighted_discernibility_is_zero_where_the_attribute_is_exact_and_at_most_the_plain_one():
    table, shown, _ = example([0, 1, 2, 3])
    assert weighted_discernibility(table, shown, {"age": 1.0}, 0) == pytest.approx(9 * 0.5)
    assert weighted_discernibility(table, shown, {"place": 1.0}, 0) == pytest.approx(9 / 4 + 1)
    exact = regions_of_ranks(table.columns[1], np.arange(4), np.arange(1, 5), True)
    assert weighted_discernibility(table, {"age": exact}, {"age": 1.0}, 0) == 0


def test_counts_of_an_exact_release_are_exact_and_of_one_group_as_even_as_the_values():
    rng = np.random.default_rng(1)
    values = [str(v) for v in rng.integers(0, 10, 400)]
    column = continuous_column("age", values)
    table = Table((column,))
    every = np.arange(400)
    exact = regions_of_ranks(column, column.codes, column.codes + 1, True)
    assert query_error(table, {"age": exact}, every).mean == 0
    whole = regions_of_ranks(column, np.zeros(400), np.full(400, 10), True)
    found = query_error(table, {"age": whole}, every)
    # Three of ten values: 120 records expected, and by hand as many as there are.
    counts = np.bincount(column.codes)
    by_hand = [abs(120 - counts[i : i + 3].sum()) / counts[i : i + 3].sum() for i in range(8)]
    assert min(by_hand) <= found.median <= max(by_hand)
    assert found.mean == pytest.approx(np.mean(by_hand), abs=0.03)
    assert query_error(table, {"age": whole}, every) == found
    gone = regions_of_ranks(column, column.codes[:200], column.codes[:200] + 1, True)
    assert query_error(table, {"age": gone}, every[:200]).mean > 0.3


def test_the_class_error_is_that_of_the_raw_table_where_nothing_is_hidden_and_grows_with_it():
    rng = np.random.default_rng(2)
    age = rng.integers(0, 20, 3000)
    classes = Labels(((age > 9) ^ (rng.random(3000) < 0.1)).astype(np.uint8), ("n", "y"))
    column = continuous_column("age", [str(v) for v in age])
    table, every = Table((column,)), np.arange(3000)
    exact = regions_of_ranks(column, column.codes, column.codes + 1, True)
    found = class_error(table, {"age": exact}, every, classes)
    assert found.release == found.raw == pytest.approx(0.1, abs=0.03)
    assert found.none == pytest.approx(0.5, abs=0.05)
    whole = regions_of_ranks(column, np.zeros(3000), np.full(3000, 20), True)
    hidden = class_error(table, {"age": whole}, every, classes)
    assert hidden.release == hidden.none
    assert hidden.raw == found.raw == raw_class_error(table, classes)
    half = regions_of_ranks(column, column.codes[:1500], column.codes[:1500] + 1, True)
    kept = class_error(table, {"age": half}, every[:1500], classes)
    assert kept.release == pytest.approx(0.55, abs=0.05)  # half of those tried are suppressed
