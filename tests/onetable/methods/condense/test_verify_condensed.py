"""`coterie verify` on condensed releases, right ones and spoilt ones."""

import json

import pytest

from coterie.__main__ import run
from tests.onetable.methods.condense.people import rows, write
from tests.onetable.verdicts import spoil_last, verdict


@pytest.fixture
def folder(tmp_path):
    assert run(["anonymise", str(write(tmp_path)), "--out", str(tmp_path / "out")]) == 0
    return tmp_path


def test_a_release_holds_also_beside_its_table(folder, capsys):
    assert verdict(folder, capsys)[0] == 0
    code, line = verdict(folder, capsys, "--data", str(folder / "people.csv"))
    assert code == 0
    assert line.startswith("holds: 12 groups of at least k = 5 people, 60 synthetic records")


@pytest.mark.parametrize(
    ("last", "message"),
    [
        (['"95"'], "'95' is not in its range"),
        (['"old"'], "'old' is not a number"),
        (['"40"', '"150"'], "'150' is not on the grid of the table"),
        (['"40"', '"100"', '"z"'], "other numbers of records a class"),
    ],
)
def test_a_changed_record_is_found(folder, capsys, last, message):
    spoil_last(folder, dict(enumerate(last)))
    code, line = verdict(folder, capsys)
    assert code == 8
    assert message in line


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda r: r | {"records": 61}, "records is 60"),
        (lambda r: r | {"k": 4}, "k is 5"),
        (lambda r: r | {"suppressed": 2}, "2 records were left out"),
        (lambda r: r | {"groups": r["groups"] | {"smallest": 4}}, "groups of 4 to 5 people"),
        (lambda r: r | {"groups": r["groups"] | {"number": 20}}, "groups of the classes"),
    ],
)
def test_a_changed_result_is_found(folder, capsys, change, message):
    path = folder / "out/result.json"
    path.write_text(json.dumps(change(json.loads(path.read_text()))))
    code, line = verdict(folder, capsys)
    assert code == 8
    assert message in line


def test_another_table_is_found(folder, capsys):
    people = rows()
    for row in people:
        row[1] = "18"
    write(folder, people=people)
    code, line = verdict(folder, capsys, "--data", str(folder / "people.csv"))
    assert code == 8
    assert "column 'Age' has another mean" in line
