"""Counts that a reader of an anatomised release estimates, against the formula and the table."""

import csv

import pytest

from coterie.base.errors import UsageError
from coterie.onetable.methods.anatomy.query import estimated_count
from tests.onetable.methods.anatomy.test_run import ANATOMY, JOINT
from tests.onetable.people import anonymised


def lines(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_counts_are_exact_without_a_sensitive_condition_and_estimated_with_one(tmp_path):
    anonymised(tmp_path, ANATOMY)
    out, people = tmp_path / "out", lines(tmp_path / "people.csv")
    old = [row for row in people if 30 <= int(row["Age"]) <= 50 and row["Sex"] == "F"]
    asked = {"Age": (30, 50), "Sex": "F"}
    assert estimated_count(out, asked) == len(old)
    flu = sum(row["Ill"] == "flu" for row in people)
    assert estimated_count(out, {"Ill": "flu"}) == pytest.approx(flu)
    shown, ill = lines(out / "release.csv"), lines(out / "sensitive/1.csv")
    expected = 0.0
    for group in {row["Group"] for row in shown}:
        inside = [row for row in shown if row["Group"] == group]
        fits = [row for row in inside if 30 <= int(row["Age"]) <= 50 and row["Sex"] == "F"]
        times = sum(int(r["Count"]) for r in ill if r["Group"] == group and r["Ill"] != "gout")
        expected += len(fits) * times / len(inside)
    assert estimated_count(out, asked | {"Ill": ["flu", "cold"]}) == pytest.approx(expected)
    with pytest.raises(UsageError, match="the links between Ill, Class are not published"):
        estimated_count(out, {"Ill": "flu", "Class": "y"})
    with pytest.raises(UsageError, match="has no column 'Zip'"):
        estimated_count(out, {"Zip": "1"})


def test_a_joint_table_answers_about_several_sensitive_columns(tmp_path):
    anonymised(tmp_path, JOINT)
    people = lines(tmp_path / "people.csv")
    both = sum(row["Ill"] == "flu" and row["Class"] == "y" for row in people)
    found = estimated_count(tmp_path / "out", {"Ill": "flu", "Class": "y"})
    assert found == pytest.approx(both)


def test_a_generalized_release_is_refused(tmp_path):
    anonymised(tmp_path)
    with pytest.raises(UsageError, match="is not the result of 'method: anatomy'"):
        estimated_count(tmp_path / "out", {"Sex": "F"})
