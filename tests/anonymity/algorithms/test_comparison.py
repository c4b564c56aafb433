"""Methods compared on one table: their figures are those of the releases that they make."""

import numpy as np
import pytest

from coterie.anonymity.algorithms.comparison import OF_JOBS, OF_TABLES, advised, compared
from coterie.anonymity.specialization.specialize import Requirement
from coterie.anonymity.table.columns import ContinuousColumn
from coterie.anonymity.table.table import Labels, Table

NEEDS = [Requirement(("a", "b"), 5)]


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(1)
    places = rng.integers(0, 40, (2, 600))
    columns = [
        ContinuousColumn(name, codes.astype(np.uint8), np.arange(40.0), (0, 40))
        for name, codes in zip("ab", places, strict=True)
    ]
    behind = (places[0] > places[1]).astype(np.uint8)
    return Table(tuple(columns), {"Class": Labels(behind, ("n", "y"))})


@pytest.mark.parametrize("ways", [OF_JOBS, OF_TABLES])
def test_the_way_that_keeps_most_comes_first_and_every_way_keeps_the_promise(table, ways):
    found = compared(table, NEEDS, "Class", ways)
    assert {one.keys for one in found} == set(ways)
    details = [one.detail for one in found]
    assert details == sorted(details, reverse=True)
    for keys, way in ways.items():
        made = way(table, NEEDS, 0, "Class")
        assert made.anonymity(NEEDS)[0]["smallest"] >= 5
        [own] = [one for one in found if one.keys == keys]
        assert own.detail == pytest.approx(1 - made.utility().normalised_width, abs=1e-6)
        assert own.class_error == made.utility_by_use("Class").class_error.release
    assert found[-1].keys == "method: specialize"  # which recodes whole columns


def test_without_a_class_specialization_names_the_score_that_needs_none(table):
    found = compared(table, NEEDS, None, OF_JOBS)
    assert all(one.class_error is None for one in found)
    assert {one.keys for one in found if "specialize" in one.keys} == {
        "method: specialize, score: discernibility",
        "method: specialize, refine: groups, score: discernibility",
    }
    assert not any("class" in line for line in advised(found))


def test_what_not_even_the_whole_table_satisfies_is_kept_by_no_way(table):
    assert compared(table, [Requirement(("a", "b"), 601)], None, OF_JOBS) == []
    assert advised([]) == []


def test_a_better_class_error_of_another_method_is_said(table):
    found = compared(table, NEEDS, "Class", OF_JOBS)
    least = min(found, key=lambda one: one.class_error)
    said = [line for line in advised(found) if line.startswith("for a classifier")]
    assert bool(said) == (found[0].class_error > least.class_error + 0.005)
