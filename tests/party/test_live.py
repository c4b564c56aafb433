"""A server takes up a renewed certificate, a changed policy and a changed roster while it serves."""

import json
import os
import signal

import pytest
from click.testing import CliRunner

from coterie.party.cli import party
from coterie.party.config import load_party
from coterie.party.live import Live
from coterie.party.operator.check import examine
from coterie.protos import jobs_pb2 as pb
from tests.coordinator.support import wait_for
from tests.party.served import states


def audited(houses, name, event):
    lines = (houses.state(name) / "audit.log").read_text().splitlines()
    return [entry for entry in map(json.loads, lines) if entry["event"] == event]


def take_up(houses, name, event="file taken up", times=1):
    """Asks the server in this process to look, and waits until it has said what it found."""
    houses.servers[name].reload()
    wait_for(lambda: len(audited(houses, name, event)) >= times, f"a line '{event}'")
    return audited(houses, name, event)[-1]


def ask(houses, name, *arguments):
    return CliRunner().invoke(party, [*arguments, "--config", str(houses.path(name))])


def test_a_renewed_certificate_does_not_lock_the_operator_out(houses):
    houses.serve("bank")
    assert ask(houses, "bank", "jobs").exit_code == 0
    houses.authority.issue("bank")
    line = take_up(houses, "bank")
    assert line["keys"] == ["tls"]
    assert line["certificate"] == load_party(houses.path("bank")).identity.fingerprint
    done = ask(houses, "bank", "jobs")
    assert (done.exit_code, done.output) == (0, "no jobs yet\n")


def test_files_are_watched_without_a_signal(houses):
    houses.serve("bank")
    houses.write("bank", policy={"consent": "manual"})
    wait_for(lambda: audited(houses, "bank", "file taken up"), "the server to look")
    assert houses.servers["bank"].config.policy.consent == "manual"


def test_a_changed_policy_judges_the_next_proposal(houses):
    houses.serve_all()
    coordinator = houses.coordinator()
    houses.write("bank", policy={"kinds": ["count"]})
    assert take_up(houses, "bank")["keys"] == ["policy"]
    _, decisions = coordinator.propose(houses.job())
    assert states(decisions) == {"lender": "ACCEPTED", "bank": "REFUSED", "card": "ACCEPTED"}


def test_a_peer_that_is_added_to_the_roster_may_take_part(houses):
    roster = houses.party_file("bank")["peers"]
    houses.write("bank", peers={"lender": roster["lender"]})
    houses.serve_all()
    coordinator = houses.coordinator()
    _, decisions = coordinator.propose(houses.job())
    assert decisions["bank"].reason == "'card' is not in the roster of bank"
    houses.write("bank", peers=roster)
    assert take_up(houses, "bank")["keys"] == ["peers"]
    job_id, decisions = coordinator.propose(houses.job())
    assert set(states(decisions).values()) == {"ACCEPTED"}
    coordinator.start(job_id)
    assert {coordinator.end(job_id, n).state for n in houses.names} == {pb.FINISHED}


def test_a_running_job_ends_as_it_began(houses):
    houses.serve_all()
    coordinator = houses.coordinator()
    job_id, _ = coordinator.propose(houses.job())
    coordinator.start(job_id, ["bank", "lender"])  # both run, and wait for card
    houses.authority.issue("bank")
    houses.write("bank", policy={"kinds": []}, peers={})
    take_up(houses, "bank")
    coordinator.start(job_id, ["card"])
    assert {coordinator.end(job_id, n).state for n in houses.names} == {pb.FINISHED}


