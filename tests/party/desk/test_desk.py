"""The desk at a real server, without a browser."""

import secrets
import urllib.request

import pytest

from coterie.party.desk.connection import Operator
from coterie.party.desk.desk import Desk
from coterie.protos import jobs_pb2 as pb
from tests.coordinator.run.test_live_page import Reader


@pytest.fixture
def desk(houses):
    houses.write("bank", policy={"consent": "manual"})
    houses.serve_all()
    with Operator(houses.path("bank")) as operator, Desk(operator, "Ada") as page:
        yield houses, Reader(page.link)


def test_an_approval_reaches_the_server_with_the_persons_name(desk):
    houses, reader = desk
    job_id, _ = houses.coordinator().propose(houses.job())
    assert "form" in reader.get("view")["parts"]["waiting"]
    assert reader.post("approve", f"job={job_id}") == {"notice": "The job is approved."}
    assert "No job waits" in reader.get("view")["parts"]["waiting"]
    log = (houses.state("bank") / "audit.log").read_text()
    assert '"Ada"' in log
    assert "Ada" in reader.get("view")["parts"]["audit"]


def test_a_desk_away_from_the_server_needs_the_certificate_and_the_address(houses, tmp_path):
    """As for a server in a container: another address, and a state folder that is not here."""
    houses.write("bank", listen=f"0.0.0.0:{houses.ports['bank']}", policy={"consent": "manual"})
    houses.serve("bank")
    houses.write("bank", listen="10.1.2.3:7000", state="elsewhere")
    away = f"127.0.0.2:{houses.ports['bank']}"
    with Operator(houses.path("bank"), away) as operator, Desk(operator, "Ada") as page:
        reader = Reader(page.link)
        parts = reader.get("view")["parts"]
        assert f"serves at {away}" in parts["health"]
        assert "is not on this machine" in parts["partners"]
        assert "is not on this machine" in parts["audit"]
        job_id = secrets.token_hex(16)
        stub = houses.coordinator().stubs["bank"]
        stub.Propose(pb.Proposal(job_id=job_id, job_yaml=houses.job()), timeout=60)
        assert reader.post("approve", f"job={job_id}") == {"notice": "The job is approved."}


@pytest.mark.parametrize("body", ["", "job=", "job=../x", "job=" + "0" * 32])
def test_an_answer_about_no_job_is_said(desk, body):
    _, reader = desk
    assert reader.post("approve", body)["notice"].startswith("bank: ")


def test_the_shell_names_nobody(desk):
    _, reader = desk
    with urllib.request.urlopen(reader.origin) as answer:  # without a session
        page = answer.read().decode()
    assert "bank" not in page
    assert "Ada" not in page
