"""A model that servers keep, and new people whom they classify by it after a restart."""

import csv
import json

import numpy as np
import yaml
from click.testing import CliRunner

from coterie.party.cli import party
from coterie.protos import jobs_pb2 as pb

COLUMNS = {"lender": "Sex", "bank": "Job", "card": "Late"}


def write_tables(houses, tag, size, seed):
    """A table for each party; the lender has the class of people who are not new."""
    draw = np.random.default_rng(seed)
    columns = {
        "Sex": draw.choice(["f", "m"], size),
        "Job": draw.choice(["a", "b", "c"], size),
        "Late": draw.choice(["0", "1"], size),
    }
    columns["Class"] = np.where(columns["Job"] == "a", "y", "n")
    for name, column in COLUMNS.items():
        names = [column, "Class"] if name == "lender" and not tag else [column]
        with (houses.folder / f"{name}.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["ID", *names])
            rows = zip(
                (f"p{tag}{i}" for i in range(size)), *(columns[n] for n in names), strict=True
            )
            writer.writerows(rows)
    return columns


def write_policies(houses, **more):
    for name, column in COLUMNS.items():
        houses.write(
            name,
            retention={"models": "30d"},
            policy={
                "coordinators": ["analyst", "stranger"],
                "kinds": ["bayesnet", "predict"],
                "columns": {"use": ["ID", column, "Class"], "release": [column, "Class"]},
                "recipients": ["bank"],
                "models": "keep",
                **more,
            },
        )


def text(houses, kind, **keys):
    content = {**yaml.safe_load(houses.job()), "kind": kind, **keys}
    content["attributes"] = {column: {"party": name} for name, column in COLUMNS.items()}
    return yaml.safe_dump(content, sort_keys=False)


def run(houses, coordinator, job):
    job_id, decisions = coordinator.propose(job)
    assert {d.state for d in decisions.values()} == {pb.ACCEPTED}, decisions
    coordinator.start(job_id)
    ends = [coordinator.end(job_id, name, 240) for name in houses.names]
    assert [end.error for end in ends] == ["", "", ""]
    return job_id


def refused(houses, coordinator, job, by=("lender", "bank", "card")):
    _, decisions = coordinator.propose(job)
    assert {n for n, d in decisions.items() if d.state == pb.REFUSED} == set(by), decisions
    return decisions["lender"].reason


def command(houses, *words):
    found = CliRunner().invoke(party, [*words, "--config", str(houses.path("bank")), "--json"])
    assert found.exit_code == 0, found.output
    return json.loads(found.stdout)


def test_servers_keep_a_model_and_classify_new_people_after_a_restart(houses):
    houses.authority.issue("stranger")
    write_policies(houses)
    write_tables(houses, "", 120, 4)
    houses.serve_all()
    coordinator = houses.coordinator()
    keep = text(houses, "bayesnet", **{"class": "Class", "structure": "naive", "keep": "risk"})
    job_id = run(houses, coordinator, keep)
    [listed] = command(houses, "models")["models"]
    assert (listed["name"], listed["coordinator"], listed["job"]) == ("risk", "analyst", job_id)
    assert listed["own_columns"] == ["Job"]
    assert not (houses.state("bank") / "jobs" / job_id / "kept" / "model.json").exists()
    assert "is kept already" in refused(houses, coordinator, keep)

    for name in houses.names:  # the servers go, and come again with new people
        houses.servers.pop(name).stop()
    columns = write_tables(houses, "new", 50, 5)
    houses.serve_all()
    coordinator = houses.coordinator()
    predict = text(houses, "predict", model="risk", recipients=["bank"])
    job_id = run(houses, coordinator, predict)
    result = json.loads(coordinator.fetch(job_id, "lender")["summary.json"])["result"]
    assert result == {"records": 50, "model": "risk", "predicted_for": ["bank"]}
    with (houses.state("bank") / "jobs" / job_id / "kept" / "predictions.csv").open() as file:
        found = [row["predicted"] for row in csv.DictReader(file)]
    assert found == np.where(columns["Job"] == "a", "y", "n").tolist()
    assert not list((houses.state("lender") / "jobs").rglob("predictions.csv"))
    told = command(houses, "show", job_id)
    assert {"rule": "models", "policy": "keep", "job": "risk"} in told["rules"]

    stranger = houses.coordinator("stranger")
    unknown = refused(houses, stranger, predict.replace("risk", "other"))
    assert refused(houses, stranger, predict).replace("risk", "other") == unknown
    assert "no model 'other' that 'stranger' may use is kept here" in unknown
    assert "does not list the recipient 'card'" in refused(
        houses, coordinator, predict.replace("- bank", "- card"), by=("lender", "bank")
    )
    assert command(houses, "prune", "--dry-run")["models"] == 0


def test_nothing_is_kept_or_used_that_the_policy_does_not_permit(houses):
    write_policies(houses, models="none")
    write_tables(houses, "", 20, 4)
    houses.serve_all()
    coordinator = houses.coordinator()
    keep = text(houses, "bayesnet", **{"class": "Class", "structure": "naive", "keep": "risk"})
    assert "policy.models is 'none', and the job keeps the model 'risk'" in refused(
        houses, coordinator, keep
    )
    predict = text(houses, "predict", model="risk", recipients=["bank"])
    assert "policy.models is 'none', and the job uses the model 'risk'" in refused(
        houses, coordinator, predict
    )
    assert command(houses, "models") == {"models": []}
