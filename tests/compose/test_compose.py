"""The deployment of docker-compose.yml on a real engine: it works, and it fails as documented."""

import csv
import io
import json
import re

import pytest

from tests.compose.engine import DOCKER, Project, docker

pytestmark = [pytest.mark.compose, pytest.mark.timeout(600)]
PARTIES = ("lender", "bank", "card")
PATIENCE = 180  # seconds for everyone to be told, on a machine that does other things, too


@pytest.fixture
def project(image, request):
    made = []

    def make(**environment):
        made.append(
            Project(
                f"coterie-{len(made)}-{request.node.name[5:25].replace('_', '-')}", **environment
            )
        )
        made[-1].down()  # what an interrupted run may have left
        made[-1].prepare()
        return made[-1]

    yield make
    for one in made:
        one.down()


def column(data, name):
    return [row[name] for row in csv.DictReader(io.StringIO(data.decode()))]


def private_values(project):
    """Every identifier that any organisation holds."""
    found = set()
    for party in PARTIES:
        listing = project.in_volume(f"{party}-data", "cat /v/people.csv").stdout
        found |= set(column(listing.encode(), "ID"))
    return found


def test_a_job_runs_and_the_coordinator_sees_no_private_row(project):
    run = project(COTERIE_PEOPLE="3000")
    run.start()
    assert run.wait_for_exit("coordinator") == 0, run.logs("coordinator")
    received = run.files("coordinator", "/out/result")
    result = json.loads(received["result/result.json"])
    assert result["records"] > 1000
    assert set(result["parties"]) == set(PARTIES)
    assert result["anonymity"]
    assert all(item["smallest"] >= item["k"] for item in result["anonymity"])
    identifiers = private_values(run)
    assert len(identifiers) > 2000
    assert all(re.fullmatch("[0-9]{8}-[0-9]{4}", value) for value in identifiers)
    # All that the coordinator's container has written, and all that it printed.
    held = b"\n".join(run.written("coordinator").values())
    seen = b"\n".join(received.values()) + held + run.logs("coordinator").encode()
    assert b"loan-approval" in seen
    assert not {value.decode() for value in re.findall(rb"[0-9]{8}-[0-9]{4}", seen)} & identifiers


def test_every_party_keeps_its_own_common_records(project):
    run = project(COTERIE_PEOPLE="2000", COTERIE_KIND="intersect")
    run.start()
    assert run.wait_for_exit("coordinator") == 0, run.logs("coordinator")
    result = json.loads(run.files("coordinator", "/out/result")["result/result.json"])
    lists = []
    for party in PARTIES:
        kept = run.files(party, "/state")
        [common] = [data for name, data in kept.items() if name.endswith("common.csv")]
        lists.append(sorted(column(common, "ID")))
    assert lists[0] == lists[1] == lists[2]
    assert len(lists[0]) == result["records"] > 0


def busy(project):
    """A job that is in the middle of its intersection for some seconds."""
    run = project(COTERIE_PEOPLE="60000", COTERIE_KIND="intersect")
    run.in_volume("analyst-data", "echo 'protocol: ring' >> /v/job.yaml")  # the slower one
    run.start()
    run.wait_for_line("coordinator", ["bank    intersect", "card    intersect"])
    return run


def assert_ends_naming_bank(run):
    code = run.wait_for_exit("coordinator", PATIENCE)
    printed = run.logs("coordinator")
    assert code == 6, printed
    error = [line for line in printed.splitlines() if line.startswith("error:")]
    assert len(error) == 1
    assert "bank" in error[0]
    assert "Traceback" not in printed


def test_a_killed_party_ends_the_job_everywhere(project):
    run = busy(project)
    docker("kill", run.container("bank"))
    assert_ends_naming_bank(run)
    for party in ("lender", "card"):
        run.wait_for_line(party, ["bank"], PATIENCE)


def test_a_party_that_is_cut_off_ends_the_job_everywhere(project):
    run = busy(project)
    docker("network", "disconnect", f"{run.name}_between", run.container("bank"))
    assert_ends_naming_bank(run)


def test_a_party_with_a_foreign_certificate_is_refused(project):
    run = project(COTERIE_KIND="intersect")
    run.in_volume(
        "bank-data",
        "coterie certs init /tmp/c && coterie certs issue bank --dir /tmp/c --host localhost"
        " && cp /tmp/c/bank/* /v/",
    )
    run.start()
    assert run.wait_for_exit("coordinator") == 11, run.logs("coordinator")
    assert "bank" in run.logs("coordinator")


def test_a_party_whose_policy_refuses_says_why(project):
    run = project(COTERIE_KIND="intersect")
    run.in_volume("bank-data", r"sed -i 's/^\( *kinds:\).*/\1 [count]/' /v/party.yaml")
    run.start()
    assert run.wait_for_exit("coordinator") == 4, run.logs("coordinator")
    printed = run.logs("coordinator")
    assert "bank" in printed
    assert "intersect" in printed


def test_the_image_runs_as_nobody_in_particular(image):
    assert DOCKER
    assert docker("run", "--rm", "--entrypoint", "id", image, "-u").stdout.strip() == "10001"
