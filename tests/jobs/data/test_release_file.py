"""A release that is read again: its columns, its order, the claims about it."""

import codecs
from pathlib import Path

import numpy as np
import pytest

from coterie.anonymity.specialization.generalized import Requirement
from coterie.base.errors import UsageError, VerificationError
from coterie.jobs.data.release_file import (
    check_order,
    check_requirements,
    in_words,
    read_release,
)


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "release.csv"
    path.write_text("Sex,Job\nF,\nF,Cook\nM,Cook\nM,Cook\n")
    return path


def test_the_columns_are_read_as_text_and_a_missing_value_is_empty(path):
    table = read_release(path, ["Sex", "Job"], "the job")
    shown = {name: np.array(c.values)[c.codes].tolist() for name, c in table.items()}
    assert shown == {"Sex": list("FFMM"), "Job": ["", "Cook", "Cook", "Cook"]}
    path.write_bytes(codecs.BOM_UTF8 + path.read_bytes())
    marked = read_release(path, ["Sex", "Job"], "the job")
    assert {name: np.array(c.values)[c.codes].tolist() for name, c in marked.items()} == shown


def test_what_holds_is_said_with_what_was_promised():
    held = {"qid": ["Sex", "Job"], "k": 3, "smallest": 5, "models": {"distinct 2-diversity": 2}}
    assert in_words(held) == (
        "every group with equal Sex, Job has at least 5 records (promised: 3), distinct "
        "2-diversity at 2"
    )
    alone = {"qid": ["Sex"], "k": 1, "smallest": 1}  # counted in a population
    assert in_words(alone) == "every group with equal Sex has at least 1 record"


def test_other_columns_and_no_file_are_told(path):
    with pytest.raises(VerificationError, match=r"has the columns Sex, Job; the job releases Sex$"):
        read_release(path, ["Sex"], "the job")
    with pytest.raises(UsageError, match="nowhere"):
        read_release(Path("nowhere"), ["Sex"], "the job")


def test_rows_out_of_order_are_named(path):
    check_order(read_release(path, ["Sex", "Job"], "the job"), path)
    path.write_text("Sex,Job\nF,b\nM,a\nF,a\n")
    with pytest.raises(VerificationError, match="row 3 is out of order"):
        check_order(read_release(path, ["Sex", "Job"], "the job"), path)


def test_a_requirement_must_hold_and_its_claims_be_true(path):
    table = read_release(path, ["Sex", "Job"], "the job")
    twice = [Requirement(("Sex",), 2)]
    claim = {"qid": ["Sex"], "k": 2, "smallest": 2}
    assert check_requirements(twice, [claim], table, "the job")[0]["smallest"] == 2
    with pytest.raises(VerificationError, match="says smallest = 3, the release 2"):
        check_requirements(twice, [claim | {"smallest": 3}], table, "the job")
    with pytest.raises(VerificationError, match=r"requirement 1 \(Sex, Job\)"):
        check_requirements([Requirement(("Sex", "Job"), 2)], [claim], table, "the job")
    with pytest.raises(VerificationError, match="another number of requirements"):
        check_requirements(twice, [], table, "the job")
