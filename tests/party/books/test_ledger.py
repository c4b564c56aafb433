"""The ledger: what partners gave over all jobs, on disk before anything else happens."""

import json
import threading
from types import SimpleNamespace

import pytest
import yaml
from click.testing import CliRunner

from coterie.anonymity.specialization.scores import SCALE
from coterie.base.errors import EnvironmentFaultError, PeerLostError, UsageError, VerificationError
from coterie.party.books.ledger import Ledger
from coterie.party.books.ledger_lines import Charge, Entry
from coterie.party.cli import party
from coterie.party.config import load_party
from coterie.party.store.database import database
from coterie.protocols.integration.contributions import Contribution
from coterie.protos import jobs_pb2 as pb
from coterie.protos.peers_pb2 import Farewell
from coterie.transport.error_messages import error_from
from tests.party.lending import COLUMNS, as_lenders, run_loans


@pytest.fixture
def lenders(houses):
    return as_lenders(houses)


def entry(job, fault="", **contributions):
    whole = {name: round(mu * SCALE) for name, mu in contributions.items()}
    return Entry(job, f"job {job}", "2026-01-01T00:00:00+00:00", whole, fault)


def test_balances_add_up_over_jobs(tmp_path):
    ledger = Ledger(tmp_path, "bank")
    ledger.add(entry("1", bank=0.5, lender=0.25))
    ledger.add(entry("2", bank=0.5, lender=0.75, clinic=0.0))
    balances = ledger.balances()
    assert balances["lender"].jobs == 2
    assert balances["lender"].owes == 0
    assert balances["clinic"].owes == SCALE // 2
    assert Ledger(tmp_path, "clinic").balances()["bank"].owes == -SCALE // 2


def test_a_fault_counts_against_the_culprit(tmp_path):
    ledger = Ledger(tmp_path, "bank")
    ledger.add(entry("1", fault="lender", bank=0.5, lender=0.0))
    assert ledger.balances()["lender"].faults == 1


def test_a_torn_last_line_is_left_out_and_mended(tmp_path):
    ledger = Ledger(tmp_path, "bank")
    ledger.add(entry("1", bank=1, lender=0))
    with ledger.path.open("ab") as file:
        file.write(b'{"job": "2", "contrib')
    assert [e.job for e in ledger.entries()] == ["1"]
    ledger.add(entry("3", bank=1, lender=0))
    assert [e.job for e in ledger.entries()] == ["1", "3"]
    assert len(ledger.path.read_bytes().splitlines()) == 2


@pytest.mark.parametrize(
    "line",
    [
        b"nonsense",
        b"[]",
        b'{"job": "2"}',
        json.dumps({**vars(entry("2")), "contributions": {"bank": -1}}).encode(),
        json.dumps({**vars(entry("2")), "contributions": {"bank": 0.5}}).encode(),
        json.dumps({**vars(entry("2")), "more": 1}).encode(),
        json.dumps(vars(Charge("2", "n", "2026-01-02", "", "1e999999999", "0"))).encode(),
        json.dumps(vars(Charge("2", "n", "2026-01-02", "", "1", "1/0"))).encode(),
        json.dumps(vars(Charge("2", "n", "0001-01-01", "", "1", "0"))).encode(),
    ],
)
def test_a_damaged_line_elsewhere_is_an_error_with_its_place(tmp_path, line):
    ledger = Ledger(tmp_path, "bank")
    ledger.add(entry("1", bank=1, lender=0))
    with database(tmp_path).changing() as change:
        change.append("ledger", line.decode())
    ledger_line = r"books.db: row 2 is not a line of a ledger"
    with pytest.raises(VerificationError, match=ledger_line):
        ledger.entries()


