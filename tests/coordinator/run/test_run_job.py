"""`coterie run` against real party servers: what it leaves, and how it ends when things go wrong."""

import json
import os
import shutil
import signal
import socket
import threading
import time
from dataclasses import replace

import pytest

from coterie.base.errors import (
    CoterieError,
    EnvironmentFaultError,
    PeerLostError,
    UnreachableError,
)
from coterie.coordinator.run.client import PartyClient
from coterie.coordinator.run.follower import Follower, Heard, Patience
from coterie.coordinator.run.progress import Board
from coterie.coordinator.run.run_job import Drive, addresses_of, check_wire, run_job
from coterie.jobs.kinds.job_file import load_job, parse_job
from coterie.party.store.database import Database
from coterie.protos import jobs_pb2 as pb
from coterie.trust import certificates as certs
from coterie.trust.identity import find_identity
from tests.coordinator.support import Organisations, coterie, finish, process, wait_for
from tests.trust.test_certificates import expire

REFUSED = (
    "connection refused; does the party's server run there ('coterie party serve'), on this port?"
)


def run(organisations, out, *options):
    return coterie(
        "run", organisations.job, "--out", out, "--identity", organisations.identity, *options
    )


def started_run(organisations, out, *options):
    return process(
        "run", organisations.job, "--out", out, "--identity", organisations.identity, *options
    )


def changed_job(organisations, tmp_path, old, new):
    """A copy of the job beside its taxonomies, with another text."""
    path = tmp_path / "job.yaml"
    text = organisations.job.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    return path


def test_a_run_finds_what_a_simulation_finds(organisations, tmp_path):
    real = run(organisations, tmp_path / "run", "--json")
    simulated = coterie("simulate", organisations.job, "--out", tmp_path / "simulated", "--json")
    assert (real.code, real.err, simulated.code) == (0, "", 0)
    assert real.json["records"] == simulated.json["records"] > 0
    assert set(real.json["parties"]) == {"lender", "bank", "card"}
    assert json.loads((tmp_path / "run" / "result.json").read_text()) == real.json
    # What each party keeps stays with it.
    assert not (tmp_path / "run" / "parties").exists()
    assert len(list((organisations.folder / "bank" / "state").rglob("common.csv"))) == 1


def test_progress_and_summary_are_told(organisations, tmp_path):
    done = run(organisations, tmp_path / "out")
    assert done.code == 0
    for party in ("lender", "bank", "card"):
        assert f"{party:<6}  finished" in done.err
    assert done.out.startswith("loan-approval: ")
    assert f"result: {tmp_path / 'out' / 'result.json'}" in done.out


def test_the_identity_may_come_from_the_environment(organisations, tmp_path, monkeypatch):
    monkeypatch.setenv("COTERIE_IDENTITY", str(organisations.identity))
    assert coterie("run", organisations.job, "--out", tmp_path / "out", "--json").code == 0


def test_a_column_the_policy_does_not_list_is_refused_by_name(organisations, tmp_path):
    job = changed_job(organisations, tmp_path, "id: ID", "id: Salary")
    done = coterie("run", job, "--out", tmp_path / "out", "--identity", organisations.identity)
    assert done.code == 4
    assert "lender: policy.columns.id does not list Salary as an identifier" in done.error
    assert "card: policy" in done.error


def test_a_party_of_an_older_version_is_named_before_anything_is_proposed(
    organisations, tmp_path, monkeypatch
):
    """Whose description does not say which wire it speaks."""
    describe = PartyClient.describe

    def as_older(self, *job):
        description = describe(self, *job)
        if self.name == "bank":
            description.ClearField("wire")
        return description

    def never(self, *job):
        raise AssertionError("a job was proposed")

    monkeypatch.setattr(PartyClient, "describe", as_older)
    monkeypatch.setattr(PartyClient, "propose", never)
    done = run(organisations, tmp_path / "out")
    assert done.code == 5
    assert done.error.startswith("bank: speaks a version before 2 of the wire, and other parties")
    assert "started" not in done.err


@pytest.mark.parametrize(
    ("versions", "match"),
    [
        ({"a": 4, "b": 5, "c": 5}, "^a: speaks version 4 of the wire, and other parties version 5"),
        ({"a": 5, "b": 0, "c": 0}, "^b, c: speaks a version before 2 of the wire"),
    ],
)
def test_parties_of_two_versions_are_told_apart(versions, match):
    check_wire(dict.fromkeys(versions, 4))
    check_wire(dict.fromkeys(versions, 0))
    with pytest.raises(UnreachableError, match=match):
        check_wire(versions)


