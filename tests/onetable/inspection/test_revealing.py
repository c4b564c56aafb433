"""`coterie inspect --sensitive`: the ten most revealing rules."""

import json

from coterie.__main__ import run
from tests.onetable.people import TABLE_FILE, rows, write_people


def inspected(capsys, *words):
    assert run(["inspect", *map(str, words), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_a_table_file_names_its_sensitive_columns(tmp_path, capsys):
    people = rows()
    for row in people:
        row[4] = "gout" if row[2] == "Lincoln" else row[4].replace("gout", "flu")
    found = inspected(capsys, write_people(tmp_path, TABLE_FILE, people))
    first = found["revealing"][0]
    assert first["if"] == {"Place": "Lincoln"}
    assert first["then"] == {"Ill": "gout"}
    assert first["confidence"] == 1.0
    assert first["people"] == sum(row[2] == "Lincoln" for row in people)
    assert len(found["revealing"]) <= 10
    for rule in found["revealing"]:
        who = [
            row
            for row in people
            if all(row[["ID", "Age", "Place", "Sex", "Ill", "Class"].index(n)] == v
                   for n, v in rule["if"].items())
        ]  # fmt: skip
        ((name, value),) = rule["then"].items()
        assert name == "Ill"
        assert rule["people"] == len(who) >= 5
        assert rule["confidence"] == sum(row[4] == value for row in who) / len(who)


def test_an_option_names_them_and_a_person_reads_them(tmp_path, capsys):
    write_people(tmp_path)
    page = tmp_path / "page.html"
    words = ["inspect", str(tmp_path / "people.csv"), "--sensitive", "Ill", "--html", str(page)]
    assert run(words) == 0
    assert "most revealing rules" in capsys.readouterr().out
    assert "What reveals sensitive values" in page.read_text()
    assert "revealing" not in inspected(capsys, tmp_path / "people.csv")


def test_an_unknown_column_is_one_line(tmp_path, capsys):
    write_people(tmp_path)
    assert run(["inspect", str(tmp_path / "people.csv"), "--sensitive", "Wage"]) == 2
    error = capsys.readouterr().err
    assert "the sensitive 'Wage' is not among its columns" in error
    assert error.count("\n") == 1
