"""Jobs of five parties, each with a real server of its own over mTLS."""

import csv

import pytest
import yaml

from coterie.coordinator.results.verify import verify
from coterie.coordinator.run.progress import Board
from coterie.coordinator.run.run_job import run_job
from coterie.jobs.kinds.job_file import parse_job
from tests.party.houses import Houses

NAMES = ("agency", "bank", "clinic", "dealer", "estate")


@pytest.fixture
def five(tmp_path):
    made = Houses(tmp_path, NAMES)
    with made.stack:
        yield made


def attribute(name):
    return f"{name.capitalize()}Kind"


def write_tables(houses, people=60):
    """Each of the five has a column of its own about the same people, the first one the class."""
    for at, name in enumerate(houses.names):
        column = attribute(name)
        with (houses.folder / f"{name}.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["ID", column, *(["Class"] if at == 0 else [])])
            for i in range(people):
                value = "abcd"[(i * (at + 1) // 7) % 4]
                more = ["yes" if (i // 3) % 2 else "no"] if at == 0 else []
                writer.writerow([f"p{i}", value, *more])
        policy = {
            "kinds": ["integrate", "intersect"],
            "columns": {"use": ["ID", column, "Class"], "release": [column, "Class"]},
            "smallest_k": 3,
            "recipients": list(houses.names),
        }
        houses.write(name, policy=policy)


def job_of(houses):
    taxonomy = b"a;ab;ANY\nb;ab;ANY\nc;cd;ANY\nd;cd;ANY\n"
    content = {
        "kind": "integrate",
        "name": "many",
        "parties": {n: {"address": f"127.0.0.1:{houses.ports[n]}"} for n in houses.names},
        "id": "ID",
        "class": "Class",
        "attributes": {attribute(n): {"party": n, "taxonomy": "kinds.csv"} for n in houses.names},
        "requirement": [
            {"qid": [attribute(n) for n in houses.names[:3]], "k": 3},
            {"qid": [attribute(n) for n in houses.names[2:]], "k": 4},
        ],
        "recipients": "all",
    }
    return parse_job(yaml.safe_dump(content, sort_keys=False), {"kinds.csv": taxonomy})


def play(houses, out):
    write_tables(houses)
    houses.serve_all()
    out.mkdir()
    job = job_of(houses)
    who = houses.authority.identity("analyst")
    return run_job(job, out, who, Board(job.party_names, show=False))


def test_five_parties_integrate_and_all_receive_the_release(five, tmp_path):
    result = play(five, tmp_path / "out")
    assert result["records"] == 60
    assert list(result["recipients"]) == list(NAMES)
    assert len({winner["party"] for winner in result["winners"]}) > 1
    assert verify(tmp_path / "out")["verdict"].startswith("holds: ")
    for name in NAMES:
        [got] = five.state(name).glob("jobs/*/received/release.csv")
        assert got.read_bytes() == (tmp_path / "out" / "release.csv").read_bytes()
