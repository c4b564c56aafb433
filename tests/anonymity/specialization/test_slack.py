"""The slack at a cliff: of planted groups, of several entries, and of the Adult table."""

import numpy as np
import pytest

from coterie.anonymity.specialization.slack import SlackWatch
from coterie.anonymity.specialization.specialize import Labels, Requirement, Specializer
from coterie.anonymity.table.columns import categorical_column
from coterie.anonymity.table.taxonomy import taxonomy_of
from tests import ADULT

TREE = taxonomy_of([["a", "any"], ["b", "any"]])


def nearest(columns, classes, requirements, rule="gain-ratio"):
    """By entry: the k that permits a step, the steps before, and its attribute."""
    columns = {column.name: column for column in columns}
    trees = {name: column.tree for name, column in columns.items()}
    records = len(next(iter(columns.values())).codes)
    labels = {} if classes is None else {"c": classes}
    table = Specializer(
        trees, columns, labels, requirements, records, None if classes is None else "c", rule
    )
    watch = SlackWatch(table)
    while (candidate := table.propose()) is not None:
        step = table.instruction(candidate)
        watch.before(step)
        table.apply(step)
    watch.before(None)
    return {
        j: (found.permitted, found.after, table.names[found.attribute])
        for j, found in watch.nearest.items()
    }


def planted(**counts):
    """Columns x, y, z of two values; `aab=3` means three records with these."""
    rows = [values for values, n in counts.items() for _ in range(n)]
    return [
        categorical_column(name, [row[at] for row in rows], TREE)
        for name, at in zip("xyz", range(len(rows[0])), strict=False)
    ]


def test_the_smallest_group_of_the_refused_step_is_the_k_that_permits_it():
    columns = planted(aa=30, ab=9, ba=40, bb=21)
    found = nearest(columns, None, [Requirement(("x", "y"), 10)], "discernibility")
    assert found == {0: (9, 1, "y")}


@pytest.mark.parametrize(("few", "told"), [(4, {}), (5, {0: (5, 1, "y")}), (1, {})])
def test_a_group_below_half_of_k_is_not_told(few, told):
    columns = planted(aa=30, ab=few, ba=40, bb=21)
    found = nearest(columns, None, [Requirement(("x", "y"), 10)], "discernibility")
    assert found == told


def test_where_nothing_is_refused_there_is_no_slack():
    columns = planted(aa=30, ab=9, ba=40, bb=21)
    assert nearest(columns, None, [Requirement(("x", "y"), 9)], "discernibility") == {}


def test_a_step_that_two_entries_refuse_is_permitted_by_neither_alone():
    columns = planted(aaa=5, baa=50, bbb=50)
    needs = [Requirement(("x", "y"), 10), Requirement(("x", "z"), 10)]
    assert "x" not in {
        found[2] for found in nearest(columns, None, needs, "discernibility").values()
    }
    alone = nearest(columns, None, [needs[0]], "discernibility")
    assert alone[0][2] == "x"


@pytest.mark.skipif(not ADULT.exists(), reason="the Adult table is not beside the project")
def test_k_199_would_permit_marital_status_on_adult():
    from coterie.experiments.secure_data_integration.adult_data import load_adult, top

    adult = load_adult(ADULT)
    found = nearest(
        adult.columns(top(7)),
        Labels(adult.classes.codes.astype(np.uint8), adult.classes.values),
        [Requirement(top(7), 200)],
    )
    assert found[0][0::2] == (199, "marital-status")