def test_a_coordinator_that_is_not_listed_is_refused(organisations, tmp_path):
    authority = organisations.folder / "authority"
    certs.issue(authority, "stranger", [], 30, into=tmp_path / "stranger")
    done = coterie(
        "run", organisations.job, "--out", tmp_path / "out", "--identity", tmp_path / "stranger"
    )
    assert done.code == 4
    assert "policy.coordinators does not list the coordinator 'stranger'" in done.error


def test_bad_data_at_a_party_is_told_without_a_column_and_named_there(own_organisations, tmp_path):
    path = own_organisations.folder / "bank" / "people.csv"
    header, first, *rest = path.read_text().splitlines()
    path.write_text("\n".join([header, first, first, *rest]))
    own_organisations.start()
    done = run(own_organisations, tmp_path / "out")
    assert done.code == 3
    assert done.error.startswith("bank: its data does not fit this job; ")
    assert "row" not in done.error
    assert "ID" not in done.error
    assert "row 2 repeats 1" in own_organisations.jobs("bank")[0]["detail"]
    assert all(job["state"] != "RUNNING" for job in own_organisations.jobs("lender"))
    wait_for(
        lambda: own_organisations.jobs("lender")[-1]["state"] == "CANCELLED",
        "the lender to be told",
    )


def test_a_party_that_is_not_there_is_named(organisations, tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
        job = changed_job(organisations, tmp_path, organisations.layout.addresses["card"], address)
        done = coterie("run", job, "--out", tmp_path / "out", "--identity", organisations.identity)
    assert (done.code, done.error) == (
        5,
        f"card: {address}: {REFUSED} ('coterie doctor' checks every party)",
    )


def test_a_party_that_is_someone_else_is_named(organisations, tmp_path):
    addresses = organisations.layout.addresses
    job = changed_job(organisations, tmp_path, addresses["card"], addresses["bank"])
    done = coterie("run", job, "--out", tmp_path / "out", "--identity", organisations.identity)
    assert done.code == 11
    assert "shows a certificate that is not of 'card' but of CN=bank" in done.error


def test_an_identity_of_another_authority_is_not_accepted(organisations, tmp_path):
    certs.create_authority(tmp_path / "other", 30)
    certs.issue(tmp_path / "other", "analyst", [], 20, into=tmp_path / "me")
    done = coterie(
        "run", organisations.job, "--out", tmp_path / "out", "--identity", tmp_path / "me"
    )
    assert done.code == 11
    assert "another authority" in done.error
    # Even where we trust the parties, they do not trust us.
    shutil.copy(organisations.identity / "ca.crt", tmp_path / "me" / "ca.crt")
    done = coterie(
        "run", organisations.job, "--out", tmp_path / "out2", "--identity", tmp_path / "me"
    )
    assert done.code == 11


def test_an_expired_identity_is_told_before_anything_is_sent(organisations, tmp_path, monkeypatch):
    with monkeypatch.context() as past:
        expire(past, 100)
        certs.issue(organisations.folder / "authority", "analyst", [], 30, into=tmp_path / "me")
    done = coterie(
        "run", organisations.job, "--out", tmp_path / "out", "--identity", tmp_path / "me"
    )
    assert done.code == 12
    assert "analyst.crt: expired on " in done.error


def test_a_job_without_addresses_cannot_be_run(job, organisations, tmp_path):
    job.write_text(job.read_text().replace('address: "127.0.0.1:2", ', ""))
    done = coterie("run", job, "--out", tmp_path / "out", "--identity", organisations.identity)
    assert done.code == 2
    assert done.error.startswith("parties.bank: the key 'address' is missing")


@pytest.fixture(scope="module")
def manual(tmp_path_factory):
    """The bank's operator must agree to every job."""
    made = Organisations(tmp_path_factory.mktemp("manual"))
    made.edit("bank", "consent: auto", "consent: manual")
    try:
        made.start()
        yield made
    finally:
        made.stop()


def waiting(organisations):
    return [job for job in organisations.jobs("bank") if job["state"] == "WAITING"]


def waiting_run(organisations, out, *options):
    """A run that has come to where the bank's operator is asked."""
    assert not waiting(organisations)
    started = started_run(organisations, out, *options)
    wait_for(
        lambda: "waiting for consent" in started.error_output or started.poll() is not None,
        "the run to wait",
    )
    assert started.poll() is None, started.error_output
    return started


@pytest.mark.parametrize("answer", [[], ["--no", "--reason", "not today"]], ids=["yes", "no"])
def test_a_run_waits_for_the_operators_answer(manual, tmp_path, answer):
    started = waiting_run(manual, tmp_path / "out")
    config = manual.folder / "bank" / "party.yaml"
    assert coterie("party", "approve", "loan-approval", "--config", config, *answer).code == 0
    done = finish(started)
    assert "bank    waiting for consent" in done.err
    if answer:
        assert done.code == 4
        assert done.error.startswith("bank: ")
        assert "not today" in done.error
    else:
        assert done.code == 0
        assert (tmp_path / "out" / "result.json").exists()


def test_consent_that_does_not_come_ends_the_run(manual, tmp_path):
    done = run(manual, tmp_path / "out", "--consent-timeout", "0.5")
    assert (done.code, done.error) == (
        4,
        "bank: its operator gave no consent within 0.5 s",
    )
    wait_for(lambda: not waiting(manual), "the job to be withdrawn")


@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_cancels_at_the_parties(manual, tmp_path, kind):
    started = waiting_run(manual, tmp_path / "out")
    started.send_signal(kind)
    done = finish(started)
    assert (done.code, done.error) == (130, "interrupted")
    assert not waiting(manual)
    assert manual.jobs("lender")[-1]["state"] == "CANCELLED"


class Followed:
    """A run in a thread of this process, which has come to where the bank's operator is asked.

    It calls for a sign of life every second, and loses its patience when the test says so.
    """

    def __init__(self, organisations, out):
        out.mkdir()
        job = load_job(organisations.job)
        self._patience = Patience(heartbeat=4, cancel=0.2, gather=0.5)
        board = Board(job.party_names, show=False)
        identity = find_identity(organisations.identity)
        self._drive = Drive(job, addresses_of(job), identity, board, self._patience)
        self._follower = self._drive._follower
        self._follower._patience = replace(self._patience, heartbeat=3600)
        self._raised = []
        self._thread = threading.Thread(target=self._run, args=(out,), daemon=True)
        self._thread.start()
        wait_for(lambda: len(self._follower._streams) == 3, "the run to wait for the operator")

    def _run(self, out):
        try:
            self._drive.run(out)
        except CoterieError as error:
            self._raised.append(error)

    def wait_for_signs(self, *names):
        """Waits until each of these parties has been heard from now on."""
        heard, now = self._follower._heard, time.monotonic()
        wait_for(lambda: all(heard[name].at > now for name in names), "signs of life")

    def lose_patience(self):
        self._follower._patience = self._patience

    def error(self):
        self._thread.join(100)
        [error] = self._raised
        return error


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP], ids=["killed", "frozen"])
def test_a_party_that_falls_silent_ends_the_run_and_is_named(manual, tmp_path, number):
    run = Followed(manual, tmp_path / "out")
    victim = manual.processes["card"]
    victim.send_signal(number)
    try:
        run.wait_for_signs("lender", "bank")
        run.lose_patience()  # and the card company has been silent for the longest time
        error = run.error()
    finally:
        victim.send_signal(signal.SIGCONT)
    assert (error.exit_code, error.peer) == (6, "card")
    assert str(error).startswith("card: gave no sign of life for ")
    wait_for(lambda: not waiting(manual), "the bank to be told")
    if number == signal.SIGKILL:
        manual.start("card")


