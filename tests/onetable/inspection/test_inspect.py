"""`coterie inspect`: what it says, and one line for whatever cannot be inspected."""

import json

import numpy as np
import pytest

from coterie.__main__ import run
from coterie.onetable.inspection import inspect as module
from tests import ADULT
from tests.onetable.people import rows, write_people

ROWS = "age,sex,state\n20,F,CA\n30,F,CA\n40,F,TX\n20,M,NY\n40,M,CA\n"


def inspected(capsys, path, *options):
    code = run(["inspect", str(path), "--json", "--seed", "1", *options])
    found = json.loads(capsys.readouterr().out)
    return found if code == 0 else (code, found["error"])


@pytest.fixture
def example(tmp_path):
    path = tmp_path / "example.csv"
    path.write_text(ROWS)
    return path


def test_the_papers_example(capsys, example):
    found = inspected(capsys, example, "--mask", "separation=0.8")
    assert (found["records"], found["duplicates"]) == (5, 0)
    assert [c["distinct"] for c in found["columns"]] == [3, 2, 3]
    assert [round(c["separation"], 9) for c in found["columns"]] == [0.8, 0.6, 0.7]
    assert set(found["minimum_key"]) in ({"age", "sex"}, {"age", "state"})
    assert found["risk"]["uniques"] == 5
    assert len(found["publish"]) == 1
    assert set(found["mask"]) == {"age", "sex", "state"} - set(found["publish"])


def test_how_much_a_column_adds_is_who_would_not_be_unique_without_it(capsys, example):
    found = inspected(capsys, example)
    assert [c["adds"] for c in found["columns"]] == [2, 0, 0]


def test_columns_can_be_chosen_and_their_cost_is_measured(capsys, example):
    found = inspected(capsys, example, "--columns", "sex,state", "--k", "2")
    assert found["risk"] == {
        "prosecutor": 1.0, "journalist": None, "marketer": 0.8, "uniques": 3,
        "below": {"2": 3, "5": 5, "10": 5},
    }  # fmt: skip
    assert found["minimum_key"] is None
    assert found["duplicates"] == 1
    assert [step["column"] for step in found["qids"][0]["costs"]] == ["sex", "state"]


def test_a_population_names_quasi_identifiers_and_the_journalists_risk(capsys, example):
    found = inspected(capsys, example, "--population", "20")
    # One age and two states of five occur once, so a fifth and two fifths of the 15 others have new
    # values, perhaps alone: e times as many are added. On 22 values two fifths may be unique.
    sets = {tuple(entry["columns"]): entry["cells"] for entry in found["quasi_identifiers"]}
    assert sets == {("age",): 3 + 9, ("state",): 22}
    assert (1 - 1 / 21) ** 19 < 0.4 <= (1 - 1 / 22) ** 19
    assert 0 < found["risk"]["journalist"] < found["risk"]["prosecutor"]


def test_a_table_file_is_inspected_without_its_identifiers(capsys, tmp_path):
    found = inspected(capsys, write_people(tmp_path))
    assert [c["name"] for c in found["columns"]] == ["Age", "Place", "Sex", "Ill", "Class"]
    (entry,) = found["qids"]
    assert (entry["qid"], entry["k"]) == (["Age", "Place", "Sex"], 3)
    assert len(entry["costs"]) == 3


def test_an_identifier_is_named_and_the_rest_looked_at_apart(capsys, tmp_path):
    write_people(tmp_path, people=rows(90))
    found = inspected(capsys, tmp_path / "people.csv")
    assert found["identifiers"] == ["ID"]
    assert found["minimum_key"] == ["ID"]
    assert found["besides"]["columns"] == ["Age", "Place", "Sex", "Ill", "Class"]
    assert "ID" not in found["besides"]["keys"][0]["columns"]


def test_large_tables_are_sampled_and_say_so(capsys, example, monkeypatch):
    monkeypatch.setattr(module, "_CELLS", 1)
    monkeypatch.setattr(module, "_SAMPLE", 3)
    monkeypatch.setattr(module, "_PAIRS", 10**6)
    found = inspected(capsys, example, "--mask", "distinct=0.8")
    assert set(found["minimum_key"]) in ({"age", "sex"}, {"age", "state"})
    assert any("drawn at random" in note for note in found["notes"])
    assert "likely_duplicates" not in found


