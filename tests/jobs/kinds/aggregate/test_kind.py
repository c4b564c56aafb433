"""Aggregates as jobs: what they answer beside DuckDB, what they hide, and what they refuse."""

import csv
import json

import numpy as np
import pytest

from coterie.base.errors import CoterieError, DataError
from coterie.jobs.kinds.job_file import load_job
from tests.jobs.kinds.aggregate.samples import (
    ATTRIBUTES,
    BASIC,
    BASIC_SQL,
    POOLED,
    N,
    check,
    duck,
    people,
    run,
    write_job,
)


@pytest.mark.parametrize("attributes", [ATTRIBUTES, POOLED], ids=["vertical", "horizontal"])
@pytest.mark.parametrize(
    "by", [(), ("Job",), ("Sex",), ("Job", "Late"), ("Late", "Sex", "Job")], ids=len
)
def test_shown_groups_are_what_duckdb_finds_in_the_joined_table(tmp_path, by, attributes):
    table = people()
    keys = f"by: [{', '.join(by)}]\n{BASIC}minimum: 5\n"
    result = run(write_job(tmp_path, table, keys, attributes))
    assert result["records"] == N
    assert check(result, table, by, BASIC_SQL) >= 1
    folder = tmp_path / "out"
    assert json.loads((folder / "result.json").read_text())["groups"] == result["groups"]
    with (folder / "groups.csv").open() as file:
        assert next(csv.reader(file))[: len(by)] == list(by)


def test_sums_of_decimals_are_exact(tmp_path):
    table = people() | {"Pay": [0.1] * N}
    result = run(
        write_job(tmp_path, table, "measures: [{sum: Pay}, {mean: Pay}, {variance: Pay}]\n")
    )
    assert result["groups"] == [{"by": [], "measures": [24, 0.1, 0]}]


def test_without_a_minimum_empty_groups_have_no_mean(tmp_path):
    table = people(records=60)
    table["Job"] = np.where(table["Job"] == "D", "A", table["Job"])
    keys = "by: [Job]\nmeasures: [{count: true}, {sum: Pay}, {mean: Pay}, {variance: Pay}]\nminimum: 1\n"
    result = run(write_job(tmp_path, table, keys))
    assert result["groups"][3] == {"by": ["D"], "measures": [0, 0, None, None]}


def test_a_small_group_is_hidden_with_another_one(tmp_path):
    table = people()
    assert 0 < (table["Job"] == "D").sum() < 5
    result = run(write_job(tmp_path, table, f"by: [Job]\n{BASIC}"))
    hidden = [group["by"] for group in result["groups"] if group["measures"][0] is None]
    assert ["D"] in hidden
    assert len(hidden) == 2


def test_what_was_opened_is_listed_and_only_of_shown_groups(tmp_path):
    result = run(write_job(tmp_path, people(), "by: [Job]\nmeasures: [{sum: Pay}]\n"))
    opened = [entry["what"] for entry in result["opened"]]
    assert "aggregate: sums" in opened
    assert "aggregate: numbers of records" not in opened


@pytest.mark.parametrize(
    ("column", "value", "keys", "said"),
    [
        ("Pay", "5000.5", "", "outside the range"),
        ("Pay", "many", "", "not a number"),
        ("Pay", "1.234", "", "more than 2 decimals"),
        ("Pay", "", "", "no value"),
        ("Job", "E", "", "not among the attribute's values"),
    ],
)
def test_bad_values_are_named_before_anything_is_exchanged(tmp_path, column, value, keys, said):
    table = people()
    table[column] = [*table[column][:3], value, *table[column][4:]]
    path = write_job(tmp_path, table, f"by: [Job]\n{BASIC}{keys}")
    with pytest.raises(DataError, match=f"{column}.*{said}|{said}.*{column}"):
        run(path)


def test_a_group_column_of_too_many_values_is_named(tmp_path):
    table = people(records=5000) | {"Late": [str(i) for i in range(5000)]}
    with pytest.raises(DataError, match="'Late' has 5000 values, more than 4096"):
        run(write_job(tmp_path, table, f"by: [Late]\n{BASIC}"))


def test_a_measure_of_a_column_with_gaps_can_drop_them(tmp_path):
    table = people()
    gaps = table | {"Pay": ["" if i in (2, 5) else pay for i, pay in enumerate(table["Pay"])]}
    attributes = ATTRIBUTES.replace("decimals: 2", "decimals: 2, missing: drop")
    result = run(write_job(tmp_path, gaps, BASIC, attributes))
    kept = {name: np.delete(column, [2, 5]) for name, column in table.items()}
    assert check(result, kept, (), BASIC_SQL) == 1


def test_two_seeds_give_one_answer(tmp_path):
    path = write_job(tmp_path, people(), f"by: [Job, Sex]\n{BASIC}")
    assert run(path, "1")["groups"] == run(path, "2")["groups"]


def test_errors_are_one_line(tmp_path):
    table = people() | {"Age": ["old"] * N}
    with pytest.raises(CoterieError) as caught:
        run(write_job(tmp_path, table, BASIC))
    assert "\n" not in str(caught.value)


