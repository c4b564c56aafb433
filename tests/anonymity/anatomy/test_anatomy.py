"""Anatomy: its groups, its two tables, and that neither tells which record has which value."""

import random
from collections import Counter

import numpy as np
import pytest

from coterie.anonymity.anatomy.anatomy import Anatomised, anatomise
from coterie.anonymity.models.options import joint_model_from_options, model_from_options
from coterie.anonymity.specialization.specialize import Requirement
from coterie.anonymity.table.table import Labels, Table
from coterie.base.errors import DataError
from tests.anonymity.models import plain_joint
from tests.anonymity.models.test_tuple_cuts import QID, SENSITIVE, made, required


def tables_of(answer):
    """The tables as texts, as a reader has them."""
    shown = answer.columns()
    rows = zip(
        *([c.labels[code] for code in c.codes.tolist()] for c in shown.values()),
        answer.groups.tolist(),
        strict=True,
    )
    lines = [
        sorted(
            (group, *(v.values[v.codes[at]] for v in table.values), int(table.counts[at]))
            for at, group in enumerate(table.groups.tolist())
        )
        for table in answer.sensitive_tables()
    ]
    return sorted(rows), lines


def test_every_group_is_diverse_and_every_value_is_exact():
    table = made()
    answer = anatomise(table, [required(3)], joint=True)
    assert sorted(set(answer.groups.tolist())) == list(range(1, len(answer.sizes) + 1))
    assert answer.sizes.min() >= 4
    assert len(answer.sizes) > 1
    rows, (lines,) = tables_of(answer)
    assert len(rows) == table.records
    exact = Counter(zip(*(table.column(n).places[table.column(n).codes] for n in QID), strict=True))
    assert Counter((float(x), float(y)) for x, y, _ in rows) == exact
    for group in range(1, len(answer.sizes) + 1):
        own = [line[1:-1] for line in lines if line[0] == group]
        assert plain_joint.is_diverse([tuple(map(str, row)) for row in own], 3)
        assert sum(line[-1] for line in lines if line[0] == group) == answer.sizes[group - 1]


def test_a_table_for_each_column_counts_each_alone():
    answer = anatomise(made(), [required(3)])
    tables = answer.sensitive_tables()
    assert [table.columns for table in tables] == [("s",), ("t",), ("u",)]
    assert all(table.counts.sum() == 60 for table in tables)


def test_the_tables_do_not_tell_which_record_of_a_group_has_which_value():
    """Values exchanged inside the groups leave both tables as they were."""
    table = made()
    answer = anatomise(table, [required(3)], True, random.Random(1))
    rng = np.random.default_rng(5)
    order = np.arange(60)
    for group in range(1, len(answer.sizes) + 1):
        inside = np.flatnonzero(answer.groups == group)
        order[inside] = rng.permutation(inside)
    labels = {n: Labels(c.codes[order], c.values) for n, c in table.labels.items()}
    other = Anatomised(Table(table.columns, labels), answer.groups, SENSITIVE, True)
    assert (order != np.arange(60)).any()
    assert tables_of(other) == tables_of(answer)


def test_group_numbers_are_drawn_anew():
    table = made()
    found = {tuple(anatomise(table, [required(2)]).groups.tolist()) for _ in range(3)}
    assert len(found) == 3


def test_equal_quasi_identifiers_stay_in_one_group():
    answer = anatomise(made(), [required(2)])
    rows, _ = tables_of(answer)
    assert len({row[:2] for row in rows}) == len(set(rows))


def test_requirements_without_a_common_column_hold_together():
    table = made()
    needs = [
        Requirement(("x",), 3, "s", model_from_options({"l": 2})),
        Requirement(("y",), 5, ("t", "u"), joint_model_from_options(("t", "u"), {"l": 2})),
    ]
    answer = anatomise(table, needs)
    found = answer.anonymity(needs)
    assert [entry["qid"] for entry in found] == [["x"], ["y"]]
    assert min(entry["smallest"] for entry in found) >= 5


def test_a_table_that_violates_a_requirement_as_a_whole_is_refused():
    with pytest.raises(DataError, match="not even the whole table satisfies joint 6-diversity"):
        anatomise(made(), [required(6)])
