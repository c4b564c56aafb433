"""The rows of a release are sorted at every door, by every method: their order tells nothing.

Shuffled rows give the same release where a method is a function of the set of records. A greedy one
(`cluster`) or one with chance in it is at least sorted.
"""

import csv
import json
import random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import coterie
from coterie.__main__ import run
from coterie.onetable.methods.registry import GENERALIZING as METHODS
from tests.onetable.people import PLACES, TABLE_FILE, rows, write_people

NAMES = ["ID", "Age", "Place", "Sex", "Ill", "Class"]
PATHS = [line.split(";") for line in PLACES.splitlines()]
BY_CHANCE = ("cluster",)  # begins with the first record that it meets


def shuffled(people, seed=5):
    mixed = list(people)
    random.Random(seed).shuffle(mixed)
    return mixed


def arrow(people):
    columns = dict(zip(NAMES, map(list, zip(*people, strict=True)), strict=True))
    return pa.table({**columns, "Age": list(map(int, columns["Age"]))})


def pandas(people):
    return pytest.importorskip("pandas").DataFrame(arrow(people).to_pydict())


def polars(people):
    return pytest.importorskip("polars").DataFrame(arrow(people).to_pydict())


def from_frame(frame, method):
    qid = ["Age"] if method == "quantiles" else ["Age", "Place", "Sex"]
    taxonomies = {} if method == "quantiles" else {"Place": PATHS}
    released = coterie.anonymise(
        frame, qid, 3, method=method, drop=["ID"], class_name="Class", taxonomies=taxonomies
    )
    return [tuple(row.values()) for row in released.table.to_pylist()]


def table_file(method):
    text = TABLE_FILE.replace("mondrian", method).replace(", sensitive: Ill, l: 2", "")
    if method == "quantiles":
        text = text.replace("qid: [Age, Place, Sex]", "qid: [Age]")
        text = text.replace("{taxonomy: taxonomies/Place.csv}", "{}").replace("{flat: true}", "{}")
    return text.replace("range: [17, 90]", "")


def from_command(folder, people, text, command="anonymise", *options):
    path = write_people(folder, text, people)
    assert run([command, str(path), "--out", str(folder / "out"), "--force", *options]) == 0
    return from_csv(folder / "out/release.csv")


def from_csv(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(map(tuple, list(csv.reader(file))[1:]))


@pytest.mark.parametrize("method", METHODS)
def test_every_door_gives_the_sorted_rows_of_the_file(method, tmp_path):
    people = rows()
    written = from_command(tmp_path, people, table_file(method), "anonymise", "--parquet")
    parquet = pq.read_table(tmp_path / "out/release.parquet")
    doors = {
        "parquet": [tuple(row.values()) for row in parquet.to_pylist()],
        "arrow": from_frame(arrow(people), method),
        "pandas": from_frame(pandas(people), method),
        "polars": from_frame(polars(people), method),
    }
    assert written == sorted(written)
    for door, released in doors.items():
        assert released == sorted(released), door
        assert released == written, door


@pytest.mark.parametrize("method", METHODS)
def test_shuffled_rows_give_the_same_release(method, tmp_path):
    one, other = (from_frame(arrow(people), method) for people in (rows(), shuffled(rows())))
    assert other == sorted(other)
    assert len(one) == len(other)
    if method not in BY_CHANCE:
        assert one == other


def test_groups_of_one_size_do_not_stand_in_the_order_of_the_frame():
    def groups(people):
        return coterie.anonymise(arrow(people), ["Age", "Sex"], 3, drop=["ID"]).groups

    assert groups(rows()).equals(groups(shuffled(rows())))


ANATOMY = """\
data: people.csv
method: anatomy
id: ID
attributes: {Age: {}, Sex: {flat: true}, Ill: {}}
requirement: [{qid: [Age, Sex], k: 3, sensitive: Ill, l: 2}]
"""
CONDENSE = """\
data: people.csv
method: condense
k: 4
attributes: {Age: {}}
"""
HIDE = """\
data: people.csv
method: hide-rules
attributes: [Place, Sex, Ill]
hide: [{if: {Sex: F}, then: {Ill: cold}}]
support: 0.05
confidence: 0.1
"""
PERTURB = """\
data: people.csv
method: perturb
attributes:
  Age: {range: [17, 90], noise: 50%}
  Ill: {values: [cold, flu, gout], keep: 0.6}
"""


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("anonymise", ANATOMY), ("anonymise", CONDENSE), ("hide-rules", HIDE), ("perturb", PERTURB),
    ],
    ids=["anatomy", "condense", "hide-rules", "perturb"],
)  # fmt: skip
def test_ways_without_groups_are_sorted_too(command, text, tmp_path):
    for people in (rows(), shuffled(rows())):
        released = from_command(tmp_path, people, text, command)
        assert released == sorted(released)
        for path in (tmp_path / "out").glob("sensitive/*.csv"):
            assert from_csv(path) == sorted(from_csv(path))
    assert json.loads((tmp_path / "out/result.json").read_text())["records"] == len(released)
