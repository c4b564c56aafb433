"""Whole `identify` jobs, against plain counts on the joined table."""

from itertools import combinations

import numpy as np
import pytest

from coterie.base.errors import DataError, UsageError, VerificationError
from coterie.coordinator.simulate.simulation import simulate
from coterie.jobs.file.result_file import Claim
from coterie.jobs.kinds.job_file import load_job, parse_job
from coterie.jobs.kinds.registry import KINDS

HOLDS = {"a": ("Age", "Sex"), "b": ("Zip",), "c": ("Born",)}
SIZES = {"Age": 40, "Sex": 2, "Zip": 30, "Born": 12}
PARTIES = "name: who\nparties: {a: {data: a.csv}, b: {data: b.csv}, c: {data: c.csv}}\n"
ATTRIBUTES = "attributes:\n" + "".join(
    f"  {name}: {{party: {party}}}\n" for party, names in HOLDS.items() for name in names
)
N = 300


def people(seed=1, records=N):
    draw = np.random.default_rng(seed)
    return {name: draw.integers(0, size, records) for name, size in SIZES.items()}


def write(folder, table, gap=False):
    records = len(table["Age"])
    for party, names in HOLDS.items():
        order = np.random.default_rng(len(party)).permutation(records)
        rows = [",".join(["", *(str(table[n][i]) for n in names)]) for i in order]
        rows = [f"p{i}{row}" for i, row in zip(order, rows, strict=True)]
        strangers = [",".join([f"{party}{i}", *["0"] * len(names)]) for i in range(5)]
        if gap and party == "b":
            rows[0] = rows[0].rpartition(",")[0] + ","
        (folder / f"{party}.csv").write_text(
            "\n".join([",".join(["ID", *names]), *rows, *strangers])
        )


def run(folder, keys, table=None, attributes=ATTRIBUTES, gap=False, ids="id: ID\n"):
    write(folder, table or people(), gap)
    path = folder / "job.yaml"
    path.write_text(f"kind: identify\n{PARTIES}{ids}{attributes}{keys}")
    out = folder / "out"
    out.mkdir(exist_ok=True)
    return simulate(load_job(path), folder, out, seed="7")


def plain_bound(cells, people):
    """The largest of the two distributions of the paper's proof, added up cell by cell."""
    shares = [1 / max(cells, people)] * min(cells, 10**6)
    return sum(p * (1 - p) ** (people - 1) for p in shares)


def test_the_sets_are_the_minimal_ones_whose_bound_reaches_alpha(tmp_path):
    table = people()
    result = run(tmp_path, "population: 5000\nalpha: 0.15\nlongest: 3\n", table)
    distinct = {name: len(np.unique(values)) for name, values in table.items()}
    assert result["distinct"] == distinct
    due = []
    for size in (1, 2, 3):
        for names in combinations(SIZES, size):
            cells = int(np.prod([distinct[n] for n in names]))
            reached = plain_bound(cells, 5000) >= 0.15
            if reached and not any(set(one) <= set(names) for one in due):
                due.append(names)
    assert due
    assert [tuple(one["columns"]) for one in result["sets"]] == due
    for one in result["sets"]:
        assert one["cells"] == np.prod([distinct[n] for n in one["columns"]])
        assert one["bound"] == pytest.approx(plain_bound(one["cells"], 5000), rel=1e-6)


def test_separation_is_that_of_the_joined_table_to_its_step(tmp_path):
    table = people()
    table["Zip"] = table["Age"] // 2
    result = run(tmp_path, "alpha: 0.3\nlongest: 3\n", table)
    assert result["records"] == result["population"] == N
    assert result["pairs"] == 16384
    assert result["sets"]
    for one in result["sets"]:
        joined = np.stack([table[n] for n in one["columns"]], axis=1)
        _, counts = np.unique(joined, axis=0, return_counts=True)
        ratio = 1 - (counts * (counts - 1)).sum() / (N * (N - 1))
        assert one["separation"] == pytest.approx(ratio, abs=0.006)
        steps = (1 - one["separation"]) * 16384 / result["step"]
        assert steps == pytest.approx(round(steps), abs=1e-4)


def test_without_identifiers_the_numbers_of_values_are_all_that_is_told(tmp_path):
    result = run(tmp_path, "population: 5000\nalpha: 0.15\n", ids="")
    assert "records" not in result
    assert {one["separation"] for one in result["sets"]} == {None}
    told = {entry["what"] for entry in result["opened"]}
    assert "identify: distinct values" in told
    assert not any(what.startswith(("intersection", "identify: alike")) for what in told)


def test_declared_values_are_counted_as_declared_and_nothing_is_told(tmp_path):
    values = {name: [str(i) for i in range(size + 3)] for name, size in SIZES.items()}
    attributes = "attributes:\n" + "".join(
        f"  {n}: {{party: {p}, values: {values[n]}}}\n" for p, names in HOLDS.items() for n in names
    )
    result = run(tmp_path, "population: 900\n", attributes=attributes)
    assert result["distinct"] == {name: size + 3 for name, size in SIZES.items()}
    assert "identify: distinct values" not in {entry["what"] for entry in result["opened"]}


def test_a_column_of_another_value_for_everybody_is_a_set_alone(tmp_path):
    table = people()
    table["Born"] = np.arange(N)
    result = run(tmp_path, "alpha: 0.3\n", table)
    alone = [one for one in result["sets"] if one["columns"] == ["Born"]]
    assert alone[0]["separation"] == 1.0