def test_a_party_that_dies_at_the_start_ends_the_run_and_is_named(manual, tmp_path):
    run = Followed(manual, tmp_path / "out")
    victim = manual.processes["card"]
    os.kill(victim.pid, signal.SIGSTOP)  # it cannot begin, and then it is gone
    try:
        config = manual.folder / "bank" / "party.yaml"
        assert coterie("party", "approve", "loan-approval", "--config", config).code == 0
        wait_for(lambda: manual.jobs("lender")[-1]["state"] != "ACCEPTED", "the lender to begin")
    finally:
        victim.kill()
        victim.wait()
    error = run.error()
    manual.start("card")
    assert error.exit_code == 6
    assert str(error).startswith("card: ")
    wait_for(
        lambda: manual.jobs("lender")[-1]["state"] in ("FAILED", "CANCELLED"),
        "the lender to be told",
    )


def test_a_party_may_be_restarted_while_a_job_waits(manual, tmp_path):
    started = waiting_run(manual, tmp_path / "out", "--heartbeat", "50")
    victim = manual.processes.pop("bank")
    victim.terminate()
    victim.wait(60)
    manual.start("bank")
    config = manual.folder / "bank" / "party.yaml"
    assert coterie("party", "approve", "loan-approval", "--config", config).code == 0
    assert finish(started).code == 0


