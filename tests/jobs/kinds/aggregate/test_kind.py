"""Aggregates as jobs: what they answer beside DuckDB, what they hide, and what they refuse."""

import csv
import json

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from coterie.base.errors import CoterieError, DataError, UsageError, VerificationError
from coterie.coordinator.results.verify import verify
from coterie.coordinator.simulate.simulation import simulate
from coterie.jobs.kinds.job_file import load_job

N = 240
HELD = {"lender": ["Sex", "Pay"], "bank": ["Job", "Age"], "card": ["Late", "Debt"]}
ATTRIBUTES = """
attributes:
  Sex: {party: lender, values: [F, M]}
  Pay: {party: lender, range: [0, 5000], decimals: 2}
  Job: {party: bank, values: [A, B, C, D]}
  Age: {party: bank, range: [18, 90]}
  Late: {party: card}
  Debt: {party: card, range: [-100, 900.5]}
"""
POOLED = """
attributes:
  Sex: {values: [F, M]}
  Pay: {range: [0, 5000], decimals: 2}
  Job: {values: [A, B, C, D]}
  Age: {range: [18, 90]}
  Late: {values: ["0", "1"]}
  Debt: {range: [-100, 900.5]}
"""
BASIC = "measures: [{count: true}, {sum: Pay}, {mean: Pay}, {variance: Pay}, {mean: Age}, {sum: Debt}]\n"
BASIC_SQL = "count(*), sum(Pay), avg(Pay), var_samp(Pay), avg(Age), sum(Debt)"


def people(seed=1, records=N):
    rng = np.random.default_rng(seed)
    return {
        "ID": [f"p{i}" for i in range(records)],
        "Sex": rng.choice(["F", "M"], records),
        "Pay": np.round(rng.gamma(2, 600, records).clip(0, 5000), 2),
        "Job": rng.choice(["A", "B", "C", "D"], records, p=[0.4, 0.3, 0.29, 0.01]),
        "Age": rng.integers(18, 91, records),
        "Late": rng.choice(["0", "1"], records),
        "Debt": np.round(rng.uniform(-100, 900, records), 1),
    }  # fmt: skip


def write_job(folder, table, keys, attributes=ATTRIBUTES, held=HELD):
    """The job on the table divided by columns; every party has strangers, too."""
    horizontal = "party" not in attributes
    rng = np.random.default_rng(7)
    for at, (party, columns) in enumerate(held.items()):
        if horizontal:
            part = {name: column[at :: len(held)] for name, column in table.items() if name != "ID"}
        else:
            strangers = {"ID": [f"{party}{i}" for i in range(5)]}
            part = {n: [*table[n], *strangers.get(n, table[n][:5])] for n in ("ID", *columns)}
            order = rng.permutation(len(part["ID"]))
            part = {name: [column[i] for i in order] for name, column in part.items()}
        with (folder / f"{party}.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(part)
            writer.writerows(zip(*part.values(), strict=True))
    parties = "\n".join(f"  {party}: {{data: {party}.csv}}" for party in held)
    how = "partition: horizontal" if horizontal else "id: ID"
    path = folder / "job.yaml"
    path.write_text(
        f"kind: aggregate\nname: test\nparties:\n{parties}\n{how}\n{attributes}\n{keys}"
    )
    return path


def run(path, seed="7"):
    out = path.parent / "out"
    out.mkdir(exist_ok=True)
    return simulate(load_job(path), path.parent, out, seed=seed)


def duck(table, by, what):
    """DuckDB's answer on the joined table, by group."""
    names = ", ".join(by)
    grouping = f"group by {names}" if by else ""
    query = f"select {names + ', ' if by else ''}{what} from joined {grouping}"
    with duckdb.connect() as connection:
        connection.register("joined", pa.table({n: pa.array(c) for n, c in table.items()}))
        rows = connection.sql(query).fetchall()
    return {row[: len(by)]: row[len(by) :] for row in rows}


def check(result, table, by, what, minimum=5):
    """Shown groups are DuckDB's; those below the minimum are hidden. Returns how many are shown."""
    expected = duck(table, by, f"count(*), {what}")
    shown = 0
    for group in result["groups"]:
        size, *numbers = expected.get(tuple(group["by"]), (0, *[None] * len(group["measures"])))
        if all(number is None for number in group["measures"]):
            continue
        shown += 1
        assert size >= minimum
        assert group["measures"] == pytest.approx([float(n) for n in numbers], rel=1e-12)
    return shown


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


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ("by: [Job]\nmeasures: []\n", "at least one measure"),
        ("by: [Job, Job]\nmeasures: [{count: true}]\n", "twice"),
        ("by: [Town]\nmeasures: [{count: true}]\n", "by\\[0\\].*one of"),
        ("by: [Job]\nmeasures: [{median: Pay}]\n", "one key, which is one of"),
        ("by: [Job]\nmeasures: [{sum: Pay, mean: Pay}]\n", "one key"),
        ("by: [Job]\nmeasures: [{count: false}]\n", "must be true"),
        ("by: [Job]\nmeasures: [{count: true}]\nclass: Job\n", "has no class"),
        ("by: [Job]\nmeasures: [{count: true}]\nmaximum: 3\n", "unknown key"),
    ],
)
def test_wrong_keys_are_named(tmp_path, keys, said):
    with pytest.raises(UsageError, match=said):
        run(write_job(tmp_path, people(), keys))


