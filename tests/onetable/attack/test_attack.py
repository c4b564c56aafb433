"""`coterie attack`: the textbook's linkage attack on raw and generalized releases."""

import csv
import json

import pytest

from coterie.__main__ import run
from tests.jobs.loans import loan_folder
from tests.onetable.people import anonymised

# Tables 20.1 and 20.2 of the chapter.
RECORDS = """Age,ZIP,Disease
24,10598,HIV
37,90210,Hepatitis C
26,10547,HIV
38,90345,Hepatitis C
36,89119,Diabetes
25,02139,HIV
"""
VOTERS = """Name,Age,ZIP
Mary,38,90345
John,36,89119
Ann,31,02139
Jack,57,10562
Joy,26,10547
Victor,46,90345
Peter,25,02139
Diana,24,10598
William,37,90210
Sue,26,10547
"""
NAMES = [line.split(",")[0] for line in VOTERS.splitlines()[1:]]
FILE = """data: records.csv
attributes:
  Age: {}
  ZIP: {taxonomy: zip.csv}
  Disease: {}
requirement:
  - {qid: [Age, ZIP], k: %d}
"""


def attacked(capsys, folder, k, *options):
    (folder / "records.csv").write_text(RECORDS)
    (folder / "voters.csv").write_text(VOTERS)
    zips = [line.split(",")[1] for line in RECORDS.splitlines()[1:]]
    east = ("10598", "10547", "02139")
    (folder / "zip.csv").write_text(
        "".join(f"{z};{'East' if z in east else 'West'};*\n" for z in zips)
    )
    (folder / "table.yaml").write_text(FILE % k)
    assert run(["anonymise", str(folder / "table.yaml"), "--out", str(folder / "out")]) == 0
    capsys.readouterr()
    command = ["attack", str(folder / "out"), "--known", str(folder / "voters.csv")]
    assert run([*command, *options]) == 0
    return capsys.readouterr().out


def by_name(text):
    return dict(zip(NAMES, json.loads(text)["people"], strict=True))


def test_the_textbooks_people_are_found(capsys, tmp_path):
    people = by_name(attacked(capsys, tmp_path, 1, "--json"))
    for name in ("Ann", "Jack", "Victor"):
        assert (people[name]["candidates"], people[name]["inferred"]) == (0, {})
    for name, disease in (("Diana", "HIV"), ("William", "Hepatitis C"), ("Mary", "Hepatitis C"),
                          ("John", "Diabetes"), ("Peter", "HIV")):  # fmt: skip
        assert people[name]["chance"] == 1
        assert people[name]["inferred"]["Disease"] == {disease: 1.0}
    for name in ("Joy", "Sue"):
        assert (people[name]["candidates"], people[name]["rivals"]) == (1, 2)
        assert people[name]["chance"] == 0.5
        assert people[name]["inferred"]["Disease"] == {"HIV": 1.0}


def test_a_column_that_shows_nothing_is_no_knowledge(capsys, tmp_path):
    """Of six records at k = 6 the ZIP is `*` and the age one interval: neither is certain for anybody."""
    attacked(capsys, tmp_path, 6)
    (tmp_path / "names.csv").write_text("Disease\nDiabetes\n")
    command = ["attack", str(tmp_path / "out"), "--known", str(tmp_path / "names.csv")]
    assert run([*command, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["certain"] == {"Age": 0, "ZIP": 0}


def test_a_column_that_no_qid_covers_is_named(capsys, tmp_path):
    attacked(capsys, tmp_path, 3)
    (tmp_path / "known.csv").write_text("Age,Disease\n36,Diabetes\n")
    command = ["attack", str(tmp_path / "out"), "--known", str(tmp_path / "known.csv")]
    assert run([*command, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["found"], found["found_by_qids"], found["outside_qids"]) == (1, 0, ["Disease"])
    assert run(command) == 0
    assert "no qid covers Disease" in capsys.readouterr().out


def test_groups_of_three_still_tell_a_disease_that_all_have(capsys, tmp_path):
    """Table 20.3: the young all have HIV, so that nobody need be found."""
    people = by_name(attacked(capsys, tmp_path, 3, "--json"))
    assert people["Diana"]["candidates"] == 3
    assert people["Diana"]["inferred"]["Disease"] == {"HIV": 1.0}
    assert people["William"]["inferred"]["Disease"] == pytest.approx(
        {"Hepatitis C": 2 / 3, "Diabetes": 1 / 3}
    )


def test_lines_for_people(capsys, tmp_path):
    told = attacked(capsys, tmp_path, 1)
    assert "10 people, 6 released records, linked on Age, ZIP" in told
    assert "7 match a record, 5 match one record alone" in told
    assert "Disease: certain for 7 people" in told


def test_linking_on_fewer_columns_finds_no_more(capsys, tmp_path):
    found = json.loads(attacked(capsys, tmp_path, 1, "--json", "--columns", "Age"))
    assert found["linked_on"] == ["Age"]
    assert set(found["people"][0]["inferred"]) == {"ZIP", "Disease"}


def test_an_anonymous_release_shows_nobody_alone(capsys, tmp_path):
    anonymised(tmp_path)
    capsys.readouterr()
    assert run(["attack", str(tmp_path / "out"), "--known", str(tmp_path / "people.csv"),
                "--columns", "Age,Place,Sex", "--json"]) == 0  # fmt: skip
    found = json.loads(capsys.readouterr().out)
    assert found["matched"] == 40
    assert found["found"] == 0
    assert min(person["candidates"] for person in found["people"]) >= 3
    assert all(len(person["inferred"]["Ill"]) >= 2 for person in found["people"])


def test_every_person_is_among_the_candidates_of_a_joint_release(capsys, tmp_path):
    job = loan_folder(tmp_path)
    assert run(["simulate", str(job), "--out", str(tmp_path / "out"), "--seed", "1"]) == 0
    capsys.readouterr()
    assert run(["attack", str(tmp_path / "out"), "--known", str(tmp_path / "bank.csv"),
                "--columns", "Job,Salary", "--json"]) == 0  # fmt: skip
    found = json.loads(capsys.readouterr().out)
    assert len(found["people"]) == found["matched"]
    with (tmp_path / "bank.csv").open(newline="") as file:
        people = list(csv.DictReader(file))
    for person, link in zip(people[7:], found["people"][7:], strict=True):
        assert person["Class"] in link["inferred"]["Class"]
        assert link["candidates"] >= 1


def test_mistakes_are_one_line(capsys, tmp_path):
    anonymised(tmp_path)
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    (tmp_path / "none.csv").write_text("Age\n")
    (tmp_path / "twice.csv").write_text("Age,Age\n1,2\n")
    capsys.readouterr()
    for known, error in (
        ("other.csv", "none of its columns is in the release, which has Age, Place"),
        ("none.csv", "the table has no records"),
        ("twice.csv", "has the column 'Age' twice"),
        ("gone.csv", "No such file"),
    ):
        code = run(["attack", str(tmp_path / "out"), "--known", str(tmp_path / known)])
        told = capsys.readouterr().err
        assert code in (2, 3)
        assert error in told
        assert told.count("\n") == 1
    assert run(["attack", str(tmp_path), "--known", str(tmp_path / "other.csv")]) == 2
    assert "is it a result folder?" in capsys.readouterr().err
