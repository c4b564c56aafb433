"""Utility measures against numbers worked out by hand."""

import numpy as np
import pytest

from coterie.anonymity.table.columns import categorical_column, continuous_column
from coterie.anonymity.table.table import Generalized, Table, regions_of_nodes, regions_of_ranks
from coterie.anonymity.utility.discernibility import weighted_discernibility
from coterie.anonymity.utility.measures import measured
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
