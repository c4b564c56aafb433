"""`coterie.attack` on frames in memory."""

import json

import pandas as pd
import pyarrow as pa
import pytest

import coterie
from coterie.__main__ import run
from coterie.base.errors import UsageError
from tests.onetable.interface.test_frames import people
from tests.onetable.people import write_people


def test_a_release_in_memory_is_attacked_as_its_folder_is(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_people(tmp_path)
    made = ["anonymise", "people.csv", "--qid", "Age,Sex", "--k", "5", "--out", "out"]
    assert run(made) == 0
    capsys.readouterr()
    assert run(["attack", "out", "--known", "people.csv", "--columns", "Age,Sex", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert coterie.attack("out", people(), ["Age", "Sex"]) == told
    release = coterie.anonymise(people(), ["Age", "Sex"], 5, drop=["ID"])
    found = coterie.attack(release, people(), ["Age", "Sex"])
    for key in ("records", "linked_on", "outside_qids", "matched", "found"):
        assert found[key] == told[key]
    assert found["found"] == 0
    assert str(found).startswith("40 people, 40 released records, linked on Age, Sex")
    assert found._repr_html_().startswith("<pre>40 people")


def test_a_taxonomy_and_a_column_outside_every_qid_count():
    frame = pd.DataFrame({"Town": ["Bonn", "Ulm"] * 5, "Age": [*range(30, 40)]})
    paths = [["Bonn", "Any"], ["Ulm", "Any"]]
    release = coterie.anonymise(frame, "Town", 10, taxonomies={"Town": paths}, keep=["Age"])
    assert set(release.table["Town"].to_pylist()) == {"Any"}
    assert coterie.attack(release, frame, "Town")["people"][0]["candidates"] == 10
    known = coterie.attack(release, frame[frame.Town == "Ulm"])
    assert (known["found"], known["outside_qids"]) == (5, ["Age"])


def test_what_is_no_release_is_refused():
    with pytest.raises(UsageError, match="the release is of type Table; give what"):
        coterie.attack(pa.table({"Age": [1]}), pa.table({"Age": [1]}))


def test_people_of_other_columns_are_refused():
    release = coterie.anonymise(people(), ["Age", "Sex"], 5, drop=["ID"])
    with pytest.raises(UsageError, match="known: none of its columns is in the release, which has"):
        coterie.attack(release, pd.DataFrame({"Name": ["x"]}))
