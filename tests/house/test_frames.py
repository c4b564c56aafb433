"""`coterie.anonymise` on frames in memory."""

import csv
from collections import Counter

import pyarrow as pa
import pytest

import coterie
from coterie.base.errors import DataError, UsageError
from tests.house.people import PLACES, rows

PATHS = [line.split(";") for line in PLACES.splitlines()]


def people() -> pa.Table:
    names = ["ID", "Age", "Place", "Sex", "Ill", "Class"]
    columns = dict(zip(names, map(list, zip(*rows(), strict=True)), strict=True))
    columns["Age"] = [int(age) for age in columns["Age"]]
    return pa.table(columns)


def test_a_frame_gives_the_release_that_the_command_gives(tmp_path):
    from tests.house.people import anonymised

    release = coterie.anonymise(
        people(), qid=["Age", "Place", "Sex"], k=3, taxonomies={"Place": PATHS}, sensitive="Ill",
        l=2, class_name="Class", drop=["ID"],
    )  # fmt: skip
    anonymised(tmp_path)
    with (tmp_path / "out/release.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    assert sorted(map(str, release.table.to_pylist())) == sorted(map(str, lines))
    assert release.utility.entropy_loss == release.result["utility"]["entropy_loss"]


def test_groups_and_risk_are_those_of_the_table():
    release = coterie.anonymise(people(), ["Age", "Sex"], 4, drop=["ID"])
    shown = Counter((row["Age"], row["Sex"]) for row in release.table.to_pylist())
    assert {(g["Age"], g["Sex"]): g["records"] for g in release.groups.to_pylist()} == shown
    assert release.risk["prosecutor"] == 1 / min(shown.values())
    assert release.risk["marketer"] == len(shown) / 40
    assert release.risk["uniques"] == 0
    assert "<table>" in release._repr_html_()


def test_anything_with_the_arrow_interface_will_do():
    class Frame:
        def __arrow_c_stream__(self, requested_schema=None):
            return people().__arrow_c_stream__(requested_schema)

    assert coterie.anonymise(Frame(), ["Age"], 5, drop=["ID"]).table.num_rows == 40


@pytest.mark.parametrize(
    ("arguments", "error", "told"),
    [
        ({"qid": ["Agee"]}, DataError, "no column 'Agee'; did you mean 'Age'"),
        ({"k": 41}, DataError, "fewer than the k = 41"),
        ({"k": 0}, UsageError, "k must be at least 1"),
        ({"method": "magic"}, UsageError, "method must be one of"),
        ({"frame": [1, 2]}, UsageError, "no Arrow interface"),
        ({"spell": 3}, UsageError, "takes no argument 'spell'"),
    ],
)
def test_mistakes_are_one_line(arguments, error, told):
    with pytest.raises(error, match=told):
        coterie.anonymise(**({"frame": people(), "qid": ["Age"], "k": 2} | arguments))


def test_the_interface_is_found_under_its_name_only_when_asked_for():
    assert "anonymise" in dir(coterie)
    with pytest.raises(AttributeError):
        coterie.nothing_of_the_kind  # noqa: B018
