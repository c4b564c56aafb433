"""`coterie verify` on perturbed tables, right ones and spoilt ones."""

import json

import pytest

from coterie.__main__ import run
from tests.onetable.methods.perturb.people import rows, write
from tests.onetable.verdicts import spoil_last, verdict


@pytest.fixture
def folder(tmp_path):
    assert run(["perturb", str(write(tmp_path)), "--out", str(tmp_path / "out")]) == 0
    return tmp_path


def test_a_release_holds_also_beside_its_table(folder, capsys):
    held = "holds: 400 records of which 3 columns can have the noise that the file asks for"
    assert verdict(folder, capsys) == (0, held)
    assert verdict(folder, capsys, "--data", str(folder / "people.csv"))[0] == 0


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("noise.json", lambda t: t.replace("normal", "uniform"), "column 'Age' has another law"),
        ("noise.json", lambda t: t.replace("0.7", "0.9"), "column 'Smokes' has another law"),
        ("noise.json", lambda t: t.replace('"Age"', '"Years"'), "has other columns"),
        ("result.json", lambda t: t.replace('"records": 400', '"records": 401'), "records is 400"),
        ("release.csv", lambda t: t.replace('"yes"', '"ja"'), "'ja' is not among its values"),
    ],
)
def test_a_changed_file_is_found(folder, capsys, name, change, message):
    path = folder / "out" / name
    path.write_text(change(path.read_text()))
    code, line = verdict(folder, capsys)
    assert code == 8
    assert message in line


def test_values_beyond_the_reach_of_their_noise_are_found(folder, capsys):
    spoil_last(folder, {1: '"999999"'})
    code, line = verdict(folder, capsys)
    assert code == 8
    assert "'999999' is not within reach of its noise" in line


@pytest.mark.parametrize(
    ("at", "value", "message"),
    [
        (1, "18", "column 'Age' has another mean"),
        (3, "no", "is not as frequent"),
        (4, "old", "class"),
    ],
)
def test_another_table_is_found(folder, capsys, at, value, message):
    people = rows()
    for row in people:
        row[at] = value
    write(folder, people=people)
    code, line = verdict(folder, capsys, "--data", str(folder / "people.csv"))
    assert code == 8
    assert message in line


def test_a_table_of_another_length_is_found(folder, capsys):
    write(folder, people=rows(399))
    code, line = verdict(folder, capsys, "--data", str(folder / "people.csv"))
    assert (code, "has 399 whole records" in line) == (8, True)
    assert json.loads((folder / "out/result.json").read_text())["records"] == 400
