"""`coterie anonymise`: what it leaves, and one line for whatever cannot be anonymised."""

import csv
import json
from collections import Counter
from pathlib import Path

import pytest

from coterie.__main__ import run
from tests.onetable.people import TABLE_FILE, anonymised, rows, write_people


def told(capsys, tmp_path, text=TABLE_FILE, people=None):
    """The one line of an error; nothing has been written."""
    path = write_people(tmp_path, text, people)
    code = run(["anonymise", str(path), "--out", str(tmp_path / "out")])
    error = capsys.readouterr().err
    assert code in (2, 3)
    assert error.count("\n") == 1
    assert not (tmp_path / "out").exists()
    return error


def test_a_release_has_the_attributes_then_the_class_sorted_and_no_identifiers(tmp_path):
    result = anonymised(tmp_path)
    with (tmp_path / "out/release.csv").open(newline="") as file:
        header, *lines = csv.reader(file)
    assert header == ["Age", "Place", "Sex", "Ill", "Class"]
    assert lines == sorted(lines)
    assert sorted(line[3:] for line in lines) == sorted(row[4:] for row in rows())
    assert result["records"] == len(lines) == 40
    assert result["suppressed"] == 0
    assert result["anonymity"][0]["k"] == 3
    assert result["anonymity"][0]["smallest"] >= 3
    assert set(result["utility"]) == {
        "discernibility", "normalised_width", "precision", "entropy_loss", "query_error",
        "class_error",
    }  # fmt: skip


def test_a_second_run_gives_the_same_release(tmp_path):
    anonymised(tmp_path)
    first = (tmp_path / "out/release.csv").read_bytes()
    anonymised(tmp_path)
    assert (tmp_path / "out/release.csv").read_bytes() == first


def test_json_is_the_result(tmp_path, capsys):
    result = anonymised(tmp_path, TABLE_FILE, "--json")
    assert json.loads(capsys.readouterr().out) == result


def test_an_earlier_result_is_replaced_only_on_request(tmp_path, capsys):
    path = write_people(tmp_path)
    assert run(["anonymise", str(path), "--out", str(tmp_path / "out")]) == 0
    assert run(["anonymise", str(path), "--out", str(tmp_path / "out")]) == 2
    assert "is not empty" in capsys.readouterr().err


def test_an_empty_table(capsys, tmp_path):
    assert "the table has no records" in told(capsys, tmp_path, people=[])


def test_one_row(capsys, tmp_path):
    assert "has 1 record, fewer than the k = 3" in told(capsys, tmp_path, people=rows(1))


def test_k_above_the_rows(capsys, tmp_path):
    text = TABLE_FILE.replace("k: 3", "k: 41")
    assert "has 40 records, fewer than the k = 41" in told(capsys, tmp_path, text)


@pytest.mark.parametrize("gap", ["", "?"])
def test_missing_values_are_told_with_their_rows_and_number(capsys, tmp_path, gap):
    people = rows()
    for at in (1, 4, 7, 9):
        people[at][2] = gap
    error = told(capsys, tmp_path, people=people)
    assert "rows 2, 5, 8, 10: column 'Place' has no value (4 of 40 rows are empty)" in error


def test_rows_with_gaps_are_dropped_on_request(tmp_path):
    people = rows()
    people[3][2] = "?"
    path = write_people(tmp_path, TABLE_FILE + "missing: drop\n", people)
    assert run(["anonymise", str(path), "--out", str(tmp_path / "out")]) == 0
    result = json.loads((tmp_path / "out/result.json").read_text())
    assert (result["records"], result["dropped"], result["suppressed"]) == (39, 1, 0)


def test_a_gap_can_be_a_value_of_a_taxonomy(tmp_path):
    people = rows()
    for at in range(20):
        people[at][2] = ""
    text = TABLE_FILE.replace("Place.csv}", "Place.csv, missing: value}")
    path = write_people(tmp_path, text, people)
    assert run(["anonymise", str(path), "--out", str(tmp_path / "out")]) == 0
    assert '"?"' in (tmp_path / "out/release.csv").read_text()
    assert run(["verify", str(tmp_path / "out")]) == 0


def test_a_column_without_any_value(capsys, tmp_path):
    people = [[*row[:2], "", *row[3:]] for row in rows()]
    assert "(40 of 40 rows are empty)" in told(capsys, tmp_path, people=people)
    text = TABLE_FILE + "missing: drop\n"
    assert "every row lacks a value in column 'Place'" in told(capsys, tmp_path, text, people)


def test_a_constant_column_costs_nothing(tmp_path):
    people = [[*row[:3], "F", *row[4:]] for row in rows()]
    path = write_people(tmp_path, TABLE_FILE, people)
    assert run(["anonymise", str(path), "--out", str(tmp_path / "out")]) == 0
    result = json.loads((tmp_path / "out/result.json").read_text())
    assert 0 <= result["utility"]["entropy_loss"] <= 1


