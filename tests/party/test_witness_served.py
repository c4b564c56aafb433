"""A party that holds a population, as a real server beside those that have records."""

import csv

import pytest
import yaml

from coterie.coordinator.results.verify import verify
from coterie.coordinator.run.client import PartyClient
from coterie.coordinator.run.progress import Board
from coterie.coordinator.run.run_job import run_job
from coterie.coordinator.simulate.simulation import simulate
from coterie.jobs.kinds.job_file import parse_job
from coterie.jobs.kinds.registry import KINDS
from coterie.party.steward.plain_words import plain_words
from coterie.protos import jobs_pb2 as pb
from tests.jobs.loans import population
from tests.papers.loans import ROWS
from tests.party.houses import Houses
from tests.party.lending import COLUMNS, LOANS, as_lenders, taxonomies

NAMES = ("lender", "bank", "registry")


@pytest.fixture
def three(tmp_path):
    made = Houses(tmp_path, NAMES)
    with made.stack:
        yield as_lenders(made)


def write_registry(houses, columns=("Sex", "Job"), use=("Sex", "Job"), **policy):
    with (houses.folder / "registry.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, columns, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(population())
    rules = {"kinds": ["integrate"], "columns": {"use": list(use), "release": []}}
    houses.write("registry", policy={**rules, **policy})


def permit(houses, smallest=20):
    """The policies of the two that have records."""
    for name, columns in COLUMNS.items():
        rules = {
            "kinds": ["integrate"],
            "columns": {"use": list(columns), "release": columns[1:]},
            "smallest_k": 4,
        }
        houses.write(name, policy={**rules, "smallest_k_map": smallest})


def job_text(houses):
    content = {
        **LOANS,
        "parties": {
            n: {"address": f"127.0.0.1:{houses.ports[n]}", "data": f"{n}.csv"} for n in NAMES
        },
        "universe": "registry",
        "requirement": [{"qid": ["Sex", "Job"], "k_map": 20}, {"qid": ["Sex", "Salary"], "k": 5}],
    }
    return yaml.safe_dump(content, sort_keys=False)


def test_servers_and_a_simulation_give_the_same_release(three, tmp_path):
    permit(three)
    write_registry(three, smallest_k_map=20)
    three.serve_all()
    job = parse_job(job_text(three), taxonomies())
    served, simulated = tmp_path / "served", tmp_path / "simulated"
    served.mkdir()
    simulated.mkdir()
    who = three.authority.identity("analyst")
    result = run_job(job, served, who, Board(job.party_names, show=False))
    assert result["records"] == len(ROWS)
    assert verify(served)["verdict"].startswith("holds: ")
    simulate(job, three.folder, simulated)
    assert (served / "release.csv").read_bytes() == (simulated / "release.csv").read_bytes()


def test_each_policy_must_permit_groups_that_a_population_hides(three):
    permit(three, smallest=30)
    write_registry(three)
    three.serve_all()
    coordinator = three.coordinator()
    _, decisions = coordinator.propose(job_text(three), files=taxonomies())
    assert {d.state for d in decisions.values()} == {pb.REFUSED}
    assert "policy.smallest_k_map is 30, and the job releases groups that 20" in (
        decisions["bank"].reason
    )
    assert "policy.smallest_k_map is not set" in decisions["registry"].reason


def test_the_doctor_hears_which_column_the_population_lacks(three):
    permit(three)
    write_registry(three, ("Sex", "Salary"), smallest_k_map=2)
    three.serve_all()
    job = parse_job(job_text(three), taxonomies())
    who = three.authority.identity("analyst")
    checks = {}
    for party in job.parties:
        client = PartyClient(party.name, party.address, who)
        checks[party.name] = {check.name: check for check in client.describe(job).checks}
        client.close()
    assert checks["bank"]["policy"].ok
    assert checks["bank"]["data"].ok
    assert checks["registry"]["policy"].ok
    assert not checks["registry"]["data"].ok
    assert "no column 'Job'" in checks["registry"]["data"].detail


def test_who_has_no_records_is_told_of_no_common_people(three):
    job = parse_job(job_text(three), taxonomies())
    kind = KINDS["integrate"]
    told = {n: "\n".join(plain_words(job, n, kind.needs(job, n), 34)) for n in NAMES}
    assert told["bank"].startswith("lender: which of its own people are in your table, too")
    assert "the coordinator: how many rows of your table take part (34)" in told["registry"]
    assert "people are in your table" not in told["registry"]
