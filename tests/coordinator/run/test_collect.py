"""Results that are fetched late: the same release, whoever was away."""

import json
import threading
import time

import pytest

from coterie.base.errors import PeerLostError
from coterie.coordinator.run import collect as collecting
from coterie.coordinator.run.client import PartyClient
from coterie.coordinator.run.collect import NOTE, collect, fetch_later, leave_note
from coterie.jobs.kinds.job_file import parse_job
from coterie.protos import jobs_pb2 as pb
from tests.coordinator.support import coterie


def finished(houses):
    houses.serve_all()
    coordinator = houses.coordinator()
    job_id, _ = coordinator.propose(houses.job())
    coordinator.start(job_id)
    for name in houses.names:
        assert coordinator.end(job_id, name).state == pb.FINISHED
    return job_id


def one_by_one(names):
    return lambda do: [do(name) for name in names]


def test_a_party_that_is_away_when_the_result_is_fetched_is_asked_again(houses):
    job_id = finished(houses)
    houses.servers.pop("bank").stop()
    identity = houses.authority.identity("analyst")
    clients = {n: PartyClient(n, f"127.0.0.1:{p}", identity) for n, p in houses.ports.items()}
    out = houses.folder / "out"
    out.mkdir()
    results = []

    def fetch():
        arguments = (job_id, clients, out, one_by_one(clients), 60)
        results.append(collect(parse_job(houses.job(), {}), *arguments))

    thread = threading.Thread(target=fetch)
    thread.start()
    time.sleep(1)
    houses.serve("bank")
    thread.join(60)
    for client in clients.values():
        client.close()
    assert results
    assert results[0]["records"] == 18
    assert json.loads((out / "result.json").read_text()) == results[0]


def test_the_result_of_a_run_whose_coordinator_is_gone_is_fetched_by_its_note(houses):
    out = houses.folder / "out"
    out.mkdir()
    addresses = {name: f"127.0.0.1:{port}" for name, port in houses.ports.items()}
    job = parse_job(houses.job(), {})
    job_id = finished(houses)
    leave_note(out, job, job_id, addresses)
    for name in houses.names:  # all parties were restarted meanwhile, too
        houses.servers.pop(name).stop()
        houses.serve(name)
    read, result = fetch_later(out, houses.authority.identity("analyst"), 10)
    assert read.digest == job.digest
    assert (result["records"], result["job"]["id"]) == (18, job_id)
    assert json.loads((out / "result.json").read_text()) == result
    assert not (out / NOTE).exists()


def test_a_run_leaves_its_note_before_it_starts_and_takes_it_away_with_the_result(
    organisations, tmp_path, monkeypatch
):
    out = tmp_path / "out"
    seen = []
    start = PartyClient.start

    def watched(self, job_id):
        seen.append(json.loads((out / NOTE).read_text())["job"] == job_id)
        start(self, job_id)

    monkeypatch.setattr(PartyClient, "start", watched)
    identity = ("--identity", organisations.identity)
    assert coterie("run", organisations.job, "--out", out, *identity, "--json").code == 0
    assert seen == [True, True, True]
    assert not (out / NOTE).exists()


def test_a_folder_without_a_note_has_nothing_to_fetch(organisations, tmp_path):
    done = coterie("fetch", tmp_path, "--identity", organisations.identity)
    assert (done.code, done.error) == (
        2,
        f"{tmp_path}: no run.json; no run has left its result to be fetched",
    )


class Recipient:
    """A party that takes the result, and has compared it with these; or is away."""

    def __init__(self, *same, away=False):
        self.same, self.away, self.asked = same, away, 0

    def deliver(self, job_id, files, out):
        self.asked += 1
        if self.away:
            raise PeerLostError("bank", "deliver", "does not answer")
        return pb.Delivered(digest="d", same=self.same)


RECIPIENTS = """
kind: integrate
name: x
parties: {lender: {}, bank: {}, card: {}}
id: ID
attributes: {Sex: {party: lender, flat: true}}
score: discernibility
requirement: [{qid: [Sex], k: 2}]
recipients: all
"""


def test_recipients_that_could_not_compare_are_named(tmp_path):
    clients = {"lender": Recipient(), "bank": Recipient("lender"), "card": Recipient("bank")}
    result = collecting._deliver(parse_job(RECIPIENTS, {}), "", clients, tmp_path, {})
    assert result["not_compared"] == [["lender", "card"]]
    assert json.loads((tmp_path / "result.json").read_text()) == result
    clients["card"] = Recipient("bank", "lender")
    result = collecting._deliver(parse_job(RECIPIENTS, {}), "", clients, tmp_path, {})
    assert "not_compared" not in result


def test_a_recipient_that_is_away_does_not_keep_the_others_waiting(tmp_path):
    clients = {"lender": Recipient(), "bank": Recipient(away=True), "card": Recipient()}
    with pytest.raises(PeerLostError, match="delivers the result again"):
        collecting._deliver(parse_job(RECIPIENTS, {}), "", clients, tmp_path, {})
    assert clients["card"].asked == 1
