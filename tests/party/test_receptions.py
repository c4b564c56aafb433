"""Recipients of a release at real servers: who gets it, who checks it, who compares it."""

import base64
import json

import grpc
import pytest
import yaml

from coterie.coordinator.run.progress import Board
from coterie.coordinator.run.run_job import run_job
from coterie.jobs.kinds.integrate.kind import INTEGRATE
from coterie.jobs.kinds.job_file import parse_job
from coterie.protos import jobs_pb2 as pb
from coterie.protos.peers_pb2 import Received
from coterie.transport.peers import COMPARE
from tests.coordinator.support import wait_for
from tests.party.houses import _patiently, status
from tests.party.lending import COLUMNS, LOANS, as_lenders, propose_loans, taxonomies
from tests.party.served import states
from tests.party.test_live import audited


@pytest.fixture
def lenders(houses):
    as_lenders(houses)
    for name in COLUMNS:
        permit(houses, name, recipients=list(COLUMNS))
    return houses


def permit(houses, name, **rules):
    columns = COLUMNS[name]
    houses.write(
        name,
        policy={
            "kinds": ["integrate"],
            "columns": {"use": columns, "release": columns[1:]},
            "smallest_k": 4,
            **rules,
        },
    )


def finished(houses, recipients="all"):
    houses.serve_all()
    coordinator, job_id, decisions = propose_loans(houses, recipients=recipients)
    assert set(states(decisions).values()) == {"ACCEPTED"}, decisions
    coordinator.start(job_id)
    for name in COLUMNS:
        assert coordinator.end(job_id, name).state == pb.FINISHED
    return coordinator, job_id


def table(coordinator, job_id, tmp_path):
    """The finished table, as a coordinator assembles it."""
    folders = {}
    for name in COLUMNS:
        folders[name] = tmp_path / "fetched" / name
        folders[name].mkdir(parents=True)
        for path, data in coordinator.fetch(job_id, name).items():
            (folders[name] / path).write_bytes(data)
    stored = json.loads((tmp_path / f"state-bank/jobs/{job_id}/job.json").read_text())
    files = {path: base64.b64decode(data) for path, data in stored["files"].items()}
    INTEGRATE.assemble(parse_job(stored["text"], files), folders, tmp_path)
    return (tmp_path / "release.csv").read_bytes()


def test_a_run_delivers_to_the_recipients(lenders, tmp_path):
    lenders.serve_all()
    parties = {n: {"address": f"127.0.0.1:{lenders.ports[n]}"} for n in COLUMNS}
    text = yaml.safe_dump({**LOANS, "recipients": "all", "parties": parties}, sort_keys=False)
    out = tmp_path / "out"
    out.mkdir()
    who = lenders.authority.identity("analyst")
    job = parse_job(text, taxonomies())
    result = run_job(job, out, who, Board(job.party_names, show=False))
    assert list(result["recipients"]) == list(COLUMNS)
    for name in COLUMNS:
        [got] = lenders.state(name).glob("jobs/*/received/release.csv")
        assert got.read_bytes() == (out / "release.csv").read_bytes()


def deliver(coordinator, name, job_id, data, path="release.csv"):
    chunk = pb.FileChunk(path=path, data=data, last=True, job_id=job_id)
    return coordinator.stubs[name].Deliver(iter([chunk]), timeout=60)


def test_recipients_get_the_table_and_compare_it(lenders, tmp_path):
    coordinator, job_id = finished(lenders)
    data = table(coordinator, job_id, tmp_path)
    first = deliver(coordinator, "lender", job_id, data)
    assert list(first.same) == []  # the bank has nothing yet
    second = deliver(coordinator, "bank", job_id, data)
    assert list(second.same) == ["lender"]
    assert first.digest == second.digest
    assert "row for row" in second.holds[0]
    for name in COLUMNS:
        folder = lenders.state(name) / "jobs" / job_id
        assert (folder / "received" / "release.csv").read_bytes() == data
        [line] = audited(lenders, name, "result compared")
        assert line["digest"] == first.digest
    again = deliver(coordinator, "lender", job_id, data)
    assert list(again.same) == ["bank"]


def test_a_party_refuses_a_job_that_gives_its_columns_to_others(lenders):
    permit(lenders, "bank")
    lenders.serve_all()
    _, _, decisions = propose_loans(lenders, recipients="all")
    assert decisions["bank"].state == pb.REFUSED
    assert decisions["bank"].reason == "policy.recipients does not list the recipient 'lender'"
    _, _, decisions = propose_loans(lenders, recipients=["bank"])
    assert set(states(decisions).values()) == {"ACCEPTED"}


def test_who_is_no_recipient_is_given_nothing(lenders, tmp_path):
    coordinator, job_id = finished(lenders, ["bank"])
    data = table(coordinator, job_id, tmp_path)
    with pytest.raises(grpc.RpcError) as error:
        deliver(coordinator, "lender", job_id, data)
    assert status(error) == (
        grpc.StatusCode.PERMISSION_DENIED, "lender is not a recipient of this job"
    )  # fmt: skip
    assert deliver(coordinator, "bank", job_id, data).digest


