"""A result that is not of the expected form is an error that names the place."""

import pytest

from coterie.base.errors import UsageError, VerificationError
from coterie.jobs.file.result_file import Claim, read_claims


def test_values_are_read_by_their_place():
    claim = Claim({"tables": [{"cells": 3, "name": "x", "share": 0.5}]})
    table = claim.entry("tables").items()[0]
    assert table.entry("cells").integer(minimum=3) == 3
    assert table.entry("share").number() == 0.5
    assert table.entry("name").text() == "x"
    assert table.optional("none") is None
    assert Claim(["a", "b"]).texts() == ["a", "b"]


@pytest.mark.parametrize(
    ("read", "complaint"),
    [
        (lambda c: c.entry("none"), "result.json: the key 'none' is missing"),
        (lambda c: c.entry("n").items(), "result.json: n: must be a list"),
        (lambda c: c.entry("n").entry("x"), "result.json: n: must be a mapping"),
        (lambda c: c.entry("n").text(), "result.json: n: must be a text"),
        (lambda c: c.entry("n").integer(minimum=8), "result.json: n: must be at least 8, not 7"),
        (lambda c: c.entry("yes").integer(), "result.json: yes: must be a whole number"),
        (lambda c: c.entry("yes").number(), "result.json: yes: must be a number"),
        (lambda c: c.entry("inf").number(), "result.json: inf: must be a number"),
        (lambda c: c.entry("long").number(), "result.json: long: is a number of 401 digits"),
        (lambda c: c.entry("long").integer(), "result.json: long: is a number of 401 digits"),
        (lambda c: c.entry("many").integer(), "result.json: many: is a number of 20 digits"),
        (lambda c: c.entry("l").items()[1].text(), r"result.json: l\[1\]: must be a text"),
    ],
)
def test_every_complaint_names_the_place(read, complaint):
    numbers = {"n": 7, "inf": float("inf"), "long": 10**400, "many": 10**19}
    claim = Claim({**numbers, "yes": True, "l": ["a", 2]})
    with pytest.raises(VerificationError, match=complaint):
        read(claim)


def test_a_file_that_is_not_there_or_no_json_is_named(tmp_path):
    with pytest.raises(UsageError, match="No such file"):
        read_claims(tmp_path)
    (tmp_path / "result.json").write_text("[" * 100_000)
    with pytest.raises(VerificationError, match="not JSON"):
        read_claims(tmp_path)
