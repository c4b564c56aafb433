"""A partner that takes an instruction and leaves owes it, whatever ends the job and the servers."""

import json
import signal
import subprocess

import pytest
import yaml
from click.testing import CliRunner

from coterie.base.errors import EnvironmentFaultError, RefusedError
from coterie.jobs.kinds.job_file import parse_job
from coterie.party.books.ledger import Ledger
from coterie.party.cli import party
from coterie.party.config import load_party
from coterie.party.preflight import check_policy
from coterie.protos import jobs_pb2 as pb
from tests import ROOT, forks
from tests.party.lending import (
    COLUMNS,
    as_lenders,
    loans_text,
    propose_loans,
    run_loans,
    taxonomies,
)


@pytest.fixture
def lenders(houses):
    return as_lenders(houses)


def leaves_after(monkeypatch, name, gifts):
    """The party gets so many instructions of others, and is gone."""
    books = Ledger.books

    def watched(ledger, job_id, job):
        book = books(ledger, job_id, job)
        seen = 0

        def leave(gift):
            nonlocal seen
            seen += gift.giver != ledger._me
            if ledger._me == name and seen == gifts:
                raise EnvironmentFaultError("off with it")
            book(gift)

        return leave

    monkeypatch.setattr(Ledger, "books", watched)


def run_until_lost(houses, **keys):
    coordinator, job_id, decisions = propose_loans(houses, **keys)
    assert {d.state for d in decisions.values()} == {pb.ACCEPTED}, decisions
    coordinator.start(job_id)
    ends = {name: coordinator.end(job_id, name) for name in COLUMNS}
    assert {e.state for e in ends.values()} == {pb.FAILED}, ends
    return job_id


def ledger_of(houses, name="bank"):
    return Ledger(houses.state(name), name)


def restart(houses, name, **policy):
    houses.servers.pop(name).stop()
    content = yaml.safe_load(houses.path(name).read_text())
    content["policy"].update(policy)
    houses.path(name).write_text(yaml.safe_dump(content, sort_keys=False))
    houses.serve(name)


@pytest.mark.parametrize("keys", [{}, {"adversary": "malicious"}, {"hide_scores": True}])
def test_who_takes_and_runs_owes_is_refused_and_pays_by_finishing(lenders, monkeypatch, keys):
    with monkeypatch.context() as patch:
        leaves_after(patch, "lender", 1)
        for name in COLUMNS:
            lenders.serve(name)
        run_until_lost(lenders, **keys)
        restart(lenders, "bank", most_owed=0.1)
    balance = ledger_of(lenders).balances()["lender"]
    assert balance.open == balance.owes > 0.2 * 2**30
    _, _, decisions = propose_loans(lenders, **keys)
    assert decisions["bank"].state == pb.REFUSED
    assert decisions["bank"].reason == "policy.most_owed is 0.1, and 'lender' owes more"

    config = load_party(lenders.path("bank"))
    job = parse_job(loans_text(lenders, **keys), taxonomies())
    check_policy(config, job, "analyst", resumed=True, attempts=1)
    with pytest.raises(RefusedError, match="'lender' owes more"):  # it has been interrupted twice
        check_policy(config, job, "analyst", resumed=True, attempts=2)

    restart(lenders, "bank", most_owed=9)
    given = run_loans(lenders, **keys)["contributions"]
    lenders.servers.pop("bank").stop()
    after = ledger_of(lenders).balances()["lender"]
    assert after.open == 0
    assert after.owes == round((given["bank"] - given["lender"]) * 2**30)


def test_the_operator_forgives_at_the_command_line(lenders, monkeypatch):
    with monkeypatch.context() as patch:
        leaves_after(patch, "lender", 1)
        for name in COLUMNS:
            lenders.serve(name)
        job_id = run_until_lost(lenders)
    lenders.servers.pop("bank").stop()
    config = ["--config", str(lenders.path("bank"))]
    owed = ledger_of(lenders).balances()["lender"].open / 2**30
    shown = CliRunner().invoke(party, ["ledger", *config])
    assert f"{owed:.6f}  0" in shown.output
    answer = CliRunner().invoke(
        party, ["ledger", "forgive", "lender", "--job", job_id[:8], *config, "--json"]
    )
    assert json.loads(answer.output) == {"partner": "lender", "forgiven": owed}
    assert ledger_of(lenders).balances()["lender"].owes == 0
    again = CliRunner().invoke(party, ["ledger", "forgive", "lender", *config])
    assert "owes nothing that could be forgiven" in str(again.exception)


@pytest.mark.parametrize(("when", "number"), [("after", 1), ("after", 3), ("before", 2)])
def test_a_killed_server_has_booked_whatever_it_sent(lenders, when, number):
    words = ["-m", "tests.party.mortal_ledger", lenders.path("bank"), when, number]
    process = forks.start(words, cwd=ROOT, stdout=subprocess.PIPE)
    try:
        process.stdout.readline()
        lenders.serve("lender")
        coordinator, job_id, _ = propose_loans(lenders)
        coordinator.start(job_id)
        assert coordinator.end(job_id, "lender").state == pb.FAILED
        assert process.wait(60) == -signal.SIGKILL
    finally:
        process.kill()
        process.communicate()
    lenders.servers.pop("lender").stop()
    sent = sum(b.score for b in ledger_of(lenders)._jobs()[job_id].bookings if b.giver == "bank")
    received = ledger_of(lenders, "lender").balances().get("bank")
    assert sent == ledger_of(lenders).balances()["lender"].given > 0
    assert sent >= (received.received if received else 0)

    for name in COLUMNS:
        lenders.serve(name)
    given = run_loans(lenders)["contributions"]
    lenders.servers.pop("bank").stop()
    after = ledger_of(lenders).balances()["lender"]
    assert after.open == 0
    assert after.owes == round((given["bank"] - given["lender"]) * 2**30)
