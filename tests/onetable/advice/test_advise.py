"""`coterie advise`: its YAML is accepted by `coterie anonymise`, and its warnings are right."""

import json

import numpy as np
import pytest

from coterie.__main__ import run
from coterie.jobs.kinds.job_file import parse_job
from tests.jobs.loans import JOB_FILE, loan_folder
from tests.onetable.people import TABLE_FILE, rows, write_people


def advised(capsys, path, *options):
    capsys.readouterr()
    code = run(["advise", str(path), "--json", *options])
    found = json.loads(capsys.readouterr().out)
    return found if code == 0 else (code, found["error"])


def test_a_data_file_becomes_a_table_file_that_can_be_anonymised(capsys, tmp_path):
    write_people(tmp_path, people=rows(90))
    out = tmp_path / "advice.yaml"
    found = advised(capsys, tmp_path / "people.csv", "--sensitive", "Ill", "--class", "Class",
                    "--crowd", "6", "--out", str(out))  # fmt: skip
    assert found["requirement"] == [{"qid": ["Age", "Place", "Sex"], "k": 6, "sensitive": ["Ill"]}]
    assert out.read_text() == found["yaml"]
    assert "id: [ID]" in found["yaml"]
    assert all(
        "#" in line
        for line in found["yaml"].splitlines()
        if line.startswith("  ") and "qid" not in line
    )
    assert run(["anonymise", str(out), "--out", str(tmp_path / "out")]) == 0
    assert run(["verify", str(tmp_path / "out")]) == 0
    assert run(["advise", str(tmp_path / "people.csv"), "--out", str(out)]) == 2


def test_a_table_file_keeps_all_but_its_requirement(capsys, tmp_path):
    text = TABLE_FILE.replace("k: 3, sensitive: Ill, l: 2", "k: 3, sensitive: Ill, t: 0.6")
    path = write_people(tmp_path, text + "max_suppression: 0.0\n", rows(90))
    found = advised(capsys, path, "--crowd", "5")
    proposed = tmp_path / "proposed.yaml"
    proposed.write_text(found["yaml"])
    assert "sensitive: Ill, t: 0.6" in found["yaml"]
    assert "max_suppression: 0.0" in found["yaml"]
    assert found["keep"]["Place"]["level"] is not None
    assert run(["anonymise", str(proposed), "--out", str(tmp_path / "out")]) == 0


@pytest.mark.parametrize(
    ("method", "requirement", "proposed"),
    [
        ("condense", "k: 3  # people", "k: 12  # people"),
        ("quantiles", "requirement: [{qid: [Age], k: 3}]", "  - {qid: [Age], k: 12}"),
    ],
)
def test_a_method_with_qids_of_its_own_gets_another_k(
    capsys, tmp_path, method, requirement, proposed
):
    text = f"data: people.csv\nmethod: {method}\nattributes:\n  Age: {{}}\n{requirement}\n"
    path = write_people(tmp_path, text, rows(90))
    found = advised(capsys, path, "--crowd", "12")
    assert found["requirement"] == [{"qid": ["Age"], "k": 12}]
    assert proposed in found["yaml"]
    path.write_text(found["yaml"])
    assert run(["anonymise", str(path), "--out", str(tmp_path / "out")]) == 0


def test_a_job_file_is_advised_on_its_joined_table(capsys, tmp_path):
    path = loan_folder(tmp_path)
    found = advised(capsys, path, "--crowd", "4", "--smallest-k", "4")
    (tmp_path / "proposed.yaml").write_text(found["yaml"])
    assert run(["simulate", str(tmp_path / "proposed.yaml"), "--out", str(tmp_path / "out"),
                "--seed", "1"]) == 0  # fmt: skip
    assert found["population"] == 34


def test_a_population_needs_smaller_groups_and_a_policy_larger_ones(capsys, tmp_path):
    write_people(tmp_path, people=rows(90))
    path = tmp_path / "people.csv"
    assert advised(capsys, path)["k"] == 10
    assert advised(capsys, path, "--population", "1000000")["k"] == 5
    policy = tmp_path / "party.yaml"
    policy.write_text("policy:\n  smallest_k: 12\n")
    assert advised(capsys, path, "--policy", str(policy))["k"] == 12


def test_entries_that_others_cover_and_columns_diverse_only_alone_are_warned_of(capsys, tmp_path):
    text = TABLE_FILE.replace("  Ill: {}\n", "  Ill: {}\n  Class: {}\n").replace(
        "class: Class\n", ""
    )
    text = text.replace(
        "  - {qid: [Age, Place, Sex], k: 3, sensitive: Ill, l: 2}\n",
        "  - {qid: [Age, Sex], k: 3}\n  - {qid: [Age, Place, Sex], k: 3, sensitive: Ill, l: 2}\n"
        "  - {qid: [Age, Place, Sex], k: 3, sensitive: Class, l: 2}\n",
    )
    found = advised(capsys, write_people(tmp_path, text, rows(90)), "--crowd", "5")
    told = "\n".join(found["warnings"])
    assert "entry 1 (Age, Sex, k = 3) is covered by entry 2" in told
    assert "each is diverse alone, joined they may not be" in told
    assert "sensitive: [Ill, Class], l: 2" in found["yaml"]


