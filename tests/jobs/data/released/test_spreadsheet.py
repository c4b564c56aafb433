"""Which cells of a CSV file a spreadsheet would run, and the copy in which they are text."""

import csv

import pytest

from coterie.jobs.data.released.spreadsheet import COPY, formulas_in, released_tables, write_copy


def write(path, rows):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    return path


@pytest.mark.parametrize(
    ("cell", "runs"),
    [
        ("=1+1", True), ("+a", True), ("-a", True), ("@a", True), ("\ta", True), ("\ra", True),
        ("-5", False), ("+5.25", False), ("-1,000.5", False), ("-.5e-3", False), ("-5-", True),
        ("- 5", True), ("=5", True), ("5", False), ("[-5, 3)", False), ("", False), ("a\n=1", False),
    ],
)  # fmt: skip
def test_a_cell_runs_by_its_first_character_unless_it_is_a_number(tmp_path, cell, runs):
    path = write(tmp_path / "release.csv", [["a", "b"], [cell, "x"]])
    assert formulas_in(path) == ({"a": 1} if runs else {})
    write_copy(path, path.with_suffix(COPY))
    with path.with_suffix(COPY).open(newline="", encoding="utf-8") as file:
        assert list(csv.reader(file)) == [["a", "b"], [f"'{cell}" if runs else cell, "x"]]


def test_the_tables_that_people_open_are_the_release_and_those_beside_it(tmp_path):
    (tmp_path / "sensitive").mkdir()
    for name in ("release.csv", "other.csv", "sensitive/1.csv"):
        write(tmp_path / name, [["a"], ["=1"]])
    for path in released_tables(tmp_path):
        write_copy(path, path.with_suffix(COPY))
    found = [path.relative_to(tmp_path).as_posix() for path in released_tables(tmp_path)]
    assert found == ["release.csv", "sensitive/1.csv"]
