"""`coterie.advise` on frames in memory."""

import json

import pandas as pd
import pytest

import coterie
from coterie.__main__ import run
from coterie.base.errors import UsageError
from tests.onetable.interface.test_frames import people
from tests.onetable.people import write_people


def test_a_frame_gets_the_advice_of_the_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_people(tmp_path)
    assert run(["advise", "people.csv", "--population", "1000", "--id", "ID", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    found = coterie.advise(people(), population=1000, identifiers="ID")
    assert dict(found) | {"yaml": ""} == told | {"yaml": ""}
    assert coterie.advise("people.csv", population=1000, identifiers=["ID"]) == told
    assert str(found) == told["yaml"].replace('"people.csv"', '"table.csv"')
    assert found._repr_html_().startswith("<pre>")
    release = coterie.anonymise(people(), found.qid, found.k, drop=found.drop)
    assert release.result["anonymity"][0]["smallest"] >= found.k == told["k"]


def test_wishes_that_cannot_be_are_refused():
    for wish, said in (
        ({"alpha": 2.0}, "alpha must be between 0 and 1"),
        ({"k": 0}, "k must be at least 1"),
        ({"qid": "ID", "identifiers": "ID"}, "'ID' cannot be in the qid and an identifier"),
        ({"population": 3}, "population of 3 is smaller than the table"),
    ):
        with pytest.raises(UsageError, match=said):
            coterie.advise(people(), **wish)


def test_the_row_numbers_of_a_part_of_a_frame_are_no_column():
    part = pd.DataFrame({"Age": [30, 40] * 20, "Sex": ["F", "M"] * 20})[lambda f: f.index > 3]
    assert coterie.anonymise(part, "Age", 5).table.column_names == ["Age", "Sex"]
    assert coterie.advise(part).qid == ["Age", "Sex"]
    assert coterie.Generalizer(5, qid=["Age"]).fit(part).transform(part).shape == (36, 1)