def test_a_cliff_is_told(capsys, tmp_path):
    people = [[f"p{i}", "30", "San Diego" if i % 10 else "Lincoln", "FM"[i % 2], "flu", "y"]
              for i in range(90)]  # fmt: skip
    write_people(tmp_path, people=people)
    found = advised(capsys, tmp_path / "people.csv", "--id", "ID", "--smallest-k", "10")
    assert any("k = 9 would permit Place, which k = 10" in w for w in found["warnings"])
    assert "# warning: k = 9 would permit Place" in found["yaml"]


def test_several_small_qids_for_somebody_who_knows_little(capsys, tmp_path):
    write_people(tmp_path, people=rows(90))
    found = advised(capsys, tmp_path / "people.csv", "--known", "2", "--smallest-k", "3")
    assert len(found["requirement"]) > 1
    assert all(len(entry["qid"]) == 2 for entry in found["requirement"])


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (["--sensitive", "Illl"], "no column 'Illl'; did you mean 'Ill'?"),
        (["--population", "10"], "is smaller than the table"),
        (["--beta", "2"], "beta must be between 0 and 1"),
        (["--smallest-k", "91"], "has 90 records, fewer than the k = 91"),
        (["--policy", "none.yaml"], "none.yaml: No such file"),
    ],
)
def test_wishes_that_cannot_be_met(capsys, tmp_path, options, error):
    write_people(tmp_path, people=rows(90))
    assert error in advised(capsys, tmp_path / "people.csv", *options)[1]


def test_tables_that_cannot_be_advised_on(capsys, tmp_path):
    (tmp_path / "empty.csv").write_text("a,b\n")
    (tmp_path / "same.csv").write_text("a,b\n1,2\n1,2\n")
    (tmp_path / "one.csv").write_text("a,b\n1,2\n")
    assert "no records" in advised(capsys, tmp_path / "empty.csv")[1]
    assert "no column is left" in advised(capsys, tmp_path / "same.csv")[1]
    assert "no column is left" in advised(capsys, tmp_path / "one.csv")[1]
    path = loan_folder(tmp_path, JOB_FILE.replace("  bank: {data: bank.csv}", "  bank: {}"))
    assert "parties.bank: the key 'data' is missing" in advised(capsys, path)[1]


def test_a_job_is_advised_from_an_identify_result_without_its_tables(capsys, tmp_path):
    path = loan_folder(tmp_path)
    result = {
        "records": 34,
        "population": 34,
        "distinct": {"Sex": 2, "Job": 7, "Salary": 11},
        "sets": [{"columns": ["Job", "Salary"], "cells": 77, "bound": 0.6, "separation": 1.0}],
    }
    (tmp_path / "result.json").write_text(json.dumps(result))
    for party in ("lender", "bank"):
        (tmp_path / f"{party}.csv").unlink()
    found = advised(capsys, path, "--identified", str(tmp_path))
    assert found["population"] == 34
    assert found["quasi_identifiers"]
    assert "Job, Salary tell 100.00% of pairs" in found["yaml"]
    assert any("has not looked at Zodiac" in line for line in found["warnings"])
    assert parse_job(
        found["yaml"], {f"{n}.csv": (tmp_path / f"{n}.csv").read_bytes() for n in ("Sex", "Job")}
    ).requirements
    code, error = advised(capsys, tmp_path / "x.csv", "--identified", str(tmp_path))
    assert code == 2
    assert "needs a job file" in str(error)


def test_a_search_that_is_cut_off_gives_no_all_clear(capsys, tmp_path):
    rng = np.random.default_rng(3)
    lines = [",".join(f"c{j}" for j in range(60))]
    lines += [",".join(map(str, row)) for row in rng.integers(0, 3, (400, 60))]
    (tmp_path / "wide.csv").write_text("\n".join(lines) + "\n")
    found = advised(capsys, tmp_path / "wide.csv")
    assert "no set of columns may single out" not in found["yaml"]
    assert "others may single people out" in found["yaml"]
    assert found["searched"] == {"columns": 4, "of": 60, "complete": False}
    assert found["quasi_identifiers"]
    few = advised(capsys, tmp_path / "wide.csv", "--known", "8")  # 2.6 billion sets
    assert len(few["requirement"]) == 1


def test_dates_are_proposed_as_dates(capsys, tmp_path):
    rows = [
        f"20{10 + i % 9}-0{1 + i % 9}-11,2020-01-0{1 + i % 3} 10:00:00,{'ab'[i % 2]}"
        for i in range(200)
    ]
    (tmp_path / "visits.csv").write_text("\n".join(["Born,Seen,Kind", *rows]) + "\n")
    text = advised(capsys, tmp_path / "visits.csv")["yaml"]
    assert "  Born: {type: date}" in text
    assert "  Seen: {type: datetime}" in text
    assert "  Kind: {flat: true}" in text
