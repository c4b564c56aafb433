"""Clusters as jobs: what they answer, what they refuse, what a result must be like."""

import json

import numpy as np
import pytest

from coterie.base.errors import CoterieError, DataError, UsageError, VerificationError
from coterie.coordinator.results.verify import lines, verify
from coterie.jobs.file.result_file import Claim
from coterie.jobs.kinds.job_file import load_job, parse_job
from coterie.jobs.kinds.models.cluster import ClaimedClusters
from coterie.jobs.kinds.registry import KINDS
from coterie.jobs.results.folder import summary
from tests.jobs.kinds.models.people import horizontal_job, run, write

MIDDLES = np.array([[0.0, 0.0], [10.0, 1.0], [4.0, 12.0]])
KEYS = "attributes: {Age: {}, Tall: {}}\nclusters: 3\n"


def blobs(sizes=(40, 60, 50), seed=1):
    rng = np.random.default_rng(seed)
    home = np.repeat(np.arange(3), sizes)
    points = np.round(MIDDLES[home] + rng.normal(size=(len(home), 2)), 3)
    order = rng.permutation(len(home))
    return {"Age": points[order, 0], "Tall": points[order, 1]}, home[order], points[order]


@pytest.mark.parametrize("keys", [KEYS, KEYS + "standardise: true\n"])
def test_clusters_that_lie_apart_are_found(tmp_path, keys):
    table, home, points = blobs()
    path = horizontal_job(tmp_path, keys, table, kind="cluster")
    result = run(path)
    due = sorted(
        (points[home == c].mean(axis=0).tolist(), int((home == c).sum())) for c in range(3)
    )
    np.testing.assert_allclose(result["centres"], [centre for centre, _ in due], atol=1e-9)
    assert result["sizes"] == [size for _, size in due]
    assert result["settled"]
    assert "150 records in 3 clusters, none of fewer than 5" in lines(verify(tmp_path / "out"))[0]
    claim = Claim(json.loads(json.dumps(result)))
    assert KINDS["cluster"].summary(load_job(path), claim)[0] == "3 clusters of Age, Tall"
    assert "number of records of each cluster" in str(
        KINDS["cluster"].report(load_job(path), claim, tmp_path / "out")
    )


VERTICAL = """kind: cluster
name: test
parties: {lender: {data: lender.csv}, bank: {data: bank.csv}}
id: ID
attributes: {Age: {party: lender, range: [-20, 20]}, Tall: {party: bank, range: [-20, 20]}}
clusters: 3
iterations: 4
"""


@pytest.mark.parametrize("more", ["", "standardise: true\n"])
def test_clusters_of_columns_at_different_parties_are_found(tmp_path, more):
    table, home, points = blobs((20, 30, 25))
    result = run(divided(tmp_path, table, more))
    due = sorted(
        (points[home == c].mean(axis=0).tolist(), int((home == c).sum())) for c in range(3)
    )
    assert result["sizes"] == [size for _, size in due]
    np.testing.assert_allclose(result["centres"], [centre for centre, _ in due], atol=40 / 2**13)
    assert result["settled"]
    verify(tmp_path / "out")
    opened = {entry["what"]: entry["times"] for entry in result["opened"]}
    assert opened["cluster: sums and sizes of divided columns"] == 1
    assert "cluster: sums and sizes" not in opened


def divided(folder, table, more=""):
    for at, (party, name) in enumerate((("lender", "Age"), ("bank", "Tall"))):
        order = np.random.default_rng(at).permutation(len(table[name]))
        write(folder / f"{party}.csv", {"ID": order, name: table[name][order]})
    path = folder / "job.yaml"
    path.write_text(VERTICAL + more)
    return path


def test_a_rare_value_of_a_divided_column_ends_the_job_before_any_number_is_opened(tmp_path):
    table, home, _ = blobs((20, 30, 25))
    table["Tall"] = np.where(np.arange(75) % 25 == 3, 3.0, 2.0)
    with pytest.raises(DataError, match="have a certain value of one column"):
        run(divided(tmp_path, table))
    table["Tall"] = np.where(home == 1, 3.0, 2.0)
    table["Tall"][np.flatnonzero(home == 0)[:3]] = 3.0
    with pytest.raises(DataError, match="within a cluster fewer than 5 records, but some"):
        run(divided(tmp_path, table))
    table["Tall"][np.flatnonzero(home == 0)[:3]] = 2.0
    assert sum(run(divided(tmp_path, table))["sizes"]) == 75


def test_a_cluster_of_a_few_records_is_joined_to_another(tmp_path):
    table, home, points = blobs((80, 67, 3))
    result = run(horizontal_job(tmp_path, KEYS, table, kind="cluster"))
    assert sum(result["sizes"]) == 150
    assert min(result["sizes"]) >= 5
    lonely = points[home == 2].mean(axis=0)
    assert all(np.linalg.norm(np.array(centre) - lonely) > 1 for centre in result["centres"])


