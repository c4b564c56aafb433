"""Mondrian with several sensitive columns: both halves of every cut, and no other result than by trying all cuts."""

import numpy as np
import pytest

from coterie.anonymity.algorithms.conditions import condition_of, judged_table
from coterie.anonymity.algorithms.mondrian import Options, mondrian, partition_table
from coterie.anonymity.models.options import joint_model_from_options, model_from_options
from coterie.anonymity.models.tuple_cuts import TupleCuts
from coterie.anonymity.specialization.specialize import Requirement
from coterie.anonymity.table.columns import ContinuousColumn
from coterie.anonymity.table.table import Labels, Table
from tests.anonymity.models import plain_joint

QID, SENSITIVE = ("x", "y"), ("s", "t", "u")


def made(records=60, seed=1, values=(5, 4, 4)):
    rng = np.random.default_rng(seed)
    columns = []
    for name in QID:
        found, codes = np.unique(rng.integers(0, 12, records), return_inverse=True)
        columns.append(ContinuousColumn(name, codes.astype(np.uint32), found.astype(float)))
    labels = {
        name: Labels(rng.integers(0, size, records), tuple(f"{name}{i}" for i in range(size)))
        for name, size in zip(SENSITIVE, values, strict=True)
    }
    return Table(tuple(columns), labels)


def required(least, most=None, k=4):
    options = {"l": least} | ({"most": most} if most else {})
    return Requirement(QID, k, SENSITIVE, joint_model_from_options(SENSITIVE, options))


def groups(table, part):
    rows = np.stack([table.labels[name].codes for name in SENSITIVE], axis=1)
    return [[tuple(row) for row in rows[part == at].tolist()] for at in range(part.max() + 1)]


@pytest.mark.parametrize("most", [None, {"t": 1}])
@pytest.mark.parametrize("options", [Options(), Options(rule="spread"), Options(relaxed=True)])
def test_every_group_is_diverse_and_no_record_is_lost(options, most):
    table = made()
    requirement = required(3, most)
    answer = mondrian(table, [requirement], 0, options)
    assert len(answer.kept) == table.records
    assert answer.details["parts"] > 1
    answer.anonymity([requirement])
    judged = judged_table(table, [requirement])
    part = partition_table(judged, condition_of(requirement, judged), options).part
    limits = {1: 1} if most else None
    assert all(plain_joint.is_diverse(group, 3, limits) for group in groups(table, part))


def test_the_bisection_chooses_the_cuts_that_trying_all_of_them_would(monkeypatch):
    for seed in range(4):
        table = made(seed=seed)
        judged = judged_table(table, [required(3)])
        condition = condition_of(required(3), judged)
        quick = partition_table(judged, condition, Options()).part
        with monkeypatch.context() as patched:
            patched.setattr(
                TupleCuts, "_span", lambda self, codes, records, cuts: (1, 0), raising=True
            )
            patched.setattr("coterie.anonymity.models.joint_diversity.JointDiversity.grows", False)
            assert partition_table(judged, condition, Options()).part.tolist() == quick.tolist()


def test_a_bound_on_one_column_holds_beside_the_joint_one():
    table = made()
    alone = Requirement(("x",), 4, "s", model_from_options({"alpha": 0.5}))
    answer = mondrian(table, [required(2), alone])
    answer.anonymity([required(2), alone])
    assert answer.details["parts"] > 1


def test_the_baseline_cuts_where_every_combination_shows_enough_values():
    """All combinations of three values twice: one cut is allowed."""
    rows = [(i, j, k) for i in range(2) for j in range(2) for k in range(2)] * 2
    codes = np.repeat([0, 1], len(rows) // 2).astype(np.uint32)
    columns = tuple(ContinuousColumn(name, codes, np.array([1.0, 2.0])) for name in QID)
    labels = {
        name: Labels(np.array([row[at] for row in rows]), ("a", "b"))
        for at, name in enumerate(SENSITIVE)
    }
    model = joint_model_from_options(SENSITIVE, {"l": 2, "diversity": "exponential"})
    answer = mondrian(Table(columns, labels), [Requirement(QID, 2, SENSITIVE, model)])
    assert answer.details["parts"] == 2