def test_the_smallest_and_the_dullest_tables(tmp_path):
    dull = {name: np.zeros(10, int) for name in SIZES}
    result = run(tmp_path, "alpha: 0.3\n", dull)
    assert result["sets"] == []
    few = {name: np.arange(4) for name in SIZES}
    result = run(tmp_path, "alpha: 0.3\n", few)
    assert {one["separation"] for one in result["sets"]} == {None}
    # So small a share is reached by a column of one value: columns of two are the smallest sets.
    result = run(tmp_path, "alpha: 0.01\n", few)
    assert sorted(one["columns"] for one in result["sets"]) == sorted([name] for name in SIZES)


def test_an_empty_value_is_an_error_or_a_value(tmp_path):
    with pytest.raises(DataError, match="Zip"):
        run(tmp_path, "alpha: 0.3\n", gap=True)
    result = run(tmp_path, "alpha: 0.3\nmissing: value\n", gap=True)
    assert result["distinct"]["Zip"] == 31


def test_unique_people_are_counted_exactly_where_they_are_asked_for(tmp_path):
    table = people()
    keys = "population: 5000\nuniques: [[Sex, Zip], [Age], [Zip, Sex, Born]]\n"
    result = run(tmp_path, keys, table)
    for names, one in zip(
        (["Sex", "Zip"], ["Age"], ["Zip", "Sex", "Born"]), result["uniques"], strict=True
    ):
        joined = np.stack([table[n] for n in names], axis=1)
        _, counts = np.unique(joined, axis=0, return_counts=True)
        assert one["columns"] == names
        assert one["uniques"] == (counts == 1).sum()
    job = load_job(tmp_path / "job.yaml")
    assert KINDS["identify"].needs(job, "a").groups.smallest == 1
    KINDS["identify"].verify(job, Claim(result), tmp_path)
    assert "unique" in " ".join(KINDS["identify"].summary(job, Claim(result)))
    KINDS["identify"].report(job, Claim(result), tmp_path)
    result["uniques"][0]["uniques"] = 299
    with pytest.raises(VerificationError, match="299 unique people"):
        KINDS["identify"].verify(job, Claim(result), tmp_path)


def test_unique_people_of_too_many_combinations_are_refused_before_records_are_matched(
    tmp_path, monkeypatch
):
    monkeypatch.setattr("coterie.jobs.kinds.identify.kind.MOST_CELLS", 4096)
    monkeypatch.delattr("coterie.jobs.kinds.identify.kind.line_up")
    with pytest.raises(DataError, match="combinations, more than the 4,096"):
        run(tmp_path, "uniques: [[Age, Zip, Born]]\n")


def test_a_population_below_the_common_records_is_refused(tmp_path):
    with pytest.raises(DataError, match="smaller than the 300 common records"):
        run(tmp_path, "population: 299\n")


MANY = "attributes:\n" + "".join(f"  c{i}: {{party: a}}\n" for i in range(40))


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ("id: ID\nalpha: 0\n" + ATTRIBUTES, "alpha: must be above 0 and below 1"),
        ("id: ID\nalpha: 1\n" + ATTRIBUTES, "alpha: must be above 0 and below 1"),
        ("id: ID\nlongest: 0\n" + ATTRIBUTES, "longest: must be at least 1"),
        ("id: ID\nlongest: 20\n" + MANY, "40 columns have .* sets of up to 20"),
        (ATTRIBUTES, "needs 'population', or 'id'"),
        ("population: 10\npairs: 2000\n" + ATTRIBUTES, "pairs: has no meaning without 'id'"),
        ("id: ID\npopulation: 0\n" + ATTRIBUTES, "population: must be at least 1"),
        ("id: ID\nround: 0.9\n" + ATTRIBUTES, "round: must be at most 0.5"),
        ("id: ID\nuniques: [[Sex, Sex]]\n" + ATTRIBUTES, "list of different attributes"),
        ("id: ID\nattributes: {}\n", "at least one attribute"),
        ("id: ID\nclass: Sex\n" + ATTRIBUTES, "class: unknown key"),
    ],
)
def test_what_cannot_be_answered_is_named_before_anything_is_exchanged(keys, message):
    with pytest.raises(UsageError, match=message):
        parse_job(f"kind: identify\n{PARTIES}{keys}", {})


def test_a_policy_judges_the_columns_the_servers_and_nothing_that_is_not_told():
    job = parse_job(f"kind: identify\n{PARTIES}id: ID\n{ATTRIBUTES}", {})
    needs = KINDS["identify"].needs(job, "a")
    assert needs.columns.used == ("Age", "Sex")
    assert needs.columns.released == ()
    assert needs.answers.servers == ("a", "b")
    bare = parse_job(f"kind: identify\n{PARTIES}population: 9\n{ATTRIBUTES}", {})
    assert KINDS["identify"].needs(bare, "a").columns.used == ("Age", "Sex")
    assert KINDS["identify"].needs(bare, "a").answers.servers == ()


@pytest.mark.parametrize("ids", ["", "id: ID\n"])
@pytest.mark.parametrize("alpha", [0.2, 0.6])
def test_values_of_the_table_are_not_taken_for_those_of_the_population(tmp_path, ids, alpha):
    """A column of telephone numbers is named however large the population is."""
    table = people()
    table["Zip"] = 1_000 + np.arange(N)
    result = run(tmp_path, f"population: 50000\nalpha: {alpha}\n", table, ids=ids)
    assert ["Zip"] in [one["columns"] for one in result["sets"]]
    assert result["distinct"]["Sex"] == 2
    KINDS["identify"].verify(load_job(tmp_path / "job.yaml"), Claim(result), tmp_path)