def test_uneven_parties_find_clusters_and_are_told_what_was_joined(tmp_path):
    """The lender has nobody of the last group, the bank two people, the card company nobody else."""
    rng = np.random.default_rng(2)
    groups = [rng.normal((20, 20), 2, (60, 2)), rng.normal((60, 30), 2, (12, 2)),
              rng.normal((40, 90), 2, (3, 2))]  # fmt: skip
    parts = {"lender": groups[0], "bank": groups[1][:2], "card": np.concatenate(groups[1:])[2:]}
    keys = KEYS.replace("3", "4") + "minimum: 14\n"
    path = horizontal_job(tmp_path, keys, blobs()[0], kind="cluster")
    for party, points in parts.items():
        columns = np.round(points, 2).T
        write(tmp_path / f"{party}.csv", dict(zip(("Age", "Tall"), columns, strict=True)))
    result = run(path)
    assert sum(result["sizes"]) == 75
    assert min(result["sizes"]) >= 14
    whole = np.concatenate([np.round(points, 2) for points in parts.values()]).mean(axis=0)
    np.testing.assert_allclose(np.average(result["centres"], 0, result["sizes"]), whole)
    assert len(result["sizes"]) < 4
    job = load_job(path)
    told = summary(job, {**result, "seconds": {}, "parties": {}}, tmp_path / "out")
    assert told[0].startswith("test: 75 records of 3 parties")
    assert "  The job asked for 4 clusters. A group of fewer than 14 records" in "\n".join(told)
    assert "asked for 4 clusters" in str(KINDS["cluster"].report(job, Claim(result), tmp_path))
    verify(tmp_path / "out")


@pytest.mark.parametrize(
    ("iterations", "settled", "says"),
    [(2, False, "after 2 iterations and has not settled"), (20, False, "settled in 20"), (9, True, "")],
)  # fmt: skip
def test_clusters_that_have_not_settled_say_so(iterations, settled, says):
    head = "kind: cluster\nname: t\nparties: {a: {}, b: {}, c: {}}\npartition: horizontal\n"
    found = ClaimedClusters(30, [[1.0, 2.0]] * 3, [10, 10, 10], iterations, settled)
    told = " ".join(found.cautions(parse_job(head + KEYS, {})))
    assert says in told
    assert bool(told) == bool(says)


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ("clusters: 2\n", "'attributes' is missing"),
        ("attributes: {x: {}}\n", "'clusters' is missing"),
        ("attributes: {x: {}}\nclusters: 0\n", "clusters"),
        ("attributes: {}\nclusters: 2\n", "at least one attribute"),
        ("attributes: {x: {values: [a, b]}}\nclusters: 2\n", "column of numbers"),
    ],
)
def test_a_job_that_makes_no_sense_is_an_error_of_its_line(keys, says):
    head = "kind: cluster\nname: t\nparties: {a: {}, b: {}, c: {}}\npartition: horizontal\n"
    with pytest.raises(UsageError, match=says):
        parse_job(head + keys, {})


def test_a_divided_column_needs_a_range():
    text = VERTICAL.replace("Tall: {party: bank, range: [-20, 20]}", "Tall: {party: bank}")
    with pytest.raises(UsageError, match="'Tall' needs a 'range'"):
        parse_job(text, {})


def test_too_few_records_and_what_is_no_number_are_named(tmp_path):
    table, _, _ = blobs((4, 4, 4))
    with pytest.raises(DataError, match="12 records are too few: 3 clusters need 15"):
        run(horizontal_job(tmp_path, KEYS, table, kind="cluster"))
    table["Tall"] = np.where(np.arange(12) == 7, "x", table["Tall"].astype(str))
    with pytest.raises(DataError, match=r"bank\.csv: row 4: column 'Tall': 'x' is not a number"):
        run(horizontal_job(tmp_path, KEYS, table, kind="cluster"))


@pytest.mark.parametrize(
    "change",
    [
        {"sizes": [4, 86, 60]},
        {"sizes": [40, 60]},
        {"sizes": [40, 60, 51]},
        {"centres": [[1, 2], [3, 4], [5]]},
        {"attributes": ["Age"]},
        {"iterations": 21},
        {"settled": "yes"},
        {"centres": [[1, 2], [3, 4], [5, 6]]},
    ],
    ids=lambda change: next(iter(change)),
)
def test_a_result_that_the_job_does_not_allow_is_refused(tmp_path, change):
    run(horizontal_job(tmp_path, KEYS, blobs()[0], kind="cluster"))
    path = tmp_path / "out" / "result.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises((VerificationError, CoterieError)):
        verify(tmp_path / "out")
