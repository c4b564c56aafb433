"""Servers as processes that are stopped, killed and frozen; and a long stream between two of them."""

import json
import signal
import subprocess
import sys

import pytest

from coterie.party.books.audit_check import verify
from coterie.protos import jobs_pb2 as pb
from tests import ROOT
from tests.party.authority import Authority
from tests.party.served import until_met
from tests.transport.links import Clock


def begin(houses):
    """A job that runs at the lender and the bank and waits for the card company.

    The bank is connected to the lender, which has received its first message.
    """
    coordinator = houses.coordinator()
    job_id, decisions = coordinator.propose(houses.job())
    assert {d.state for d in decisions.values()} == {pb.ACCEPTED}
    coordinator.start(job_id, ["lender", "bank"])
    for name in ("lender", "bank"):
        for event in coordinator.watch(job_id, name):
            if event.step == "agree" and (name == "bank" or event.received_bytes):
                break
    return coordinator, job_id


def test_a_job_runs_between_processes(houses):
    houses.spawn_all()
    coordinator = houses.coordinator()
    job_id, _ = coordinator.propose(houses.job())
    coordinator.start(job_id)
    assert {coordinator.end(job_id, name).state for name in houses.names} == {pb.FINISHED}


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_a_server_that_is_stopped_tells_its_peers_and_its_coordinator(houses, number, code):
    houses.spawn_all()
    coordinator, job_id = begin(houses)
    at_bank = coordinator.watch(job_id, "bank")
    assert next(at_bank).state == pb.ACCEPTED
    houses.processes["bank"].send_signal(number)
    *_, last = at_bank
    assert (last.state, last.culprit, last.exit_code) == (pb.FAILED, "bank", 6)
    assert last.error == "bank: was stopped by its operator (step 'agree')"
    event = coordinator.end(job_id, "lender")
    assert (event.state, event.culprit, event.exit_code) == (pb.FAILED, "bank", 6)
    # The bank tells all; the card company may pass it on before the lender has heard it itself.
    assert event.error.replace(", says card", "") == last.error
    assert houses.processes["bank"].wait(60) == code
    assert "Traceback" not in houses.log("bank").read_text()
    assert verify(houses.state("bank") / "audit.log").entries >= 5


def test_a_killed_party_is_named_at_once(houses):
    houses.heartbeat = (0.2, 300.0)  # far longer than the test: the broken connection tells
    for name in houses.names:
        houses.write(name)
    houses.spawn_all()
    coordinator, job_id = begin(houses)
    houses.processes["bank"].kill()
    event = coordinator.end(job_id, "lender", timeout=60)
    assert (event.state, event.culprit, event.exit_code) == (pb.FAILED, "bank", 6)
    assert event.error.startswith("bank: ")
    assert "(step 'agree')" in event.error
    houses.processes["bank"].wait(60)
    houses.spawn("bank")
    event = houses.coordinator().end(job_id, "bank")
    assert (event.state, event.error) == (pb.FAILED, "the server was restarted")


def test_a_frozen_party_is_named_by_all_others_at_the_deadline(houses):
    houses.clock = Clock()
    houses.spawn("bank")
    houses.serve("lender")
    houses.serve("card")
    coordinator = houses.coordinator()
    job_id, _ = coordinator.propose(houses.job())
    houses.processes["bank"].send_signal(signal.SIGSTOP)
    coordinator.start(job_id, ["lender", "card"])
    until_met(houses, job_id, "lender", "card")
    for _ in range(2):
        houses.clock.let_pass(houses.sessions(job_id), 20)
    for name in ("lender", "card"):
        event = coordinator.end(job_id, name)
        assert (event.state, event.culprit, event.exit_code) == (pb.FAILED, "bank", 6)
        assert event.error.startswith("bank: was not heard of for 30 s")
        assert "(step 'agree')" in event.error


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("when", ["along", "afterwards"])
def test_a_long_stream_passes_between_two_processes_in_bounded_memory(tmp_path, when):
    authority = Authority(tmp_path / "certs")
    authority.issue("a")
    authority.issue("b")
    ends = {name: StreamEnd(name, tmp_path, arrays=72) for name in "ab"}
    try:
        ports = {name: end.read() for name, end in ends.items()}
        ends["a"].tell(ports["b"])
        ends["b"].tell(ports["a"])
        if when == "afterwards":  # everything waits at the receiver, most of it on disk
            assert ends["a"].read() == "sent"
        ends["b"].tell("read")
        for end in ends.values():
            # A party holds 32 MB of frames in memory, and what gRPC and the allocator keep of
            # others beside them; had it kept all frames, it would have grown by 604 MB.
            grown = end.grown()
            assert grown < 500e6
    finally:
        for end in ends.values():
            end.close()


class StreamEnd:
    """One end of a long stream, a process; what it says when it fails is in the test's message."""

    def __init__(self, name, folder, arrays):
        self.errors = folder / f"{name}.err"
        with self.errors.open("w") as errors:
            # Not a fork, which would inherit memory that is allocated in many pieces.
            self.process = subprocess.Popen(
                [sys.executable, "-m", "tests.transport.stream_end", name, folder, str(arrays)],
                cwd=ROOT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )

    def tell(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def read(self):
        line = self.process.stdout.readline().strip()
        assert line, self.errors.read_text()
        return line

    def grown(self):
        """By how many bytes its memory had grown at most."""
        *_, last = self.process.communicate()[0].splitlines() or [""]
        assert self.process.returncode == 0, self.errors.read_text()
        return json.loads(last)["grown"]

    def close(self):
        self.process.kill()
        self.process.communicate()