def ask(houses, caller, called, job_id, digest="a" * 64):
    channel = houses.authority.identity(caller).connect(called, f"127.0.0.1:{houses.ports[called]}")
    try:
        request = Received(session=job_id, digest=digest).SerializeToString()
        answer = _patiently(channel.unary_unary(COMPARE), request)
        return Received.FromString(answer).digest
    finally:
        channel.close()


@pytest.mark.parametrize("caller", ["lender", "card"])
def test_the_digest_is_told_to_recipients_alone(lenders, tmp_path, caller):
    """Whoever knows most of the table could try out the rest of it with the digest."""
    coordinator, job_id = finished(lenders, ["bank"])
    deliver(coordinator, "bank", job_id, table(coordinator, job_id, tmp_path))
    with pytest.raises(grpc.RpcError) as error:
        ask(lenders, caller, "bank", job_id)
    assert status(error) == (
        grpc.StatusCode.PERMISSION_DENIED, f"'{caller}' is not a recipient of this job"
    )  # fmt: skip


def test_a_table_that_is_not_the_jobs_is_not_accepted(lenders, tmp_path):
    coordinator, job_id = finished(lenders)
    data = table(coordinator, job_id, tmp_path)
    header, first, *rest = data.splitlines(keepends=True)
    wrong = header + b"".join([*rest, first])  # the same rows in another order
    with pytest.raises(grpc.RpcError) as error:
        deliver(coordinator, "bank", job_id, wrong)
    assert error.value.code() == grpc.StatusCode.ABORTED
    with pytest.raises(grpc.RpcError) as error:
        deliver(coordinator, "bank", job_id, header + b"".join(rest))
    assert "records, and this party knows of" in error.value.details()
    assert not (lenders.state("bank") / "jobs" / job_id / "received").exists()
    assert len(audited(lenders, "bank", "result not accepted")) == 2


def test_recipients_with_different_tables_find_out(lenders, tmp_path):
    coordinator, job_id = finished(lenders)
    deliver(coordinator, "bank", job_id, table(coordinator, job_id, tmp_path))
    assert len(ask(lenders, "lender", "bank", job_id, "b" * 64)) == 64
    folder = lenders.state("bank") / "jobs" / job_id
    assert (folder / "disputed" / "release.csv").exists()
    assert not (folder / "received").exists()
    [line] = audited(lenders, "bank", "recipients were given different results")
    assert (line["peer"], line["other"]) == ("lender", "b" * 64)


@pytest.mark.parametrize(
    ("path", "words"),
    [("../x", "'../x' is not a file of this result"), ("", "'' is not a file of this result")],
)
def test_only_the_files_of_the_result_are_taken(lenders, path, words):
    coordinator, job_id = finished(lenders)
    with pytest.raises(grpc.RpcError) as error:
        deliver(coordinator, "bank", job_id, b"x", path)
    assert status(error) == (grpc.StatusCode.INVALID_ARGUMENT, words)


def test_only_the_coordinator_of_the_job_delivers(lenders, tmp_path):
    coordinator, job_id = finished(lenders)
    data = table(coordinator, job_id, tmp_path)
    other = lenders.coordinator("lender")
    with pytest.raises(grpc.RpcError) as error:
        deliver(other, "bank", job_id, data)
    assert error.value.code() == grpc.StatusCode.NOT_FOUND


def test_a_recipient_that_was_away_is_compared_with_when_it_is_back(lenders, tmp_path):
    coordinator, job_id = finished(lenders)
    data = table(coordinator, job_id, tmp_path)
    lenders.servers.pop("bank").stop()
    assert list(deliver(coordinator, "lender", job_id, data).same) == []
    lenders.serve("bank")
    lenders.servers.pop("lender").stop()
    assert list(deliver(coordinator, "bank", job_id, data).same) == []
    assert not audited(lenders, "bank", "result compared")
    lenders.serve("lender")  # asks at its start
    wait_for(lambda: audited(lenders, "lender", "result compared"), "the comparison")
    wait_for(lambda: audited(lenders, "bank", "result compared"), "the comparison")


def test_a_recipient_that_was_away_finds_out_later_that_it_has_another_table(lenders, tmp_path):
    coordinator, job_id = finished(lenders)
    data = table(coordinator, job_id, tmp_path)
    deliver(coordinator, "lender", job_id, data)
    note = lenders.state("bank") / "jobs" / job_id / "reception.json"
    lenders.servers.pop("bank").stop()
    note.write_text(json.dumps({"digest": "b" * 64, "others": {}, "same": [], "holds": []}))
    lenders.serve("bank")
    different = "recipients were given different results"
    wait_for(lambda: audited(lenders, "bank", different), "the comparison")
    wait_for(lambda: audited(lenders, "lender", different), "the comparison")
    assert (lenders.state("lender") / "jobs" / job_id / "disputed").exists()


def test_what_a_peer_told_sooner_counts_as_compared(lenders, tmp_path):
    coordinator, job_id = finished(lenders)
    data = table(coordinator, job_id, tmp_path)
    deliver(coordinator, "lender", job_id, data)  # tells the bank, which has nothing yet
    lenders.servers.pop("lender").stop()
    assert list(deliver(coordinator, "bank", job_id, data).same) == ["lender"]
