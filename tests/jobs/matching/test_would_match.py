"""How many records would match under each rule, in a simulation, and what stays with a party."""

import csv
import json

import pytest

from coterie.base.errors import DataError
from coterie.coordinator.simulate.simulation import simulate
from coterie.jobs.kinds.job_file import load_job
from coterie.jobs.matching.common_records import NO_COMMON
from coterie.jobs.results.folder import summary

JOB = """\
kind: intersect
name: pilot
parties:
  lender: {data: lender.csv}
  bank: {data: bank.csv}
id: ID
"""
LENDER = ["ann", "bob ", "cid", "dan", "eve"]
BANK = ["ANN", "BOB", "cid", "DAN ", "zoe"]


def run(folder, lender=LENDER, bank=BANK, job=JOB):
    for name, people in (("lender", lender), ("bank", bank)):
        with (folder / f"{name}.csv").open("w", newline="") as file:
            csv.writer(file).writerows([["ID"], *([one] for one in people)])
    (folder / "job.yaml").write_text(job)
    (folder / "out").mkdir()
    job = load_job(folder / "job.yaml")
    result = simulate(job, folder, folder / "out")
    return result, summary(job, result, folder / "out")


def test_a_simulation_says_how_many_would_match_under_each_rule(tmp_path):
    result, lines = run(tmp_path)
    assert result["records"] == 1  # cid
    told = {entry["rule"]: entry["records"] for entry in result["identifiers"]["would_match"]}
    assert told == {"normalise: {ID: [trim]}": 1, "normalise: {ID: [lower]}": 2}
    assert "  2 records would match under 'normalise: {ID: [lower]}'" in lines
    assert any(
        line.startswith("  lender: column 'ID': 1 values have white space") for line in lines
    )


def test_rules_are_tried_though_each_party_is_consistent_alone(tmp_path):
    result, _ = run(tmp_path, ["ann", "bob"], ["ANN", "BOB"])
    assert result["identifiers"] == {
        "found": {},
        "would_match": [{"rule": "normalise: {ID: [lower]}", "records": 2}],
    }


def test_a_job_that_fails_for_want_of_matches_says_what_would_help(tmp_path):
    (tmp_path / "a.csv").write_text("ID,Sex,Class\n" + "".join(f"{i}.0,f,Y\n" for i in range(9)))
    (tmp_path / "b.csv").write_text("ID,Job\n" + "".join(f"{i},x\n" for i in range(9)))
    (tmp_path / "job.yaml").write_text(
        "kind: integrate\nname: n\nparties: {a: {data: a.csv}, b: {data: b.csv}}\nid: ID\nclass: Class\n"
        "attributes: {Sex: {party: a, flat: true}, Job: {party: b, flat: true}}\n"
        "requirement: [{qid: [Sex, Job], k: 4}]\n"
    )
    with pytest.raises(DataError) as caught:
        simulate(load_job(tmp_path / "job.yaml"), tmp_path, tmp_path / "out")
    assert str(caught.value) == (
        f"{NO_COMMON}; 9 records would match under 'normalise: {{ID: [number]}}'"
    )


def test_with_the_rules_in_the_job_nothing_is_left_to_say(tmp_path):
    result, lines = run(tmp_path, job=JOB + "normalise: [trim, lower]\n")
    assert result["records"] == 4
    assert "identifiers" not in result
    assert not any("would match" in line for line in lines)


def test_a_party_keeps_what_was_found_in_its_own_identifiers_and_in_nobody_elses(tmp_path):
    run(tmp_path)
    kept = tmp_path / "out" / "parties"
    assert (
        "1 values have white space at an end" in (kept / "lender" / "identifiers.txt").read_text()
    )
    assert "capital" not in (kept / "lender" / "identifiers.txt").read_text()
    assert "capital" in (kept / "bank" / "identifiers.txt").read_text()
    released = json.loads((tmp_path / "out" / "result.json").read_text())
    assert "identifiers" in released  # a simulation alone has both sides


def test_numbers_with_and_without_leading_zeros_match_by_a_rule(tmp_path):
    result, lines = run(tmp_path, ["000001", "000002"], ["1", "2"])
    assert result["records"] == 0
    assert result["identifiers"]["would_match"] == [
        {"rule": "normalise: {ID: [number]}", "records": 2}
    ]
    assert "  2 records would match under 'normalise: {ID: [number]}'" in lines
