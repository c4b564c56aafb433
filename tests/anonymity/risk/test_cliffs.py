"""A k at a cliff: paper 1's Adult case, and a planted one."""

import numpy as np
import pytest

from coterie.anonymity.risk.cliffs import cliffs
from coterie.anonymity.specialization.specialize import Labels, Requirement
from coterie.anonymity.table.columns import categorical_column
from coterie.anonymity.table.table import Table
from coterie.anonymity.table.taxonomy import taxonomy_of
from tests import ADULT

TREE = taxonomy_of([["a", "any"], ["b", "any"]])


def planted(counts):
    """Two columns of two values; `counts` has the records of aa, ab, ba, bb."""
    rows = [
        pair for pair, n in zip(("aa", "ab", "ba", "bb"), counts, strict=True) for _ in range(n)
    ]
    classes = np.array([i % 2 for i in range(len(rows))], np.uint8)
    columns = tuple(
        categorical_column(name, [row[at] for row in rows], TREE) for at, name in enumerate("xy")
    )
    return Table(columns, {"c": Labels(classes, ("n", "y"))})


def test_the_smallest_group_of_the_refused_step_is_the_k_that_permits_it():
    table = planted((30, 9, 40, 21))
    (cliff,) = cliffs(table, [Requirement(("x", "y"), 10)], None, "discernibility")
    assert (cliff.permitted, cliff.k) == (9, 10)
    assert cliffs(table, [Requirement(("x", "y"), 9)], None, "discernibility") == []


def test_a_table_can_be_looked_at_twice():
    table = planted((30, 9, 40, 21))
    needs = [Requirement(("x", "y"), 10)]
    assert cliffs(table, needs, "c", "gain-ratio") == cliffs(table, needs, "c", "gain-ratio")


@pytest.mark.skipif(not ADULT.exists(), reason="the Adult table is not beside the project")
def test_k_199_would_permit_marital_status_on_adult():
    from coterie.experiments.secure_data_integration.adult_data import load_adult, top

    adult = load_adult(ADULT)
    table = Table(tuple(adult.columns(top(7))), {"class": adult.classes})
    found = cliffs(table, [Requirement(top(7), 200)], "class", "gain-ratio")
    assert ("marital-status", 199) in [(cliff.attribute, cliff.permitted) for cliff in found]
