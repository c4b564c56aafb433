"""A model that servers keep, and new people whom they classify by it after a restart."""

import csv
import json

import grpc
import numpy as np
import pytest
import yaml
from click.testing import CliRunner

from coterie.base.errors import UsageError
from coterie.party.books.models import ModelFolder
from coterie.party.cli import party
from coterie.protos import jobs_pb2 as pb
from tests.jobs.kinds.predict.kept import part

COLUMNS = {"lender": "Sex", "bank": "Job", "card": "Late"}


def write_tables(houses, tag, size, seed):
    """A table for each party; the lender has the class of people who are not new."""
    draw = np.random.default_rng(seed)
    columns = {
        "Sex": draw.choice(["f", "m"], size),
        "Job": draw.choice(["a", "b", "c"], size),
        "Late": draw.choice(["0", "1"], size),
    }
    columns["Class"] = np.where((columns["Job"] == "a") & (columns["Late"] == "0"), "y", "n")
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
    write_policies(houses, repeat={"k": 3, "jobs": 2})
    write_tables(houses, "", 120, 4)
    houses.serve_all()
    coordinator = houses.coordinator()
    keep = text(houses, "bayesnet", **{"class": "Class", "keep": "risk"})
    job_id = run(houses, coordinator, keep)
    edges = json.loads(coordinator.fetch(job_id, "card")["summary.json"])["result"]["edges"]
    assert {("Job", "Class"), ("Late", "Class")} <= set(map(tuple, edges))  # of two parties
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
    assert "does not list the recipient 'card'" in refused(
        houses, coordinator, predict.replace("- bank", "- card"), by=("lender", "bank")
    )
    job_id = run(houses, coordinator, predict)
    result = json.loads(coordinator.fetch(job_id, "lender")["summary.json"])["result"]
    assert result == {"records": 50, "model": "risk", "predicted_for": ["bank"]}
    with (houses.state("bank") / "jobs" / job_id / "kept" / "predictions.csv").open() as file:
        found = [row["predicted"] for row in csv.DictReader(file)]
    assert found == columns["Class"].tolist()
    assert not list((houses.state("lender") / "jobs").rglob("predictions.csv"))
    told = command(houses, "show", job_id)
    assert {"rule": "models", "policy": "keep", "job": "risk"} in told["rules"]

    stranger = houses.coordinator("stranger")
    unknown = refused(houses, stranger, predict.replace("risk", "other"))
    assert refused(houses, stranger, predict).replace("risk", "other") == unknown
    assert "no model 'other' that 'stranger' may use is kept here" in unknown
    assert command(houses, "prune", "--dry-run")["models"] == 0
    # The window had room for the search, which told edges, and for one job that uses the model.
    assert refused(houses, coordinator, predict).startswith("policy.repeat: ")
    jobs = [(job["kind"], job["predicted"]) for job in command(houses, "history")["jobs"]]
    assert jobs == [("bayesnet", False), ("predict", True)]


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


def test_of_two_open_jobs_that_keep_the_same_name_the_second_is_refused(houses):
    write_policies(houses)
    write_tables(houses, "", 20, 4)
    houses.serve_all()
    coordinator = houses.coordinator()
    keep = text(houses, "bayesnet", **{"class": "Class", "structure": "naive", "keep": "risk"})
    first, decisions = coordinator.propose(keep)
    assert {d.state for d in decisions.values()} == {pb.ACCEPTED}
    assert "another job that keeps a model 'risk' has not ended" in refused(
        houses, coordinator, keep
    )
    _, decisions = coordinator.propose(keep.replace("risk", "other"))
    assert {d.state for d in decisions.values()} == {pb.ACCEPTED}
    for name in houses.names:
        houses.stub("analyst", name).Cancel(pb.Cancellation(job_id=first), timeout=60)
    _, decisions = coordinator.propose(keep)  # the name is free again
    assert {d.state for d in decisions.values()} == {pb.ACCEPTED}


def test_the_operator_removes_a_model_from_a_running_server_and_nobody_else_does(houses):
    write_policies(houses)
    write_tables(houses, "", 20, 4)
    left = houses.folder / "left"
    left.mkdir()
    attributes = {"Job": ("bank", ["a", "b", "c"], [])}
    part("tree", attributes, "bank", name="risk").write(left)
    houses.state("bank").mkdir(mode=0o700, parents=True, exist_ok=True)
    ModelFolder(houses.state("bank")).take(left, "analyst", "a" * 32)
    houses.serve("bank")
    with pytest.raises(grpc.RpcError) as refusal:
        houses.stub("analyst", "bank").RemoveModel(pb.ModelRef(name="risk"), timeout=60)
    assert refusal.value.code() == grpc.StatusCode.PERMISSION_DENIED
    assert command(houses, "remove-model", "risk", "--by", "Ada") == {"removed": "risk"}
    assert command(houses, "models") == {"models": []}
    lines = [json.loads(line) for line in (houses.state("bank") / "audit.log").open()]
    [said] = [line for line in lines if line["event"] == "model removed"]
    assert (said["model"], said["by"], said["person"]) == ("risk", "bank", "Ada")
    again = CliRunner().invoke(
        party, ["remove-model", "risk", "--config", str(houses.path("bank"))], standalone_mode=False
    )
    assert isinstance(again.exception, UsageError)
    assert "no model 'risk' is kept here" in str(again.exception)