def test_numbers_of_too_many_digits_are_refused(tmp_path):
    attributes = ATTRIBUTES.replace("[0, 5000], decimals: 2", "[0, 5000000], decimals: 15")
    with pytest.raises(UsageError, match="too many digits"):
        run(write_job(tmp_path, people(), BASIC, attributes))


def test_a_measure_of_a_column_with_gaps_can_drop_them(tmp_path):
    table = people()
    gaps = table | {"Pay": ["" if i in (2, 5) else pay for i, pay in enumerate(table["Pay"])]}
    attributes = ATTRIBUTES.replace("decimals: 2", "decimals: 2, missing: drop")
    result = run(write_job(tmp_path, gaps, BASIC, attributes))
    kept = {name: np.delete(column, [2, 5]) for name, column in table.items()}
    assert check(result, kept, (), BASIC_SQL) == 1


def altered(folder, change):
    path = folder / "result.json"
    result = json.loads(path.read_text())
    change(result)
    path.write_text(json.dumps(result))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda r: r["groups"].pop(), "other values than in the job"),
        (lambda r: r["groups"].append(r["groups"][0]), "every combination"),
        (lambda r: r["groups"][0]["measures"].__setitem__(0, 2), "hides those below 5"),
        (lambda r: r["groups"][0]["measures"].__setitem__(0, None), "hides others"),
        (lambda r: r["groups"][0]["measures"].__setitem__(2, 9999), "outside the range"),
        (lambda r: r["groups"][0]["measures"].__setitem__(1, 17), "do not fit"),
        (lambda r: r["groups"][0]["measures"].__setitem__(3, -1), "impossible"),
        (lambda r: r["groups"][0]["measures"].__setitem__(5, 1), "differs from the groups"),
    ],
)
def test_verify_rejects_a_changed_result(tmp_path, change, said):
    run(write_job(tmp_path, people(), f"by: [Sex]\n{BASIC}"))
    verify(tmp_path / "out")
    altered(tmp_path / "out", change)
    with pytest.raises(VerificationError, match=said):
        verify(tmp_path / "out")


def test_two_seeds_give_one_answer(tmp_path):
    path = write_job(tmp_path, people(), f"by: [Job, Sex]\n{BASIC}")
    assert run(path, "1")["groups"] == run(path, "2")["groups"]


def test_errors_are_one_line(tmp_path):
    table = people() | {"Age": ["old"] * N}
    with pytest.raises(CoterieError) as caught:
        run(write_job(tmp_path, table, BASIC))
    assert "\n" not in str(caught.value)
