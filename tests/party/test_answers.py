"""What a coordinator is told about identifiers is the same whatever they are, unless the policy says so."""

from types import SimpleNamespace

import pyarrow as pa
import pytest

from coterie.jobs.matching.hygiene import profile
from coterie.party.answers import ASK, about_identifiers

WORLDS = {
    "as they should be": ["p1", "p2", "p3"],
    "with white space": ["p1", "p2 ", " p3"],
    "with capital letters": ["p1", "P2", "p3"],
    "as decimal numbers": ["1.0", "2.0", "3"],
    "as dates": ["31.01.2020", "2020-01-30", "2020-01-29"],
}


def prepared(values):
    findings = profile(pa.table({"ID": values}), ["ID"])
    return SimpleNamespace(identifiers=SimpleNamespace(findings=findings))


@pytest.mark.parametrize("world", WORLDS)
def test_without_permission_all_identifiers_get_one_answer(world):
    assert about_identifiers(prepared(WORLDS[world]), "columns", counts=True) == [ASK]


def test_a_policy_that_explains_rows_lets_the_rule_be_proposed():
    assert about_identifiers(prepared(WORLDS["as they should be"]), "rows", counts=True) == []
    [told] = about_identifiers(prepared(WORLDS["with white space"]), "rows", counts=True)
    assert told.startswith("column 'ID': 2 values have white space at an end")
    assert "'normalise: {ID: [trim]}'" in told


def test_no_number_of_a_padded_set_is_told():
    [told] = about_identifiers(prepared(WORLDS["with white space"]), "rows", counts=False)
    assert "some values" in told


def test_a_job_without_identifiers_has_none_to_speak_of():
    assert about_identifiers(SimpleNamespace(identifiers=None), "columns", counts=True) == []


def test_the_steward_reads_the_proposal_in_the_log(caplog):
    with caplog.at_level("INFO", "coterie.party"):
        about_identifiers(prepared(WORLDS["with white space"]), "columns", counts=True)
    assert "normalise: {ID: [trim]}" in caplog.text