@pytest.mark.parametrize("consent", ["auto", "manual"])
def test_a_job_that_has_not_begun_is_judged_again(houses, consent):
    houses.write("bank", policy={"consent": consent})
    houses.serve_all()
    coordinator = houses.coordinator()
    job_id, _ = coordinator.propose(houses.job())
    houses.write("bank", policy={"consent": consent, "peers": ["lender"]})
    take_up(houses, "bank")
    last = coordinator.end(job_id, "bank")
    assert last.state == pb.REFUSED
    assert last.error == "no longer permitted: policy.peers does not list the party 'card'"


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ("nonsense: 1", "nonsense"),
        (
            "listen: 127.0.0.1:1",
            "listen: a server takes up another one only when it is started anew",
        ),
        ("tls: {certificate: none.crt, key: none.key, authority: none.crt}", "none.crt"),
    ],
)
def test_a_broken_file_is_refused_and_the_old_one_stays_in_force(houses, wrong, words):
    houses.serve("bank")
    before = houses.servers["bank"].config
    text = houses.path("bank").read_text()
    key = wrong.split(":")[0]
    houses.write("bank", **{key: None} if key in houses.party_file("bank") else {})
    houses.path("bank").write_text(f"{wrong}\n{houses.path('bank').read_text()}")
    line = take_up(houses, "bank", "file refused")
    assert words in line["reason"]
    assert houses.servers["bank"].config is before
    assert houses.coordinator().stubs["bank"].Propose(
        pb.Proposal(job_id="a" * 32, job_yaml=houses.job()), timeout=60
    ).state == pb.ACCEPTED  # fmt: skip
    houses.path("bank").write_text(text)  # and with the old text all is well again
    houses.servers["bank"].reload()


def test_a_key_that_comes_after_its_certificate_is_no_broken_file(houses):
    refused = []
    live = Live(load_party(houses.path("bank")), refused=refused.append)
    path = houses.folder / "certs" / "bank.crt"
    old_key = path.with_suffix(".key").read_bytes()
    houses.authority.issue("bank")
    new_key = path.with_suffix(".key").read_bytes()
    path.with_suffix(".key").write_bytes(old_key)
    assert not live.look()  # something changes: it waits
    path.with_suffix(".key").write_bytes(new_key)
    assert not live.look()
    assert live.look()
    assert refused == []


def test_what_was_refused_is_taken_up_when_it_is_mended_and_said_once(houses):
    refused, changes = [], []
    live = Live(load_party(houses.path("bank")), changes.append, refused.append)
    text = houses.path("bank").read_text()
    houses.path("bank").write_text(text + "nonsense: 1\n")
    for _ in range(3):
        live.look()
    assert len(refused) == 1
    assert live.problem == refused[0]
    houses.path("bank").write_text(text.replace("consent: auto", "consent: manual"))
    live.look()
    live.look()
    assert [list(change.keys) for change in changes] == [["policy"]]
    assert live.problem == ""


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("data", {"csv": "card.csv"}),
        ("where", {"Sex": "f"}),
        ("exclude", {"data": "card.csv", "on": "ID"}),
    ],
)
def test_the_key_that_says_what_is_read_is_named(houses, key, value):
    changes = []
    live = Live(load_party(houses.path("bank")), changes.append)
    houses.write("bank", **{key: value})
    assert live.look(at_once=True)
    assert [list(change.keys) for change in changes] == [[key]]


def test_check_says_when_the_running_server_uses_an_older_file(houses, monkeypatch):
    monkeypatch.setattr("coterie.party.operator.check._TAKING_UP", 0.01)
    server = houses.serve("bank")

    def said():
        [check] = [c for c in examine(houses.path("bank")) if c.subject == "server"]
        return check

    assert said().state == "ok"
    assert "uses this file since" in said().detail
    server._live.look = lambda at_once=False: False  # as a server that does not look
    houses.write("bank", policy={"consent": "manual"})
    assert said().state == "warning"
    assert "uses an older file, in force since" in said().detail
    houses.authority.issue("bank")
    assert "does not know this certificate" in said().detail


def test_sighup_makes_a_served_process_look_at_once(houses):
    houses.spawn("bank")
    houses.write("bank", policy={"consent": "manual"})
    os.kill(houses.processes["bank"].pid, signal.SIGHUP)
    wait_for(
        lambda: (
            audited(houses, "bank", "file taken up") or houses.processes["bank"].poll() is not None
        ),
        "the server to look",
    )
    assert houses.processes["bank"].poll() is None


def test_only_the_operator_is_told_about_the_file(houses):
    houses.serve("bank")
    told = houses.coordinator().stubs["bank"].Describe(pb.DescribeRequest(), timeout=60)
    assert not told.HasField("configuration")
