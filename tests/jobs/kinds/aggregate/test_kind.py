"""Aggregates as jobs: what they answer beside DuckDB, what they hide, and what they refuse."""

import csv
import json

import numpy as np
import pytest

from coterie.base.errors import CoterieError, DataError
from tests.jobs.kinds.aggregate.samples import (
    ATTRIBUTES,
    BASIC,
    BASIC_SQL,
    POOLED,
    N,
    check,
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
        ("Job", "E", "", "none of the attribute's values"),
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
