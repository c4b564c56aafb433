"""Aggregates with noise as jobs: what they answer, what they hide, and what they refuse."""

import json

import numpy as np
import pytest

from coterie.base.errors import DataError, UsageError, VerificationError
from coterie.coordinator.results.verify import verify
from coterie.jobs.kinds.aggregate.noisy import queries
from coterie.jobs.kinds.job_file import load_job
from coterie.protocols.aggregates.noise import Query
from tests.jobs.kinds.aggregate.samples import ATTRIBUTES, POOLED, N, duck, people, run, write_job

ALL = "measures: [{count: true}, {sum: Pay}, {mean: Pay}, {variance: Pay}, {mean: Age}]\n"
SQL = "count(*), sum(Pay), avg(Pay), var_samp(Pay), avg(Age)"
DECLARED = ATTRIBUTES.replace("Late: {party: card}", "Late: {party: card, values: ['0', '1']}")


@pytest.mark.parametrize("attributes", [DECLARED, POOLED], ids=["vertical", "horizontal"])
@pytest.mark.parametrize("noise", ["{epsilon: 20}", "{epsilon: 20, delta: 0.001}"])
def test_numbers_are_near_those_of_duckdb(tmp_path, attributes, noise):
    table = people()
    result = run(write_job(tmp_path, table, f"by: [Sex]\n{ALL}noise: {noise}\n", attributes))
    assert result["records"] == N
    spread = result["noise"]["deviation"]
    assert 0 < spread["count"] < 2
    for group in result["groups"]:
        exact = [float(x) for x in duck(table, ("Sex",), SQL)[tuple(group["by"])]]
        count, total, mean, variance, age = group["measures"]
        assert abs(count - exact[0]) < 8 * spread["count"]
        assert abs(total - exact[1]) < 8 * spread["sum"]["Pay"]
        assert mean == pytest.approx(exact[2], abs=8 * spread["sum"]["Pay"] / count)
        assert variance == pytest.approx(exact[3], rel=0.6)
        assert age == pytest.approx(exact[4], abs=8 * spread["sum"]["Age"] / count)
    opened = {entry["what"] for entry in result["opened"]}
    assert "aggregate: numbers with noise" in opened
    assert not opened & {"aggregate: sums", "aggregate: numbers of records"}
    assert "noise" in "".join(verify(tmp_path / "out")["unchecked"])


def test_the_sum_of_noisy_jobs_is_the_same_for_all_and_differs_between_jobs(tmp_path):
    path = write_job(tmp_path, people(), "measures: [{sum: Pay}]\nnoise: {epsilon: 1}\n")
    first, second = run(path, "1"), run(path, "2")
    assert first["groups"] != second["groups"]


def test_without_by_the_number_of_records_is_exact_and_sums_are_not(tmp_path):
    keys = "measures: [{count: true}, {sum: Age}]\nnoise: {epsilon: 1}\n"
    table = people()
    [group] = run(write_job(tmp_path, table, keys))["groups"]
    assert group["measures"][0] == N
    assert group["measures"][1] != table["Age"].sum()
    [hidden] = run(write_job(tmp_path, table, keys + "minimum: 300\n"))["groups"]
    assert hidden["measures"] == [None, None]


def test_values_outside_the_range_count_as_its_ends(tmp_path):
    table = people() | {"Pay": np.full(N, 9_999.999)}
    keys = "measures: [{mean: Pay}]\nnoise: {epsilon: 20}\n"
    [group] = run(write_job(tmp_path, table, keys))["groups"]
    assert 4900 < group["measures"][0] <= 5000


def test_queries_are_distances_from_the_middle_of_the_range(tmp_path):
    job = load_job(write_job(tmp_path, people(), f"by: [Sex]\n{ALL}noise: {{epsilon: 1}}\n"))
    found = queries(job, 2)
    assert found["", "records"] == Query(1, 1)
    assert found["Pay", "sum"] == Query(-250_000, 250_000)
    assert len(found) == 4  # and squares of Pay, distances of Age
    squares = found["Pay", "coarse"]
    assert squares.high - squares.low == (250_000 // 2**3) ** 2


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ("measures: [{sum: Pay}]\nnoise: {epsilon: 0}\n", "must be from 0.001 to 20"),
        ("measures: [{sum: Pay}]\nnoise: {epsilon: 1, delta: 0.5}\n", "to 0.001"),
        ("measures: [{sum: Pay}]\nnoise: {delta: 0.001}\n", "epsilon.*missing"),
        (
            "measures: [{sum: Pay}]\nnoise: {epsilon: 1}\ndominance: 0.5\n",
            "dominance: with 'noise'",
        ),
        ("measures: [{sum: Pay}]\nnoise: {epsilon: 1}\nround: 10\n", "round: with 'noise'"),
        ("measures: [{quantile: [Pay, 0.5]}]\nnoise: {epsilon: 1}\n", "'cuts' and count"),
        ("measures: [{largest: Pay}]\nnoise: {epsilon: 1}\n", "largest of Pay"),
        ("by: [Late]\nmeasures: [{count: true}]\nnoise: {epsilon: 1}\n", "'Late' must be declared"),
        ("measures: [{count: true}]\nnoise: {epsilon: 1}\n", "told anyhow"),
    ],
)
def test_what_noise_does_not_cover_is_refused(tmp_path, keys, said):
    with pytest.raises(UsageError, match=said):
        run(write_job(tmp_path, people(), keys))


def test_a_column_without_a_range_is_refused(tmp_path):
    attributes = ATTRIBUTES.replace("range: [18, 90]", "decimals: 0")
    with pytest.raises(UsageError, match="'Age' must have a 'range'"):
        run(
            write_job(
                tmp_path, people(), "measures: [{sum: Age}]\nnoise: {epsilon: 1}\n", attributes
            )
        )


def test_noise_beyond_what_words_hold_is_refused_before_anything_is_sent(tmp_path):
    attributes = ATTRIBUTES.replace("[0, 5000], decimals: 2", "[0, 500000000], decimals: 6")
    keys = "measures: [{variance: Pay}]\nnoise: {epsilon: 0.001}\n"
    with pytest.raises(DataError, match="larger epsilon"):
        run(write_job(tmp_path, people(), keys, attributes))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda r: r["noise"].__setitem__("epsilon", 2), "another promise"),
        (lambda r: r["groups"][0]["measures"].__setitem__(0, 3), "with a minimum of 5"),
        (lambda r: r["groups"][0]["measures"].__setitem__(1, 91), "outside the range"),
        (lambda r: r["groups"][0]["measures"].__setitem__(1, None), "hides others"),
    ],
)
def test_verify_rejects_what_noise_cannot_explain(tmp_path, change, said):
    keys = "by: [Sex]\nmeasures: [{count: true}, {mean: Age}]\nnoise: {epsilon: 9}\n"
    run(write_job(tmp_path, people(records=60), keys))
    path = tmp_path / "out" / "result.json"
    result = json.loads(path.read_text())
    change(result)
    path.write_text(json.dumps(result))
    with pytest.raises(VerificationError, match=said):
        verify(tmp_path / "out")
