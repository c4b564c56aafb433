"""`coterie perturb`: what it leaves, what it says of its own noise, and what it refuses."""

import csv
import json

import numpy as np
import pytest

from coterie.__main__ import run
from coterie.onetable.methods.perturb.keys import load_perturb_file
from coterie.onetable.methods.perturb.run import decimals, perturb_file
from tests.onetable.methods.perturb.people import FILE, rows, write


def perturbed(folder, text=FILE, people=None):
    file = load_perturb_file(write(folder, text, people))
    return perturb_file(file, np.random.default_rng(1).bytes)


def test_a_release_has_noisy_values_laws_and_a_report(tmp_path, capsys):
    path = write(tmp_path)
    assert run(["perturb", str(path), "--out", str(tmp_path / "out"), "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result == json.loads((tmp_path / "out/result.json").read_text())
    with (tmp_path / "out/release.csv").open(newline="") as file:
        header, *lines = csv.reader(file)
    assert header == ["Age", "Income", "Smokes", "Class"]
    assert lines == sorted(lines)
    assert len(lines) == result["records"] == 400
    laws = json.loads((tmp_path / "out/noise.json").read_text())
    assert laws["columns"]["Age"]["law"] == "normal"
    assert laws["columns"]["Age"]["size"] == pytest.approx(0.5 * 73 / 3.92)
    assert laws["columns"]["Income"]["size"] == pytest.approx(100_000 / 1.9)
    assert laws["columns"]["Smokes"] == {"values": ["yes", "no"], "keep": 0.7}
    assert "What the noise really hides" in (tmp_path / "out/report.html").read_text()
    public = (tmp_path / "out/public.html").read_text()
    assert "found" not in public.lower().split("<body")[1]
    assert "<h1>A table with noise</h1>" in public
    assert "anonymous" not in public


def test_values_are_those_of_the_table_plus_noise_of_the_law(tmp_path):
    noisy = perturbed(tmp_path)
    ages = np.array([float(row[1]) for row in rows()])
    shown = noisy.columns["Age"]
    z = np.array([float(v) for v in shown.values])[shown.codes]
    assert abs((z - ages).mean()) < 2
    assert (z - ages).std() == pytest.approx(0.5 * 73 / 3.92, rel=0.1)
    income = noisy.columns["Income"]
    z = np.array([float(v) for v in income.values])[income.codes]
    true = np.array([float(row[2]) for row in rows()])
    assert np.abs(z - true).max() <= 100_000 / 1.9 + 1
    assert np.unique(z).size > 390  # fine enough that the grid hides nothing and shows nothing


def test_the_attacks_find_that_correlated_columns_hide_less(tmp_path):
    found = perturbed(tmp_path).result["attributes"]
    age = found["Age"]
    assert age["interval"] == pytest.approx(36.5)
    assert age["noise_error"] == pytest.approx(9.3, rel=0.1)
    assert age["linear_guess_error"] < age["noise_error"]
    assert age["found_interval"] <= 3.92 * age["linear_guess_error"] + 1e-9
    assert 0 < found["Income"]["narrowed"] < 1
    smokes = found["Smokes"]
    assert smokes["epsilon"] == pytest.approx(np.log(0.85 / 0.15))
    assert smokes["guessed_right"] >= smokes["guessed_without"] - 1e-9


def test_rows_with_gaps_are_left_out_on_request(tmp_path):
    people = rows()
    people[3][1] = ""
    people[5][3] = "?"
    noisy = perturbed(tmp_path, FILE + "missing: drop\n", people)
    assert (noisy.result["records"], noisy.result["dropped"]) == (398, 2)


def test_the_address_of_a_server_is_not_stored(tmp_path):
    text = FILE.replace("people.csv", "{postgresql: postgresql://me:secret@db/x, table: people}")
    (tmp_path / "noise.yaml").write_text(text)
    stored = load_perturb_file(tmp_path / "noise.yaml").text
    assert "secret" not in stored
    assert "withheld" in stored


def test_written_values_are_much_finer_than_the_noise():
    assert decimals(1.0) == 6
    assert decimals(50_000.0) == 2
    assert decimals(1e9) == 0


def changed(at, value):
    people = rows()
    people[at[0]][at[1]] = value
    return people


@pytest.mark.parametrize(
    ("text", "people", "message"),
    [
        (FILE, [], "the table has no records"),
        (FILE, changed((4, 1), "nan"), "row 5: column 'Age': 'nan' is not a number"),
        (FILE, changed((4, 2), "inf"), "row 5: column 'Income': 'inf' is not a number"),
        (FILE, changed((4, 1), "16"), "outside the range [17, 90]"),
        (FILE, changed((4, 1), ""), "row 5: column 'Age' has no value"),
        (
            FILE,
            changed((4, 3), "never"),
            "row 5: column 'Smokes': 'never' is not among its 'values'",
        ),
        (FILE.replace("Income:", "Wage:"), None, "no column 'Wage'"),
        (FILE.replace(", noise: 50%", ""), None, "must have one of the keys 'noise'"),
        (FILE.replace("50%", "0%"), None, "must be a share of the range such as 50%"),
        (FILE.replace("50%", "half"), None, "must be a share of the range such as 50%"),
        (FILE.replace("range: [17, 90], ", ""), None, "the key 'range' is missing"),
        (FILE.replace("keep: 0.7", "keep: 1"), None, "must be between 0 and 1"),
        (FILE.replace('"yes", "no"', '"yes"'), None, "at least two different values"),
        (FILE.replace("law: uniform", "law: laplace"), None, "law"),
        (FILE.replace("method: perturb\n", ""), None, "the key 'method' is missing"),
        (FILE.replace("[17, 90]", "[2020-01-01, 2020-02-01]"), None, "noise is for numbers"),
        (FILE + "k: 3\n", None, "unknown key"),
        (FILE.replace("id: ID", "id: Age"), None, "is a column of 'id'"),
    ],
)
def test_what_cannot_be_perturbed_is_one_line(tmp_path, capsys, text, people, message):
    path = write(tmp_path, text, people)
    assert run(["perturb", str(path), "--out", str(tmp_path / "out")]) in (2, 3)
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_one_row_and_constant_columns_are_perturbed(tmp_path):
    assert perturbed(tmp_path, people=rows(1)).result["records"] == 1
    people = [["p", "40", "500", "yes", "old"]] * 30
    assert perturbed(tmp_path, people=people).result["attributes"]["Age"]["found_interval"] < 36.5
