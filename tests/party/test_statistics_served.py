"""Counts, trees and nets between servers in processes of their own."""

import csv
import json

import numpy as np
import yaml

from coterie.protos import jobs_pb2 as pb

COLUMNS = {"lender": "Sex", "bank": "Job", "card": "Late"}


def table(houses):
    rng = np.random.default_rng(4)
    size = 200
    columns = {
        "Sex": rng.choice(["f", "m"], size),
        "Job": rng.choice(["a", "b", "c"], size, p=[0.6, 0.38, 0.02]),
        "Late": rng.choice(["0", "1"], size),
    }
    columns["Class"] = np.where(columns["Job"] == "a", "y", "n")
    for name, column in COLUMNS.items():
        with (houses.folder / f"{name}.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["ID", column, "Class"])
            writer.writerows(
                zip((f"p{i}" for i in range(size)), columns[column], columns["Class"], strict=True)
            )
        used = ["ID", column, "Class"]
        houses.write(
            name,
            heartbeat={"interval": 1, "deadline": 30},
            policy={
                "kinds": ["count", "tree", "bayesnet"],
                "columns": {"use": used, "release": used[1:]},
                "smallest_k": 5,
            },
        )
    return columns


def job(houses, kind, **keys):
    content = {
        **yaml.safe_load(houses.job()), "kind": kind, "class": "Class",
        "attributes": {column: {"party": name} for name, column in COLUMNS.items()}, **keys,
    }  # fmt: skip
    return yaml.safe_dump(content, sort_keys=False)


def run(houses, coordinator, text):
    job_id, decisions = coordinator.propose(text)
    assert {d.state for d in decisions.values()} == {pb.ACCEPTED}, decisions
    coordinator.start(job_id)
    ends = [coordinator.end(job_id, name) for name in houses.names]
    assert [end.error for end in ends] == ["", "", ""]
    summaries = [
        json.loads(coordinator.fetch(job_id, name)["summary.json"])["result"]
        for name in houses.names
    ]
    assert summaries[0] == summaries[1] == summaries[2]
    return summaries[0]


def test_all_parties_come_to_the_same_answer(houses):
    columns = table(houses)
    houses.spawn_all()
    coordinator = houses.coordinator()
    found = run(
        houses,
        coordinator,
        job(houses, "count", tables=[["Sex", "Job"], ["Job", "Late"]], minimum=5),
    )
    for sex, value, count in found["tables"][0]["cells"]:
        if count is not None:
            assert count == ((columns["Sex"] == sex) & (columns["Job"] == value)).sum()
    assert any(count is None for *_, count in found["tables"][0]["cells"])
    tree = run(houses, coordinator, job(houses, "tree", minimum=10, open=True))["tree"]
    assert tree["attribute"] == "Job"
    assert tree["branches"]["a"] == {"class": "y"}
    edges = run(houses, coordinator, job(houses, "bayesnet", order=["Sex", "Job", "Class"]))[
        "edges"
    ]
    assert ["Job", "Class"] in edges


def test_a_minimum_below_the_policys_is_refused(houses):
    table(houses)
    houses.serve_all()
    _, decisions = houses.coordinator().propose(
        job(houses, "count", tables=[["Sex", "Job"]], minimum=2)
    )
    for decision in decisions.values():
        assert decision.state == pb.REFUSED
        assert "smallest_k is 5" in decision.reason
