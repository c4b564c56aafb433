"""`method: quantiles` as a command: every way of grouping, its verification, and mistakes."""

import csv
import json

import pytest

from coterie.__main__ import run
from coterie.base.errors import VerificationError
from coterie.coordinator.results.verify import verify
from tests.onetable.people import anonymised, write_people

TABLE = """\
data: people.csv
method: quantiles
id: ID
attributes:
  Age: {range: [17, 90]}
  Ill: {}
  Sex: {flat: true}
requirement:
  - {qid: [Age], k: 6, sensitive: Ill, l: 2}
"""
WAYS = [
    "",
    "by: rank\n",
    "clusters: median\n",
    "clusters: centre\n",
    "clusters: cellular\nby: rank\n",
    "clusters: sampled\nepsilon: 0.1\ndelta: 0.05\n",
]


@pytest.mark.parametrize("way", WAYS)
def test_every_way_leaves_a_release_that_holds(tmp_path, way, capsys):
    result = anonymised(tmp_path, TABLE + way)
    told = result["quantiles"]["Age"]
    assert result["anonymity"][0]["smallest"] == told["smallest"] >= 6
    assert told["groups"] == len(told["representatives"]) > 1
    found = verify(tmp_path / "out", data=tmp_path / "people.csv")
    assert found["records"] == 40
    assert run(["attack", str(tmp_path / "out"), "--known", str(tmp_path / "people.csv")]) == 0


def test_cuts_that_several_houses_agreed_on_are_used_where_they_leave_k(tmp_path):
    text = TABLE.replace("[17, 90]}", "[17, 90], cuts: [25, 30, 50]}") + "clusters: given\n"
    result = anonymised(tmp_path, text)
    for shown, place in result["quantiles"]["Age"]["representatives"].items():
        low, high = (float(end) for end in shown.strip("[]").split(", "))
        assert low <= place <= high
        assert not low < 30 <= high  # the cut at 25 leaves too few below it
    verify(tmp_path / "out", data=tmp_path / "people.csv")


def changed(tmp_path, key, value):
    anonymised(tmp_path, TABLE)
    path = tmp_path / "out/result.json"
    result = json.loads(path.read_text())
    result["quantiles"]["Age"][key] = value
    path.write_text(json.dumps(result))


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("groups", 3, "groups is"),
        ("smallest", 40, "smallest is"),
        ("rank_difference", 1, "rank_difference is"),
        ("representatives", {"[1, 2]": 1.5}, "representatives of other groups"),
    ],
)
def test_a_wrong_claim_is_found(tmp_path, key, value, told):
    changed(tmp_path, key, value)
    with pytest.raises(VerificationError, match=told):
        verify(tmp_path / "out")


def test_a_wrong_cost_and_a_place_outside_of_its_group_are_found_with_the_table(tmp_path):
    changed(tmp_path, "costs", {"median": 1.0, "centre": 1.0, "cellular": 1.0})
    verify(tmp_path / "out")
    with pytest.raises(VerificationError, match=r"a cost \(median\) of 1.0, the table gives"):
        verify(tmp_path / "out", data=tmp_path / "people.csv")
    result = anonymised(tmp_path, TABLE)
    places = dict.fromkeys(result["quantiles"]["Age"]["representatives"], 0.0)
    changed(tmp_path, "representatives", places)
    with pytest.raises(VerificationError, match="does not lie within it"):
        verify(tmp_path / "out", data=tmp_path / "people.csv")


def test_dates_are_grouped_too(tmp_path):
    people = [[f"p{i}", f"19{50 + i % 30}-03-{1 + i % 28:02}", "", "", "", ""] for i in range(40)]
    text = TABLE.replace("range: [17, 90]", "type: date").replace(", sensitive: Ill, l: 2", "")
    path = write_people(tmp_path, text + "clusters: median\n", people)
    assert run(["anonymise", str(path), "--out", str(tmp_path / "out")]) == 0
    with (tmp_path / "out/release.csv").open(newline="") as file:
        assert all(row["Age"].startswith("[19") for row in csv.DictReader(file))
    verify(tmp_path / "out", data=tmp_path / "people.csv")


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("[Age], k", "[Age, Sex], k", "has 2 columns"),
        ("Age: {range: [17, 90]}", "Age: {flat: true}", "not a column of numbers"),
        ("k: 6", "k: 60", "fewer than the k = 60"),
        ("quantiles\n", "quantiles\nclusters: mean\n", "clusters"),
        ("quantiles\n", "quantiles\nby: name\n", "by"),
        ("quantiles\n", "quantiles\nepsilon: 0.1\n", "is only for 'clusters: sampled'"),
        ("quantiles\n", "quantiles\nclusters: sampled\nby: rank\n", " by value"),
        ("quantiles\n", "quantiles\nclusters: sampled\ndelta: 0.9\n", "at most 0.5"),
        ("quantiles\n", "quantiles\nclusters: given\n", "has no 'cuts'"),
        ("90]}", "90], cuts: [30]}", "only for 'method: quantiles' and 'clusters: given'"),
        ("90]}\n", "90], cuts: [30, 20]}\n", "ascending order"),
        (
            "method: quantiles",
            "method: mondrian\nclusters: even",
            "is only for 'method: quantiles'",
        ),
        ("method: quantiles", "method: mondrian\nby: rank", "is only for 'method: quantiles'"),
    ],
)
def test_mistakes_are_one_line_and_nothing_is_written(tmp_path, capsys, old, new, told):
    assert old in TABLE
    path = write_people(tmp_path, TABLE.replace(old, new))
    code = run(["anonymise", str(path), "--out", str(tmp_path / "out")])
    error = capsys.readouterr().err
    assert code != 0
    assert told in error
    assert len(error.strip().splitlines()) == 1
    assert not (tmp_path / "out/release.csv").exists()
