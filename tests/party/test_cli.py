"""`coterie party …`: what an operator types, what it prints, and its exit codes."""

import json
import logging
import os
import subprocess
import sys

import pytest

from coterie.__main__ import run
from coterie.party.operator.commands import brief
from coterie.protos import jobs_pb2 as pb
from tests.party.houses import ROOT


def coterie(capsys, *arguments):
    code = run(["party", *map(str, arguments)])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def propose(houses, job_id="a" * 32):
    proposal = pb.Proposal(job_id=job_id, job_yaml=houses.job())
    return houses.stub("analyst", "bank").Propose(proposal, timeout=60)


@pytest.fixture
def manual(houses):
    houses.write("bank", policy={"consent": "manual"})
    houses.serve("bank")
    return houses


def test_health_is_zero_while_the_server_serves(houses, capsys):
    houses.serve("bank")
    assert coterie(capsys, "health", "--config", houses.path("bank")) == (0, "serving\n", "")
    code, out, _ = coterie(capsys, "health", "--config", houses.path("bank"), "--json")
    assert (code, json.loads(out)) == (0, {"party": "bank", "state": "serving"})


def test_health_names_what_is_wrong_when_nobody_listens(houses, capsys):
    code, out, err = coterie(capsys, "health", "--config", houses.path("bank"))
    port = houses.ports["bank"]
    assert (code, out) == (5, "")
    assert err == f"error: bank: connection refused (at 127.0.0.1:{port})\n"


def test_jobs_are_listed(manual, capsys):
    config = manual.path("bank")
    assert coterie(capsys, "jobs", "--config", config) == (0, "no jobs yet\n", "")
    assert propose(manual).state == pb.WAITING
    code, out, _ = coterie(capsys, "jobs", "--config", config)
    assert code == 0
    shown = out.split()
    assert shown.pop(1).endswith("Z")  # the date
    assert shown == [
        *("a" * 32, "WAITING", "intersect", "common", "(of", "analyst):"),
        *["waits", "for", "the", "operator's", "consent"],
    ]
    code, out, _ = coterie(capsys, "jobs", "--config", config, "--json")
    [job] = json.loads(out)["jobs"]
    assert (job["job"], job["state"], job["text"]) == ("a" * 32, "WAITING", manual.job())


@pytest.mark.parametrize("called", ["a" * 32, "aaaa", "common"])
def test_a_job_is_approved_by_its_id_the_beginning_of_it_or_its_name(manual, capsys, called):
    propose(manual)
    code, out, err = coterie(capsys, "approve", called, "--config", manual.path("bank"))
    assert (code, out, err) == (0, f"{'a' * 32} accepted\n", "")
    code, _, err = coterie(capsys, "approve", called, "--config", manual.path("bank"))
    assert code == 2


def test_a_job_is_refused_with_a_reason(manual, capsys):
    propose(manual)
    arguments = ("approve", "common", "--no", "--reason", "not now", "--json")
    code, out, _ = coterie(capsys, *arguments, "--config", manual.path("bank"))
    assert (code, json.loads(out)) == (0, {"job": "a" * 32, "state": "REFUSED"})
    *_, last = manual.coordinator().watch("a" * 32, "bank")
    assert last.error == "the operator says no: not now"


def test_a_name_that_two_waiting_jobs_have_is_not_enough(manual, capsys):
    propose(manual)
    propose(manual, "b" * 32)
    code, _, err = coterie(capsys, "approve", "common", "--config", manual.path("bank"))
    assert (code, err) == (2, "error: 2 jobs that 'common' may mean; give the id\n")


def test_an_unknown_job_is_an_error(manual, capsys):
    code, _, err = coterie(capsys, "approve", "zzz", "--config", manual.path("bank"))
    assert (code, err) == (2, "error: no job 'zzz' waits for consent at bank\n")


def test_the_audit_log_is_checked(houses, capsys):
    houses.serve("bank")
    code, out, _ = coterie(capsys, "audit", "--config", houses.path("bank"))
    assert code == 0
    assert out.endswith(
        "audit.log: 1 entry, unbroken; the journal, the ledger and the history are as it says\n"
    )
    path = houses.state("bank") / "audit.log"
    path.write_text(path.read_text().replace("bank", "tank"))
    code, _, err = coterie(capsys, "audit", "--config", houses.path("bank"))
    assert code == 8
    assert "audit.log:1: the chain of the audit log breaks here" in err


def break_key(houses):
    os.chmod(houses.folder / "certs/bank.key", 0o644)


def expire(houses):
    houses.authority.issue("bank", days=-1)


def take_port(houses):
    houses.write("card", listen=f"127.0.0.1:{houses.ports['bank']}")
    houses.serve("card")


def file_as_state(houses):
    houses.state("bank").write_text("")


def break_yaml(houses):
    houses.path("bank").write_text("name: [")


def no_file(houses):
    houses.path("bank").unlink()


SERVE_ERRORS = {
    "a key that others can read": (break_key, 11, "readable by others"),
    "an expired certificate": (expire, 12, "expired on"),
    "a port in use": (take_port, 9, "cannot listen on"),
    "a file where the state folder should be": (file_as_state, 9, "state folder"),
    "broken YAML": (break_yaml, 2, "not YAML"),
    "no party file": (no_file, 2, "No such file"),
}


@pytest.mark.parametrize("name", SERVE_ERRORS)
def test_a_server_that_cannot_start_says_why_in_one_line(houses, capsys, name):
    spoil, code, text = SERVE_ERRORS[name]
    spoil(houses)
    answer = coterie(capsys, "serve", houses.path("bank"))
    assert answer[0] == code
    assert answer[1] == ""
    assert text in answer[2]
    assert answer[2].count("\n") == 1


def test_a_state_folder_that_may_not_be_written_is_one_line(houses):
    if os.geteuid() != 0:
        houses.state("bank").mkdir(mode=0o500)
    else:  # who may write nearly everywhere
        houses.write("bank", state="/proc/coterie-state")
    done = subprocess.run(
        [sys.executable, "-m", "coterie", "party", "serve", str(houses.path("bank"))],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=60,
    )
    assert done.returncode == 9
    assert "state folder" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_traceback_of_grpc_becomes_one_line_of_the_log():
    try:
        raise ValueError("bytes\nof a stranger")
    except ValueError:
        record = logging.LogRecord(
            "grpc._server", logging.ERROR, "x.py", 1, "Exception deserializing %s!", ("request",),
            sys.exc_info(),
        )  # fmt: skip
    assert brief(record)
    text = logging.Formatter("%(message)s").format(record)
    assert text == "gRPC: Exception deserializing request!: ValueError"
