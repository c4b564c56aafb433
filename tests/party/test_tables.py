"""Several named tables, purposes and objections at real servers."""

import json

import pytest
import yaml
from click.testing import CliRunner

from coterie.party.cli import party
from coterie.party.operator.check import examine
from coterie.protos import jobs_pb2 as pb
from tests.party.served import common, states
from tests.party.test_live import audited


def job(houses, name="common", purpose=None, **tables):
    content = yaml.safe_load(houses.job(name))
    for who, table in tables.items():
        content["parties"][who]["table"] = table
    if purpose:
        content["purpose"] = purpose
    return yaml.safe_dump(content, sort_keys=False)


def run(houses, text):
    coordinator = houses.coordinator()
    job_id, decisions = coordinator.propose(text)
    assert set(states(decisions).values()) == {"ACCEPTED"}, decisions
    coordinator.start(job_id)
    assert {coordinator.end(job_id, n).state for n in houses.names} == {pb.FINISHED}
    return job_id


@pytest.fixture
def tabled(houses):
    """The bank has two tables: of customers, for everybody, and of staff, for nobody."""
    policies = [houses.party_file("bank")["policy"] for _ in range(2)]
    (houses.folder / "staff.csv").write_text("ID\n" + "".join(f"p{i}\n" for i in range(5, 9)))
    tables = {
        "customers": {"data": "bank.csv", "where": {"Sex": "f"}, "policy": policies[0]},
        "staff": {"data": "staff.csv", "policy": {**policies[1], "peers": ["lender"]}},
    }
    houses.write("bank", data=None, policy=None, tables=tables)
    houses.serve_all()
    return houses


def test_a_job_names_the_table_and_gets_its_filtered_rows(tabled):
    job_id = run(tabled, job(tabled, bank="customers"))
    assert common(tabled, "bank", job_id) == [f"p{i}" for i in range(3, 20, 2)]
    [line] = audited(tabled, "bank", "rows left out")
    assert line["where"] == 10


@pytest.mark.parametrize(
    ("tables", "reason"),
    [
        ({"bank": "staff"}, "policy.peers does not list the party 'card'"),
        ({"bank": "salaries"}, "bank has no table 'salaries'"),
        ({}, "bank has named tables only: 'parties.bank.table'"),
    ],
)
def test_each_table_has_its_own_policy(tabled, tables, reason):
    _, decisions = tabled.coordinator().propose(job(tabled, **tables))
    assert (decisions["bank"].state, decisions["bank"].reason) == (pb.REFUSED, reason)


def test_check_and_show_name_the_table(tabled):
    details = [c.detail for c in examine(tabled.path("bank")) if c.subject == "data"]
    assert [d.split(":")[0] for d in details] == ["table 'customers'", "table 'staff'"]
    job_id = run(tabled, job(tabled, bank="customers"))
    arguments = ["show", job_id, "--config", str(tabled.path("bank")), "--json"]
    facts = json.loads(CliRunner().invoke(party, arguments).output)
    assert facts["table_name"] == "customers"


def test_objections_are_applied_first_and_told_to_the_steward_alone(houses):
    (houses.folder / "objections.csv").write_text("ID\nP7\nnobody\n")
    houses.write("bank", exclude={"data": "objections.csv", "on": "ID"})
    houses.serve_all()
    job_id = run(houses, houses.job())
    assert "p7" not in common(houses, "lender", job_id)
    [line] = audited(houses, "bank", "rows left out")
    assert (line["objections"], line["unknown"]) == (1, 1)
    released = houses.state("bank") / "jobs" / job_id / "released"
    assert "objections" not in "".join(p.read_text() for p in released.iterdir())


def test_who_objects_between_the_proposal_and_the_start_takes_no_part(houses, monkeypatch):
    objections = houses.folder / "objections.csv"
    objections.write_text("ID\n")
    houses.write("bank", exclude={"data": "objections.csv", "on": "ID"})
    houses.serve_all()
    coordinator = houses.coordinator()
    job_id, decisions = coordinator.propose(houses.job())
    assert set(states(decisions).values()) == {"ACCEPTED"}
    objections.write_text("ID\np7\n")
    monkeypatch.setattr("coterie.party.worker._FRESH", 0.0)  # a minute has passed
    coordinator.start(job_id)
    assert {coordinator.end(job_id, n).state for n in houses.names} == {pb.FINISHED}
    assert "p7" not in common(houses, "lender", job_id)
    lines = audited(houses, "bank", "rows left out")
    assert [line["objections"] for line in lines] == [0, 1]


def test_a_purpose_must_be_listed_and_is_kept(houses):
    purpose = "fraud statistics 2026"
    houses.write("bank", policy={"purposes": [purpose]})
    houses.serve_all()
    coordinator = houses.coordinator()
    for text, reason in (
        (houses.job(), "policy.purposes lists what jobs may be for, and the job has no 'purpose'"),
        (job(houses, purpose="x"), "policy.purposes does not list the purpose 'x'"),
    ):
        _, decisions = coordinator.propose(text)
        assert decisions["bank"].reason == reason
    job_id = run(houses, job(houses, purpose=purpose))
    arguments = ["show", job_id, "--config", str(houses.path("bank"))]
    assert f"purpose: {purpose}" in CliRunner().invoke(party, arguments).output
