"""The ledger: what partners gave over all jobs, on disk before anything else happens."""

import csv
import json
import threading
from types import SimpleNamespace

import pytest
import yaml
from click.testing import CliRunner

from coterie.anonymity.specialization.scores import SCALE
from coterie.base.errors import UsageError, VerificationError
from coterie.jobs.data.workspace import Workspace
from coterie.jobs.kinds.integrate.conduct import CONTRIBUTIONS
from coterie.party.cli import party
from coterie.party.config import load_party
from coterie.party.ledger import Entry, Ledger, note_job
from coterie.protos import jobs_pb2 as pb
from coterie.protos.peers_pb2 import Farewell
from coterie.transport.farewell import error_from
from tests.papers.loans import JOB, ROWS, SEX


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
    ],
)
def test_a_damaged_line_elsewhere_is_an_error_with_its_place(tmp_path, line):
    ledger = Ledger(tmp_path, "bank")
    ledger.add(entry("1", bank=1, lender=0))
    with ledger.path.open("ab") as file:
        file.write(line + b"\n")
    ledger_line = r"ledger.jsonl:2: not a line of a ledger"
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
    assert ledger.debtors(["lender", "clinic", "new"], 0.25) == []
    [reason] = ledger.debtors(["lender", "clinic", "new"], 0.2)
    assert reason == "policy.most_owed is 0.2, and 'lender' owes 0.250000 after 1 jobs"


LOANS = {
    "kind": "integrate",
    "name": "loans",
    "id": "ID",
    "class": "Class",
    "attributes": {
        "Sex": {"party": "lender", "taxonomy": "Sex.csv"},
        "Job": {"party": "bank", "taxonomy": "Job.csv"},
        "Salary": {"party": "bank", "range": [1, 99]},
    },
    "requirement": [{"qid": ["Sex", "Job"], "k": 4}, {"qid": ["Sex", "Salary"], "k": 5}],
}
COLUMNS = {
    "lender": ["ID", "Sex", "Class"],
    "bank": ["ID", "Job", "Salary", "Class"],
}


@pytest.fixture
def lenders(houses):
    """A lender and a bank with the loan table, whose policies permit to integrate it."""
    for name, columns in COLUMNS.items():
        with (houses.folder / f"{name}.csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, columns, extrasaction="ignore")
            writer.writeheader()
            writer.writerows({**row, "ID": f"p{i}"} for i, row in enumerate(ROWS))
        houses.write(
            name,
            data={"csv": f"{name}.csv"},
            policy={
                "kinds": ["integrate"],
                "columns": {"use": list(columns), "release": columns[1:]},
                "smallest_k": 4,
            },
        )
    return houses


def run_loans(houses, **keys):
    job = {
        **LOANS,
        **keys,
        "parties": {n: {"address": f"127.0.0.1:{houses.ports[n]}"} for n in COLUMNS},
    }
    files = {
        f"{name}.csv": "".join(";".join(path) + "\n" for path in paths).encode()
        for name, paths in (("Sex", SEX), ("Job", JOB))
    }
    coordinator = houses.coordinator()
    coordinator.stubs = {n: s for n, s in coordinator.stubs.items() if n in COLUMNS}
    job_id, decisions = coordinator.propose(yaml.safe_dump(job, sort_keys=False), files=files)
    if any(d.state == pb.REFUSED for d in decisions.values()):
        return decisions
    coordinator.start(job_id)
    ends = {name: coordinator.end(job_id, name) for name in COLUMNS}
    assert {e.state for e in ends.values()} == {pb.FINISHED}, ends
    return json.loads(coordinator.fetch(job_id, "bank")["summary.json"])["result"]


@pytest.mark.parametrize(
    ("sender", "fault", "faults"),
    [("lender", "lender", 1), ("clinic", "lender, says clinic", 0)],
)
def test_an_accusation_by_another_party_counts_against_nobody(tmp_path, sender, fault, faults):
    words = Farewell(failed=True, error="sent nonsense", culprit="lender", exit_code=7)
    error = error_from(words, sender, ("bank", "clinic", "lender"))
    workspace = Workspace(tmp_path / "job")
    workspace.create()
    given = json.dumps({"bank": 5, "clinic": 5, "lender": 5})
    (workspace.kept / CONTRIBUTIONS).write_text(given)
    record = SimpleNamespace(workspace=workspace, job_id="1")
    config = SimpleNamespace(state=tmp_path, name="bank")
    note_job(config, record, SimpleNamespace(name="loans"), error)
    ledger = Ledger(tmp_path, "bank")
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
    assert "policy.most_owed is 0.2, and 'lender' owes" in decisions["bank"].reason


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