def test_jobs_that_end_at_once_are_all_kept(tmp_path):
    threads = [
        threading.Thread(target=lambda i=i: Ledger(tmp_path, "a").add(entry(str(i), a=1, b=0)))
        for i in range(20)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Ledger(tmp_path, "a").balances()["b"].owes == 20 * SCALE


def test_only_those_beyond_the_bound_are_refused(tmp_path):
    ledger = Ledger(tmp_path, "bank")
    ledger.add(entry("1", bank=0.5, lender=0.25, clinic=0.5))
    assert ledger.debtors(["lender", "clinic", "new"], 0.25) == {}
    [reason] = ledger.debtors(["lender", "clinic", "new"], 0.2).values()
    assert reason == "'lender' owes 0.250000 after 1 jobs"


JOB = SimpleNamespace(name="loans", digest="d1", party_names=("bank", "lender", "clinic"))
LOST = PeerLostError("lender", "specialize", "is gone")


def give(ledger, job_id, mark, score, giver="bank", to=("lender", "clinic"), proposal=False):
    ledger.books(job_id, JOB)(Contribution(giver, to, round(score * SCALE), mark, proposal))


def owed(ledger, name="lender"):
    balance = ledger.balances()[name]
    return balance.owes / SCALE, balance.open / SCALE


def test_what_is_sent_is_owed_at_once_and_when_the_peer_is_lost(tmp_path):
    ledger = Ledger(tmp_path, "bank")
    give(ledger, "1", "a", 0.5)
    assert owed(ledger) == (0.5, 0.5)
    ledger.note_end("1", JOB, LOST)
    assert owed(ledger) == owed(ledger, "clinic") == (0.5, 0.5)
    [reason] = ledger.debtors(["lender"], 0.4).values()
    assert reason.endswith(
        "owes 0.500000 after 1 jobs, 0.500000 of it from jobs that did not finish or proposals it "
        "rejected"
    )


def test_what_a_lost_peer_gave_is_deducted(tmp_path):
    ledger = Ledger(tmp_path, "bank")
    give(ledger, "1", "a", 0.5)
    give(ledger, "1", "b", 0.25, giver="lender", to=("bank", "clinic"))
    ledger.note_end("1", JOB, LOST)
    assert owed(ledger) == (0.25, 0.25)
    assert owed(ledger, "clinic") == (0.5, 0.5)


def test_a_job_that_runs_again_is_booked_once_and_settled_when_it_finishes(tmp_path):
    ledger = Ledger(tmp_path, "bank")
    give(ledger, "1", "a", 0.5)
    give(ledger, "1", "b", 0.25)
    ledger.note_end("1", JOB, LOST)
    give(ledger, "2", "a", 0.5)  # the partner leaves sooner this time
    ledger.note_end("2", JOB, LOST)
    assert owed(ledger) == (0.75, 0.75)
    for mark, score in (("a", 0.5), ("b", 0.25)):
        give(ledger, "3", mark, score)
    give(ledger, "3", "c", 0.75, giver="lender", to=("bank", "clinic"))
    ledger.note_end("3", JOB, None)
    assert owed(ledger) == (0, 0)
    assert owed(ledger, "clinic") == (0.75, 0)


def test_what_a_finished_run_did_not_repeat_stays_owed(tmp_path):
    """Other records in common make other instructions: the first were given, too."""
    ledger = Ledger(tmp_path, "bank")
    give(ledger, "1", "a", 0.5)
    ledger.note_end("1", JOB, LOST)
    give(ledger, "2", "b", 0.25)
    ledger.note_end("2", JOB, None)
    assert owed(ledger) == (0.75, 0.5)


def test_a_rejected_proposal_is_owed_by_who_saw_it_alone(tmp_path):
    ledger = Ledger(tmp_path, "bank")
    give(ledger, "1", "a", 0.5, to=("lender",), proposal=True)
    give(ledger, "1", "b", 0.25, to=("lender",), proposal=True)
    give(ledger, "1", "b", 0.25)  # accepted
    ledger.note_end("1", JOB, None)
    assert owed(ledger) == (0.75, 0.5)
    assert owed(ledger, "clinic") == (0.25, 0)


def test_the_operator_forgives_what_is_open_and_nothing_else(tmp_path):
    ledger = Ledger(tmp_path, "bank")
    give(ledger, "1", "a", 0.5)
    ledger.note_end("1", JOB, None)
    give(ledger, "2", "b", 0.25)
    give(ledger, "3", "c", 0.125)
    assert ledger.forgive("lender", "2") == 0.25 * SCALE
    assert owed(ledger) == (0.625, 0.125)
    assert owed(ledger, "clinic") == (0.875, 0.375)
    assert ledger.forgive("lender") == 0.125 * SCALE
    assert owed(ledger) == (0.5, 0)
    give(ledger, "4", "b", 0.25)  # the forgiven job runs again
    give(ledger, "4", "d", 1)
    assert owed(ledger) == (1.5, 1)
    with pytest.raises(UsageError, match="0 jobs begin with"):
        ledger.forgive("lender", "9")
    ledger.forgive("lender")
    with pytest.raises(UsageError, match="owes nothing that could be forgiven"):
        ledger.forgive("lender")


def test_what_cannot_be_booked_is_an_error_before_it_is_sent(tmp_path):
    ledger = Ledger(tmp_path / "missing", "bank")
    with pytest.raises(EnvironmentFaultError, match=r"books.db: No such file"):
        give(ledger, "1", "a", 0.5)


@pytest.mark.parametrize(
    ("sender", "fault", "faults"),
    [("lender", "lender", 1), ("clinic", "lender, says clinic", 0)],
)
def test_an_accusation_by_another_party_counts_against_nobody(tmp_path, sender, fault, faults):
    words = Farewell(failed=True, error="sent nonsense", culprit="lender", exit_code=7)
    error = error_from(words, sender, ("bank", "clinic", "lender"))
    ledger = Ledger(tmp_path, "bank")
    ledger.note_end("1", JOB, error)
    assert [e.fault for e in ledger.entries()] == [fault]
    assert ledger.balances()["lender"].faults == faults
    assert ledger.balances()["clinic"].faults == 0


def test_servers_keep_a_ledger_show_it_and_refuse_who_owes_too_much(lenders):
    for name in COLUMNS:
        lenders.serve(name)
    result = run_loans(lenders)
    given = result["contributions"]
    assert given["bank"] > given["lender"] + 0.2
    lenders.servers.pop("bank").stop()  # which also waits until the job is noted

    shown = CliRunner().invoke(party, ["ledger", "--config", str(lenders.path("bank")), "--json"])
    book = json.loads(shown.output)
    assert book["partners"]["lender"] == {
        "jobs": 1,
        "given": given["bank"],
        "received": given["lender"],
        "owes": given["bank"] - given["lender"],
        "open": 0.0,
        "faults": 0,
    }
    assert [job["contributions"] for job in book["jobs"]] == [given]
    text = CliRunner().invoke(party, ["ledger", "--config", str(lenders.path("bank"))])
    assert f"{given['bank'] - given['lender']:.6f}" in text.output

    content = yaml.safe_load(lenders.path("bank").read_text())
    content["policy"]["most_owed"] = 0.2
    lenders.path("bank").write_text(yaml.safe_dump(content, sort_keys=False))
    lenders.serve("bank")
    decisions = run_loans(lenders)
    assert decisions["bank"].state == pb.REFUSED
    told = decisions["bank"].reason  # the amount comes from earlier jobs, perhaps of somebody else
    assert told == "policy.most_owed is 0.2, and 'lender' owes more"
    noted = [json.loads(line) for line in (lenders.state("bank") / "audit.log").open()]
    assert f"owes {given['bank'] - given['lender']:.6f}" in noted[-1]["reason"]


def test_hidden_scores_and_the_strategy_run_over_mtls(lenders):
    for name in COLUMNS:
        lenders.serve(name)
    plain = run_loans(lenders)
    assert run_loans(lenders, hide_scores=True) == plain
    fair = run_loans(lenders, adversary="malicious")
    assert fair["contributions"]["bank"] <= plain["contributions"]["bank"]
    assert run_loans(lenders, adversary="malicious", hide_scores=True) == fair


@pytest.mark.parametrize("value", ["-1", "much", ".nan"])
def test_a_wrong_bound_is_refused_with_its_line(lenders, value):
    path = lenders.path("bank")
    text = path.read_text() + f"  most_owed: {value}\n"
    path.write_text(text)
    with pytest.raises(UsageError, match=r"bank.yaml:\d+: policy.most_owed: must be"):
        load_party(path)