QUANTILES = "{quantile: [Age, 0.5]}, {quantile: [Age, 0.9]}, {quantile: [Pay, 0.25]}"


@pytest.mark.parametrize("attributes", [ATTRIBUTES, POOLED], ids=["vertical", "horizontal"])
def test_quantiles_are_those_of_duckdb_to_the_width_of_a_bucket(tmp_path, attributes):
    table = people()
    keys = f"by: [Sex, Late]\nmeasures: [{QUANTILES}]\nminimum: 3\n"
    result = run(write_job(tmp_path, table, keys, attributes))
    what = "quantile_disc(Age, 0.5), quantile_disc(Age, 0.9), quantile_disc(Pay, 0.25)"
    expected = duck(table, ("Sex", "Late"), what)
    assert result["buckets"]["Age"] == list(range(18, 91))
    ends = np.array(result["buckets"]["Pay"])
    shown = [group for group in result["groups"] if group["measures"][0] is not None]
    assert shown
    for group in shown:
        *ages, pay = expected[tuple(group["by"])]
        assert group["measures"][:2] == ages
        assert group["measures"][2] == ends[ends <= pay][-1]
        assert pay - group["measures"][2] < 5.001


def test_a_quantile_with_too_few_records_beyond_it_is_hidden(tmp_path):
    table = people(records=60)
    keys = "measures: [{quantile: [Age, 0.5]}, {quantile: [Age, 0.95]}]\nminimum: 5\n"
    [group] = run(write_job(tmp_path, table, keys))["groups"]
    assert group["measures"] == [sorted(table["Age"].tolist())[29], None]


def test_the_extremes_are_those_that_as_many_records_as_the_minimum_reach(tmp_path):
    table = people()
    keys = "measures: [{smallest: Age}, {largest: Age}]\nminimum: 4\n"
    [group] = run(write_job(tmp_path, table, keys))["groups"]
    ages = sorted(table["Age"].tolist())
    assert group["measures"] == [ages[3], ages[-4]]
    job = load_job(tmp_path / "job.yaml")
    assert [one.title for one in job.measures] == ["4th smallest of Age", "4th largest of Age"]


def test_extremes_in_declared_buckets_are_their_lower_ends(tmp_path):
    table = people()
    attributes = ATTRIBUTES.replace("range: [18, 90]", "range: [18, 90], cuts: [30, 50]")
    keys = "measures: [{smallest: Age}, {largest: Age}, {quantile: [Age, 0.5]}]\n"
    [group] = run(write_job(tmp_path, table, keys, attributes))["groups"]
    assert group["measures"] == [18, 50, 50]


@pytest.mark.parametrize(("rule", "hidden"), [("0.5", True), ("0.7", False)])
def test_a_group_that_one_record_dominates_is_hidden(tmp_path, rule, hidden):
    table = people()
    job, pay = table["Job"], table["Pay"].copy()
    places = np.flatnonzero(job == "B")
    pay[places] = 10.0
    pay[places[0]] = np.floor(pay[places].sum() * 1.4)  # some 58 % of the sum
    keys = f"by: [Job]\nmeasures: [{{sum: Pay}}]\nminimum: 1\ndominance: {rule}\n"
    result = run(write_job(tmp_path, table | {"Pay": pay}, keys))
    shown = {group["by"][0]: group["measures"][0] for group in result["groups"]}
    assert (shown["B"] is None) == hidden
    if not hidden:
        assert shown["B"] == pytest.approx(pay[places].sum())


def test_several_of_the_largest_are_judged_together(tmp_path):
    table = people(records=40) | {"Pay": np.array([400.0] * 3 + [10.0] * 37)}
    for rule, hidden in (("{largest: 3, share: 0.7}", True), ("{largest: 1, share: 0.7}", False)):
        keys = f"measures: [{{sum: Pay}}]\ndominance: {rule}\n"
        [group] = run(write_job(tmp_path, table, keys))["groups"]
        assert (group["measures"] == [None]) == hidden


@pytest.mark.parametrize("attributes", [ATTRIBUTES, POOLED], ids=["vertical", "horizontal"])
def test_numbers_are_rounded_before_they_are_opened(tmp_path, attributes):
    table = people()
    keys = "by: [Sex]\nmeasures: [{count: true}, {sum: Pay}, {mean: Pay}, {mean: Debt}]\nround: 7\n"
    result = run(write_job(tmp_path, table, keys, attributes))
    expected = duck(table, ("Sex",), "count(*), sum(Pay), avg(Pay), avg(Debt)")
    for group in result["groups"]:
        exact = expected[tuple(group["by"])]
        assert group["measures"] == [7 * int(float(x) // 7 + (float(x) % 7 >= 3.5)) for x in exact]
    opened = {entry["what"] for entry in result["opened"]}
    assert "aggregate: rounded numbers" in opened
    assert not opened & {"aggregate: sums", "aggregate: numbers of records"}
