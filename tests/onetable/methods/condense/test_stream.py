"""`coterie condense`: records as they come, a state of sums, and releases of it."""

import io
import json
import sys
from types import SimpleNamespace

import pytest

from coterie.__main__ import run
from coterie.onetable.methods.condense import state as kept_state
from tests.onetable.methods.condense.people import TABLE_FILE, as_csv, rows, write


def follow(monkeypatch, text):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BufferedReader(io.BytesIO(text))))


def condensed(tmp_path, *options):
    return run(
        [
            "condense",
            str(tmp_path / "people.yaml"),
            "--state",
            str(tmp_path / "state.json"),
            *options,
        ]
    )


def state(tmp_path):
    return json.loads((tmp_path / "state.json").read_text())


def test_a_table_is_added_and_a_release_made_and_verified(tmp_path, capsys):
    write(tmp_path)
    assert condensed(tmp_path, "--out", str(tmp_path / "out"), "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["added"], told["records"], told["waiting"]) == (60, 60, {})
    assert told["smallest"] >= 5
    assert told["release"]["streamed"] is True
    assert len((tmp_path / "out/release.csv").read_text().splitlines()) == 61
    assert run(["verify", str(tmp_path / "out")]) == 0


def test_the_state_has_sums_and_no_record(tmp_path):
    write(tmp_path)
    assert condensed(tmp_path) == 0
    kept = state(tmp_path)
    assert sorted(kept) == ["classes", "columns", "form", "grid", "k", "read"]
    part = kept["classes"]["y"]
    assert sorted(part) == ["centre", "products", "scale", "sizes", "sums"]
    assert sum(part["sizes"]) == 30
    # The sums lead back to the total of the class, as sums must.
    ages = [int(row[1]) for row in rows() if row[3] == "y"]
    total = sum(group[0] for group in part["sums"]) * part["scale"][0] + 30 * part["centre"][0]
    assert total == pytest.approx(sum(ages))


def test_lines_that_come_later_give_the_state_of_all(tmp_path, monkeypatch, capsys):
    write(tmp_path)
    assert condensed(tmp_path) == 0
    whole = state(tmp_path)
    (tmp_path / "state.json").unlink()
    for part in (rows()[:34], rows()[34:]):
        follow(monkeypatch, as_csv(part).encode())
        assert condensed(tmp_path, "--follow", "--every", "7") == 0
    assert state(tmp_path)["classes"] == whole["classes"]
    assert state(tmp_path)["read"] == 60
    assert "26 records added, 60 in" in capsys.readouterr().out


def test_the_last_line_need_not_end_and_classes_may_be_quoted(tmp_path, monkeypatch):
    people = [[*row[:3], '"a\n, b"'] for row in rows()]
    write(tmp_path)
    follow(monkeypatch, as_csv(people).rstrip("\n").encode())
    assert condensed(tmp_path, "--follow") == 0
    assert list(state(tmp_path)["classes"]) == ["a\n, b"]


def test_a_class_with_fewer_than_2k_records_is_not_kept_and_told(tmp_path, capsys):
    people = rows()
    for row in people[:9]:
        row[3] = "rare"
    write(tmp_path, people=people)
    assert condensed(tmp_path, "--out", str(tmp_path / "out")) == 0
    assert "9 records of class 'rare' were not kept" in capsys.readouterr().out
    assert "rare" not in (tmp_path / "state.json").read_text()
    assert "rare" not in (tmp_path / "out/release.csv").read_text()


def test_a_release_adds_nothing_where_it_is_asked_for_alone(tmp_path, capsys):
    write(tmp_path)
    assert condensed(tmp_path) == 0
    before = (tmp_path / "state.json").read_bytes()
    assert condensed(tmp_path, "--release-only", "--out", str(tmp_path / "out")) == 0
    assert (tmp_path / "state.json").read_bytes() == before
    assert condensed(tmp_path, "--release-only") == 2
    assert "--release-only needs --out" in capsys.readouterr().err


def test_a_folder_that_is_taken_is_named_before_anything_is_added(tmp_path, capsys):
    write(tmp_path)
    (tmp_path / "out").mkdir()
    (tmp_path / "out/mine.txt").write_text("x")
    assert condensed(tmp_path, "--out", str(tmp_path / "out")) == 2
    assert "is not empty" in capsys.readouterr().err
    assert not (tmp_path / "state.json").exists()


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (b"", "standard input: is empty"),
        (as_csv([]).encode(), "the table has no records"),
        (as_csv(rows(9)).encode(), "nothing is kept or released before 2k = 10"),
        (b"ID,Age,Class\n1,2,y\n", "no column 'Income'"),
        (as_csv([*rows(), ["x", "old", "3", "y"]]).encode(), "row 61: column 'Age': 'old'"),
        (as_csv([*rows(), ["x", "nan", "3", "y"]]).encode(), "row 61: column 'Age': 'nan'"),
        (as_csv([*rows(), ["x", "30", "-inf", "y"]]).encode(), "row 61: column 'Income'"),
        (as_csv([*rows(), ["x", "99", "3", "y"]]).encode(), "outside the range [17, 90]"),
        (as_csv([*rows(), ["x", "30", "3", ""]]).encode(), "row 61: column 'Class' has no value"),
        (as_csv([*rows(), ["x", "30"]]).encode(), "row 61: has 2 values where the header has 4"),
        (as_csv([*rows(), ["x", "30", "3", '"y']]).encode(), "a quotation mark is not closed"),
    ],
)
def test_a_bad_line_is_named_and_nothing_is_kept(tmp_path, monkeypatch, capsys, lines, message):
    write(tmp_path)
    follow(monkeypatch, lines)
    assert condensed(tmp_path, "--follow") == 3
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not (tmp_path / "state.json").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: "{", "is not a state of 'coterie condense'"),
        (lambda s: "[" * 100_000, "is not a state of 'coterie condense'"),
        (lambda s: json.dumps({**s, "k": 6}), "is of another table file: k = 6"),
        (lambda s: json.dumps({**s, "columns": ["Age"]}), "is of another table file"),
        (
            lambda s: json.dumps({**s, "classes": {"y": {**s["classes"]["y"], "sizes": [3]}}}),
            "is damaged",
        ),
    ],
)
def test_a_state_of_something_else_is_refused(tmp_path, capsys, change, message):
    write(tmp_path)
    assert condensed(tmp_path) == 0
    (tmp_path / "state.json").write_text(change(state(tmp_path)))
    assert condensed(tmp_path) == 2
    assert message in capsys.readouterr().err


def test_a_column_of_identifiers_is_no_class(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(kept_state, "MOST_CLASSES", 50)
    write(tmp_path, TABLE_FILE.replace("id: ID\nclass: Class", "class: ID"))
    assert condensed(tmp_path) == 3
    assert "is it a column of identifiers?" in capsys.readouterr().err


def test_another_method_is_refused(tmp_path, capsys):
    text = TABLE_FILE.replace("method: condense", "method: mondrian").replace(
        "k: 5\n", "requirement: [{qid: [Age], k: 5}]\n"
    )
    write(tmp_path, text)
    assert condensed(tmp_path) == 2
    assert "say 'method: condense'" in capsys.readouterr().err
