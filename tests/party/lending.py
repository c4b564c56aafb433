"""A lender and a bank with paper 1's loan table, as real servers."""

import csv
import json

import yaml

from coterie.protos import jobs_pb2 as pb
from tests.papers.loans import JOB, ROWS, SEX

LOANS = {
    "kind": "integrate",
    "name": "loans",
    "id": "ID",
    "class": "Class",
    "attributes": {
        "Sex": {"party": "lender", "taxonomy": "Sex.csv"},
        "Job": {"party": "bank", "taxonomy": "Job.csv"},
        "Salary": {"party": "bank", "range": [1, 99]},
    },
    "requirement": [{"qid": ["Sex", "Job"], "k": 4}, {"qid": ["Sex", "Salary"], "k": 5}],
}
COLUMNS = {
    "lender": ["ID", "Sex", "Class"],
    "bank": ["ID", "Job", "Salary", "Class"],
}


def as_lenders(houses):
    """Houses of a lender and a bank, whose policies permit to integrate the loan table."""
    for name, columns in COLUMNS.items():
        with (houses.folder / f"{name}.csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, columns, extrasaction="ignore")
            writer.writeheader()
            writer.writerows({**row, "ID": f"p{i}"} for i, row in enumerate(ROWS))
        houses.write(
            name,
            data={"csv": f"{name}.csv"},
            policy={
                "kinds": ["integrate"],
                "columns": {"use": columns[1:], "release": columns[1:], "drop": columns[1:]},
                "smallest_k": 4,
            },
        )
    return houses


def taxonomies():
    return {
        f"{name}.csv": "".join(";".join(path) + "\n" for path in paths).encode()
        for name, paths in (("Sex", SEX), ("Job", JOB))
    }


def propose_loans(houses, **keys):
    """The coordinator, the job's id and the parties' decisions."""
    coordinator = houses.coordinator()
    coordinator.stubs = {n: s for n, s in coordinator.stubs.items() if n in COLUMNS}
    return coordinator, *coordinator.propose(loans_text(houses, **keys), files=taxonomies())


def loans_text(houses, **keys):
    """The job file."""
    addresses = {n: {"address": f"127.0.0.1:{houses.ports[n]}"} for n in COLUMNS}
    return yaml.safe_dump({**LOANS, **keys, "parties": addresses}, sort_keys=False)


def run_loans(houses, **keys):
    coordinator, job_id, decisions = propose_loans(houses, **keys)
    if any(d.state == pb.REFUSED for d in decisions.values()):
        return decisions
    coordinator.start(job_id)
    ends = {name: coordinator.end(job_id, name) for name in COLUMNS}
    assert {e.state for e in ends.values()} == {pb.FINISHED}, ends
    return json.loads(coordinator.fetch(job_id, "bank")["summary.json"])["result"]
