"""A server killed in the middle of an intersection under a memory budget: the next run goes on from there."""

import csv

import pytest

from coterie.protos import jobs_pb2 as pb
from tests.party.houses import Houses

NAMES = ("lender", "bank")


@pytest.fixture
def houses(tmp_path):
    houses = Houses(tmp_path, NAMES, (0.5, 30.0))  # the broken connection tells, not the deadline
    for at, name in enumerate(NAMES):
        houses.people(name, [f"p{i}" for i in range(3000 * at, 3000 * at + 9000)])
        houses.write(name, memory="16MB")
    with houses.stack:
        yield houses


def buckets(coordinator, job_id: str, name: str):
    """The buckets whose beginning this party reports, as it reports them; ends with the job."""
    seen = 0
    for event in coordinator.watch(job_id, name, 100):
        for part in event.step.split("/"):
            number = int(part.split()[1]) if part.startswith("bucket ") else 0
            if number > seen:
                seen = number
                yield number, event.error


def test_an_intersection_whose_party_was_killed_resumes_with_the_last_finished_bucket(houses):
    job = houses.job() + "protocol: ring\n"
    houses.spawn_all()
    coordinator = houses.coordinator()
    job_id, decisions = coordinator.propose(job)
    assert {decision.state for decision in decisions.values()} == {pb.ACCEPTED}
    coordinator.start(job_id)
    for number, _ in buckets(coordinator, job_id, "lender"):
        if number == 3:  # the first is finished at both, the second at least here
            houses.processes["bank"].kill()
            break
    assert coordinator.end(job_id, "lender").state == pb.FAILED
    for name in NAMES:
        [kept] = (houses.state(name) / "jobs" / "resume").iterdir()
        assert (kept / "common-0").exists()

    houses.processes["bank"].communicate()
    houses.spawn("bank")
    again = houses.coordinator()
    job_id, _ = again.propose(job)
    again.start(job_id)
    numbers = [number for number, _ in buckets(again, job_id, "lender")]
    assert numbers[0] in (2, 3)
    assert 1 not in numbers
    for name in NAMES:
        assert again.end(job_id, name).state == pb.FINISHED
        with (houses.state(name) / "jobs" / job_id / "kept" / "common.csv").open() as file:
            found = [row[0] for row in csv.reader(file)]
        assert found == ["ID", *(f"p{i}" for i in range(3000, 9000))]
        assert not (houses.state(name) / "jobs" / "resume").exists()