def test_lines_and_a_page_for_people(capsys, tmp_path):
    write_people(tmp_path, people=rows(90))
    path, page = tmp_path / "people.csv", tmp_path / "page.html"
    assert run(["inspect", str(path), "--population", "1000", "--mask", "separation=0.5",
                "--html", str(page)]) == 0  # fmt: skip
    told = capsys.readouterr().out
    assert "90 records, 6 columns" in told
    assert "ID: a different value in every record" in told
    assert "withhold" in told
    assert "<table>" in page.read_text()


@pytest.mark.parametrize(
    ("text", "code", "error"),
    [
        ("a,b\n", 3, "the table has no records"),
        ("", 3, "the file is empty"),
        ("a,b,a\n1,2,3\n", 3, "has the column 'a' twice"),
        ("a,b\n1\n", 3, "row 1: has 1 value where the header has 2 columns"),
    ],
)
def test_what_cannot_be_read_is_one_line(capsys, tmp_path, text, code, error):
    path = tmp_path / "t.csv"
    path.write_text(text)
    found = inspected(capsys, path)
    assert found[0] == code
    assert error in found[1]


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (["--mask", "separation"], "is not as in separation=0.8"),
        (["--mask", "separation=2"], "is not as in separation=0.8"),
        (["--columns", "agee"], "no column 'agee'; did you mean 'age'?"),
        (["--columns", "age,age"], "--columns names 'age' twice"),
        (["--population", "4"], "is smaller than the table"),
        (["--alpha", "1.5"], "alpha must be between 0 and 1"),
    ],
)
def test_options_that_cannot_be_meant(capsys, example, options, error):
    assert error in inspected(capsys, example, *options)[1]


@pytest.mark.parametrize(
    "text",
    ["a,b\n1,2\n", "a,b\n,\n,\n", "a,b\n1,x\n1,x\n", "a\nnan\ninf\n3\n"],
    ids=["one row", "all missing", "constant", "not finite"],
)
def test_odd_tables_are_inspected(capsys, tmp_path, text):
    path = tmp_path / "t.csv"
    path.write_text(text)
    found = inspected(capsys, path, "--mask", "distinct=0.5")
    assert found["records"] == text.count("\n") - 1
    assert run(["inspect", str(path)]) == 0


@pytest.mark.skipif(not ADULT.exists(), reason="the Adult table is not beside the project")
def test_the_usual_quasi_identifiers_of_adult(capsys, tmp_path):
    lines = (ADULT / "adult.train.csv").read_text().splitlines()
    path = tmp_path / "adult.csv"
    path.write_text("\n".join(line for line in lines if "?" not in line) + "\n")
    found = inspected(capsys, path, "--columns", "age,sex,race")
    assert (found["records"], found["risk"]["uniques"]) == (30162, 62)
    assert found["risk"]["marketer"] == pytest.approx(0.0175, abs=5e-5)
    names = "age,workclass,education,marital-status,occupation,race,sex,native-country"
    found = inspected(capsys, path, "--columns", names)
    assert found["risk"]["uniques"] == 14021
    assert found["risk"]["marketer"] == pytest.approx(0.600, abs=5e-4)
    assert found["risk"]["below"]["5"] == 21977


def test_sixty_small_columns_are_no_all_clear(capsys, tmp_path):
    """374 of 400 records are unique by eight of sixty columns; the search cannot try all sets."""
    rng = np.random.default_rng(3)
    names = [f"c{j}" for j in range(60)]
    rows = rng.integers(0, 3, (400, 60))
    text = "\n".join([",".join(names), *(",".join(map(str, row)) for row in rows)])
    (tmp_path / "wide.csv").write_text(text + "\n")
    found = inspected(capsys, tmp_path / "wide.csv", "--population", "400")
    assert found["quasi_identifiers"]
    assert not found["searched"]["complete"]
    assert run(["inspect", str(tmp_path / "wide.csv"), "--population", "400"]) == 0
    assert "others may single people out" in " ".join(capsys.readouterr().out.split())


def test_a_planted_key_of_a_sample_is_named_for_its_population(capsys, tmp_path):
    rows = [f"{i % 2},{600000 + i - (i % 50 == 0)}" for i in range(1, 2001)]
    (tmp_path / "phones.csv").write_text("\n".join(["Sex,Phone", *rows]) + "\n")
    found = inspected(capsys, tmp_path / "phones.csv", "--population", "500000")
    assert [entry["columns"] for entry in found["quasi_identifiers"]] == [["Phone"]]
    assert found["searched"]["complete"]
