"""`coterie anonymise` with `method: condense`: what it leaves, and what it refuses in one line."""

import csv
import json
from collections import Counter

import pytest

from coterie.__main__ import run
from tests.onetable.methods.condense.people import TABLE_FILE, rows, write


def released(folder):
    with (folder / "out/release.csv").open(newline="") as file:
        return list(csv.reader(file))


def test_a_release_has_synthetic_records_of_every_class(tmp_path, capsys):
    path = write(tmp_path)
    assert run(["anonymise", str(path), "--out", str(tmp_path / "out"), "--parquet", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result == json.loads((tmp_path / "out/result.json").read_text())
    header, *lines = released(tmp_path)
    assert header == ["Age", "Income", "Class"]
    assert lines == sorted(lines)
    assert Counter(line[2] for line in lines) == {"y": 30, "n": 30}
    assert all(17 <= int(age) <= 90 for age, _, _ in lines)
    assert all(int(income) % 100 == 0 for _, income, _ in lines)
    assert (result["records"], result["k"], result["suppressed"]) == (60, 5, 0)
    assert result["groups"] == {"number": 12, "smallest": 5, "largest": 5}
    own = {tuple(row[1:]) for row in rows()}
    assert result["copies"] == sum(tuple(line) in own for line in lines)
    assert -1 <= result["utility"]["covariance_correlation"] <= 1
    page = (tmp_path / "out/report.html").read_text()
    assert "not k-anonymity" in page
    assert "moved into the range" in page
    public = (tmp_path / "out/public.html").read_text()
    assert "A synthetic table" in public
    assert "moved into the range" not in public  # the release does not tell
    assert (tmp_path / "out/release.parquet").exists()


def test_people_who_are_alike_are_reproduced_and_told(tmp_path, capsys):
    people = [[f"p{i}", "40", "900", "y"] for i in range(8)]
    assert (
        run(["anonymise", str(write(tmp_path, people=people)), "--out", str(tmp_path / "out")]) == 0
    )
    assert "8 synthetic records are equal to a real one" in capsys.readouterr().out
    assert released(tmp_path)[1:] == [["40", "900", "y"]] * 8


def test_a_requirement_on_all_attributes_says_the_same_as_k(tmp_path):
    text = TABLE_FILE.replace("k: 5\n", "requirement: [{qid: [Age, Income], k: 5}]\n")
    assert run(["anonymise", str(write(tmp_path, text)), "--out", str(tmp_path / "out")]) == 0


def test_small_classes_are_left_out_where_the_file_permits(tmp_path):
    people = rows()
    for row in people[:3]:
        row[3] = "rare"
    text = TABLE_FILE + "max_suppression: 0.05\n"
    assert (
        run(["anonymise", str(write(tmp_path, text, people)), "--out", str(tmp_path / "out")]) == 0
    )
    assert json.loads((tmp_path / "out/result.json").read_text())["suppressed"] == 3
    assert "rare" not in (tmp_path / "out/release.csv").read_text()


def test_dates_are_condensed_as_days(tmp_path):
    people = [[f"p{i}", f"2020-01-{1 + i % 28:02}", str(i), "y"] for i in range(40)]
    text = TABLE_FILE.replace("range: [17, 90]", "range: [2020-01-01, 2020-01-31]")
    assert (
        run(["anonymise", str(write(tmp_path, text, people)), "--out", str(tmp_path / "out")]) == 0
    )
    assert all("2020-01-01" <= row[0] <= "2020-01-31" for row in released(tmp_path)[1:])


def changed(at, value, people=None):
    people = people or rows()
    people[at[0]][at[1]] = value
    return people


@pytest.mark.parametrize(
    ("text", "people", "message"),
    [
        (TABLE_FILE, [], "the table has no records"),
        (TABLE_FILE, rows(1), "has 1 record, fewer than the k = 5"),
        (TABLE_FILE.replace("k: 5", "k: 61"), None, "has 60 records, fewer than the k = 61"),
        (TABLE_FILE.replace("k: 5", "k: 31"), None, "the class 'y' has 30 records, fewer than"),
        (TABLE_FILE.replace("k: 5", "k: 1"), None, "people.yaml:3: k: must be at least 2"),
        (TABLE_FILE.replace("k: 5\n", ""), None, "the key 'k' is missing"),
        (TABLE_FILE, changed((6, 1), "nan"), "row 7: column 'Age': 'nan' is not a number"),
        (TABLE_FILE, changed((6, 2), "inf"), "row 7: column 'Income': 'inf' is not a number"),
        (TABLE_FILE, changed((2, 2), ""), "row 3: column 'Income' has no value"),
        (TABLE_FILE, changed((2, 1), "16"), "outside the range [17, 90]"),
        (TABLE_FILE.replace("Income: {}", "Wage: {}"), None, "no column 'Wage'"),
        (TABLE_FILE.replace("Income: {}", "Income: {flat: true}"), None, "is one of categories"),
        (TABLE_FILE + "missing: value\n", None, "a gap has no place between numbers"),
        (TABLE_FILE + "cost: entropy\n", None, "is only for 'method: incognito'"),
        (
            TABLE_FILE + "requirement: [{qid: [Age], k: 5}]\n",
            None,
            "k: cannot be used with 'requirement'",
        ),
        (
            TABLE_FILE.replace("k: 5\n", "requirement: [{qid: [Age], k: 5}]\n"),
            None,
            "one k over all attributes",
        ),
    ],
)
def test_what_cannot_be_condensed_is_one_line(tmp_path, capsys, text, people, message):
    path = write(tmp_path, text, people)
    assert run(["anonymise", str(path), "--out", str(tmp_path / "out")]) in (2, 3)
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_constant_columns_stay_as_they_are(tmp_path):
    people = [[f"p{i}", "40", str(i * 100), "y"] for i in range(20)]
    assert (
        run(["anonymise", str(write(tmp_path, people=people)), "--out", str(tmp_path / "out")]) == 0
    )
    assert {row[0] for row in released(tmp_path)[1:]} == {"40"}