def test_an_error_in_json_names_party_and_step(own_organisations, tmp_path):
    # The card company looks for the lender where the bank is, and does not take one for the other.
    addresses = own_organisations.layout.addresses
    own_organisations.edit("card", addresses["lender"], addresses["bank"])
    own_organisations.start()
    done = run(own_organisations, tmp_path / "out", "--json")
    assert done.code == done.json["exit_code"] == 6
    assert done.json["party"] == "lender"
    assert done.json["step"]


def test_a_party_with_a_full_disk_ends_a_run_with_its_own_exit_code(houses, tmp_path, monkeypatch):
    houses.serve_all()
    put = Database.put

    def full(self, *row):
        if self.path == houses.state("bank").absolute() / "books.db":
            raise EnvironmentFaultError(f"{self.path}: No space left on device")
        put(self, *row)

    monkeypatch.setattr(Database, "put", full)
    identity = houses.authority.identity("analyst")
    with pytest.raises(EnvironmentFaultError, match=r"^bank: books\.db: No space left"):
        run_job(parse_job(houses.job(), {}), tmp_path, identity, Board(houses.names, show=False))


def test_a_party_that_floods_its_events_takes_no_memory_of_the_coordinator():
    sent = []

    class Rogue:
        def watch(self, job_id):
            while len(sent) < 100_000:
                sent.append(1)
                yield pb.Event(state=pb.RUNNING, step="s" * 100_000, error="e" * 100_000)

    follower = Follower({"bank": Rogue()}, "0" * 32, None, Patience())
    follower._heard["bank"] = Heard(0.0, pb.RUNNING)
    thread = threading.Thread(target=follower._read, args=("bank",), daemon=True)
    thread.start()
    time.sleep(0.3)
    assert len(sent) < 300
    assert follower._news.get()[1].ByteSize() < 5000
    follower._stopped.set()
    thread.join(60)
    assert not thread.is_alive()


def two_followed():
    clients = dict.fromkeys(("lender", "bank"))
    follower = Follower(clients, "a" * 32, Board(list(clients), show=False), Patience(gather=0.1))
    for name in clients:
        follower._heard[name] = Heard(0.0, pb.RUNNING, "agree", phases=["agree"])
    return follower


def test_the_step_of_a_lost_party_is_the_one_in_which_the_others_waited_for_it():
    follower = two_followed()
    told = "bank: broke the connection (step 'intersect/mask')"
    event = pb.Event(state=pb.FAILED, error=told, exit_code=6, culprit="bank", step="intersect")
    follower._news.put(("lender", event))
    found = follower.verdict(PeerLostError("bank", "agree", "the connection was lost"))
    assert (found.exit_code, str(found)) == (6, f"{told}, says lender")


def test_the_step_of_a_lost_party_is_its_own_where_it_was_ahead_of_the_others():
    follower = two_followed()
    for phase in ("intersect", "class"):
        follower._news.put(("bank", pb.Event(state=pb.RUNNING, step=phase)))
        follower._next(0)
    told = "bank: broke the connection (step 'intersect/tags')"
    event = pb.Event(state=pb.FAILED, error=told, exit_code=6, culprit="bank", step="intersect")
    follower._news.put(("lender", event))
    lost = PeerLostError("bank", follower._heard["bank"].step, "the connection was lost")
    assert str(follower.verdict(lost)) == "bank: the connection was lost (step 'class')"


def test_a_party_that_does_not_tell_of_a_job_is_not_one_that_refuses_it():
    unheard = two_followed()
    for heard in unheard._heard.values():
        heard.state, heard.at = pb.STATE_UNSPECIFIED, time.monotonic()
    with pytest.raises(UnreachableError, match=r"^lender: does not report on the job within 0"):
        unheard.until_known(0.01)