@pytest.mark.parametrize("value", ["nan", "inf", "old", "1e999", "1_0"])
def test_what_is_no_number_is_named_with_its_row(capsys, tmp_path, value):
    people = rows()
    people[6][1] = value
    error = told(capsys, tmp_path, people=people)
    assert f"row 7: column 'Age': '{value}' is not a number" in error


def test_a_number_outside_its_range_is_named(capsys, tmp_path):
    people = rows()
    people[6][1] = "91"
    assert "row 7: column 'Age': '91' is outside the range [17, 90]" in told(
        capsys, tmp_path, people=people
    )


def test_a_gap_in_the_taxonomy_names_value_and_row(capsys, tmp_path):
    people = rows()
    people[6][2] = "Boston"
    assert "row 7: column 'Place': 'Boston' is not in its taxonomy" in told(
        capsys, tmp_path, people=people
    )


def test_a_column_named_twice(capsys, tmp_path):
    path = write_people(tmp_path)
    data = (tmp_path / "people.csv").read_text().replace("Class", "Age", 1)
    (tmp_path / "people.csv").write_text(data)
    path.write_text(TABLE_FILE.replace("class: Class\n", ""))
    assert run(["anonymise", str(path), "--out", str(tmp_path / "out")]) == 3
    assert "the header has the column 'Age' twice" in capsys.readouterr().err


def test_texts_without_a_taxonomy_get_a_hint(capsys, tmp_path):
    text = TABLE_FILE.replace("Sex: {flat: true}", "Sex: {}")
    assert "give it a taxonomy, or 'flat: true'" in told(capsys, tmp_path, text)


def test_a_column_that_is_not_there(capsys, tmp_path):
    text = TABLE_FILE.replace("  Sex:", "  Sexe:").replace("Place, Sex]", "Place, Sexe]")
    assert "no column 'Sexe'; did you mean 'Sex'?" in told(capsys, tmp_path, text)


def test_a_million_distinct_values_are_no_trouble(tmp_path):
    import numpy as np

    from coterie.anonymity.algorithms.mondrian import mondrian
    from coterie.anonymity.specialization.specialize import Requirement
    from coterie.anonymity.table.columns import ContinuousColumn
    from coterie.anonymity.table.table import Table

    number = 1_000_000
    codes = np.random.default_rng(1).permutation(number).astype(np.uint32)
    table = Table((ContinuousColumn("x", codes, np.arange(number) / 7),))
    answer = mondrian(table, [Requirement(("x",), 100_000)])
    assert np.bincount(answer.columns["x"].codes).min() >= 100_000


@pytest.mark.parametrize("text", ["ID: {}", "ID: {keep: true}"])
def test_a_column_that_tells_all_records_apart_is_released_only_if_the_file_says_so(
    tmp_path, capsys, text
):
    table = TABLE_FILE.replace("id: ID\n", "").replace("  Ill: {}", f"  Ill: {{}}\n  {text}")
    path = write_people(tmp_path, table)
    code = run(["anonymise", str(path), "--out", str(tmp_path / "out")])
    if "keep" in text:
        assert code == 0
        assert run(["verify", str(tmp_path / "out")]) == 0
    else:
        assert code == 3
        error = capsys.readouterr().err
        assert "column 'ID' has a different value in every record" in error
        assert "'keep: true'" in error
        assert not (tmp_path / "out").exists()


def test_a_data_file_is_anonymised_without_a_table_file(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [
        f"p{i},{20 + i % 50},{'FM'[i % 2]},{10000 + i % 7},2000-01-{1 + i % 28:02},{'ab'[i % 2]}"
        for i in range(300)
    ]
    (tmp_path / "people.csv").write_text("\n".join(["ID,Age,Sex,Zip,Born,Ill", *rows]) + "\n")
    assert run(["anonymise", "people.csv", "--qid", "Age,Sex,Born", "--k", "10"]) == 0
    out = capsys.readouterr().out
    assert "left out, as identifiers: ID" in out
    assert "released unchanged, in no qid: Zip, Ill" in out
    assert f"report: {Path('people-anonymised') / 'report.html'}" in out
    assert (tmp_path / "people-anonymised/report.html").exists()
    with (tmp_path / "people-anonymised/release.csv").open() as file:
        shown = list(csv.DictReader(file))
    groups = Counter((row["Age"], row["Sex"], row["Born"]) for row in shown)
    assert min(groups.values()) >= 10
    assert list(shown[0]) == ["Age", "Sex", "Zip", "Born", "Ill"]
    assert run(["verify", "people-anonymised", "--data", "people.csv"]) == 0
    assert run(["anonymise", "people.csv", "--out", "all"]) == 0  # qid and k as advise would say
    assert run(["anonymise", "people.csv", "--qid", "Age", "--k", "301", "--out", "x"]) != 0
    (tmp_path / "table.yaml").write_text("data: people.csv\n")
    assert run(["anonymise", "table.yaml", "--k", "3"]) == 2
    assert "--qid and --k are for data files" in capsys.readouterr().err
