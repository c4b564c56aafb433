"""What a party keeps, and for how long: `coterie party prune`."""

import json
import os

import pytest
from click.testing import CliRunner

from coterie.base.errors import UsageError, VerificationError
from coterie.party.books.audit import CONTINUED, AuditLog, older_files
from coterie.party.books.audit_check import verify
from coterie.party.books.state_folder import require_version
from coterie.party.cli import party
from coterie.party.config import load_party
from coterie.party.records import Book
from coterie.party.settings import Retention
from coterie.party.steward.retention import prune
from coterie.protos import jobs_pb2 as pb
from tests.party.test_live import audited

DAY = 86400.0


def test_times_are_read_from_the_party_file(houses):
    houses.write("bank", retention={"kept": "90d", "released": "12h", "jobs": "30m"})
    found = load_party(houses.path("bank")).retention
    assert found == Retention(kept=90 * DAY, released=DAY / 2, jobs=1800)
    houses.write("bank", retention={"kept": "soon"})
    with pytest.raises(UsageError, match=r"retention.kept.*90d"):
        load_party(houses.path("bank"))


@pytest.fixture
def world(tmp_path):
    """A book with a job that ended on the first day and one that runs, and its audit log."""
    now = [DAY]
    book = Book(tmp_path, wall=lambda: now[0])
    for name, state in (("a", pb.FINISHED), ("b", pb.RUNNING)):
        record = book.add(name * 32, "analyst", None)
        book.set_state(record, state)
        record.workspace.create()
        (record.workspace.kept / "common.csv").write_text("x")
    audit = AuditLog(tmp_path / "audit.log", clock=lambda: now[0])
    audit.note("begun")
    return now, book, audit, tmp_path


def test_lists_and_released_files_go_when_their_time_is_over(world):
    now, book, audit, state = world
    retention = Retention(kept=10 * DAY, released=5 * DAY)
    now[0] = 8 * DAY
    assert prune(book, audit, state, retention, now[0])["released"] == 1
    assert (state / "jobs" / ("a" * 32) / "kept" / "common.csv").exists()
    now[0] = 12 * DAY
    assert prune(book, audit, state, retention, now[0])["kept"] == 1
    assert not (state / "jobs" / ("a" * 32) / "kept").exists()
    assert (state / "jobs" / ("b" * 32) / "kept" / "common.csv").exists()  # it runs


def test_nothing_goes_without_a_time(world):
    now, book, audit, state = world
    now[0] = 10_000 * DAY
    assert not any(prune(book, audit, state, Retention(), now[0]).values())
    assert (state / "jobs" / ("a" * 32) / "released").exists()


def test_a_whole_job_goes_and_its_id_cannot_be_used_again(world):
    now, book, audit, state = world
    now[0] = 40 * DAY
    assert prune(book, audit, state, Retention(jobs=30 * DAY), now[0])["jobs"] == 1
    assert [record.job_id for record in book.all()] == ["b" * 32]
    assert not (state / "jobs" / ("a" * 32)).exists()
    assert book.add("a" * 32, "analyst", None) is None
    book.close()
    again = Book(state)
    assert again.add("a" * 32, "analyst", None) is None
    assert again.get("a" * 32) is None
    again.close()


def test_folders_to_resume_from_go_by_their_newest_file(world):
    _now, book, audit, state = world
    folder = state / "jobs" / "resume" / "digest-bank"
    folder.mkdir(parents=True)
    (folder / "bucket").write_text("x")
    for path in (folder / "bucket", folder):
        os.utime(path, (DAY, DAY))
    assert prune(book, audit, state, Retention(resume=3 * DAY), 3 * DAY)["resume"] == 0
    assert prune(book, audit, state, Retention(resume=3 * DAY), 5 * DAY)["resume"] == 1
    assert not folder.exists()


def test_the_chain_of_the_audit_log_goes_on_over_its_files(world):
    now, _book, audit, _state = world
    for day in range(2, 6):
        now[0] = day * DAY
        audit.note("something", day=day)
        audit.rotate()
    found = verify(audit.path)
    assert (found.entries, found.files, found.begins) == (9, 5, 0)
    old = older_files(audit.path)[1]
    text = old.read_text()
    old.write_text(text.replace("something", "nothing"))
    with pytest.raises(VerificationError, match=f"{old.name}:2"):
        verify(audit.path)
    old.write_text(text)
    older_files(audit.path)[2].unlink()  # a file in the middle
    with pytest.raises(VerificationError, match="the chain of the audit log breaks here"):
        verify(audit.path)


def test_old_files_of_the_audit_log_go_and_the_rest_verifies(world):
    now, book, audit, state = world
    early = audit.head
    retention = Retention(audit=10 * DAY)
    for day in range(2, 30):
        now[0] = day * DAY
        audit.note("something", day=day)
        prune(book, audit, state, retention, now[0])
    found = verify(audit.path, anchors=[early])
    assert found.begins > 0
    assert found.unknown == 1  # its line is gone
    assert found.files > 2
    first = older_files(audit.path)[0]
    assert json.loads(first.read_text().splitlines()[0])["event"] == CONTINUED
    assert verify(audit.path, anchors=[audit.head]).anchors == 1


def test_a_restart_goes_on_with_a_log_of_several_files(world):
    now, _book, audit, state = world
    audit.rotate()
    audit.close()
    again = AuditLog(state / "audit.log", clock=lambda: now[0])
    again.note("after")
    again.close()
    assert verify(state / "audit.log").entries == 3
    (state / "audit.log").write_text("")
    AuditLog(state / "audit.log").close()
    with pytest.raises(VerificationError):
        verify(state / "audit.log")


def test_a_crash_within_a_rotation_is_mended(world, monkeypatch):
    _now, _book, audit, _state = world
    rename = os.rename
    monkeypatch.setattr(os, "rename", lambda a, b: rename(a, b) if "0000" in str(b) else crash())

    def crash():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        audit.rotate()
    monkeypatch.setattr(os, "rename", rename)
    assert not audit.path.exists()
    again = AuditLog(audit.path)
    again.note("after")
    again.close()
    assert verify(audit.path).entries == 3


@pytest.mark.parametrize("served", [True, False])
def test_the_command_prunes_with_and_without_a_server(houses, served):
    houses.write("bank", retention={"jobs": "0m"}, limits={"unstarted": 1})
    houses.serve("bank")
    stub = houses.coordinator().stubs["bank"]
    stub.Propose(pb.Proposal(job_id="a" * 32, job_yaml="kind: nothing"), timeout=60)
    stub.Propose(pb.Proposal(job_id="b" * 32, job_yaml=houses.job()), timeout=60)
    stub.Cancel(pb.Cancellation(job_id="b" * 32), timeout=60)
    if not served:
        houses.servers.pop("bank").stop()
    arguments = ["prune", "--config", str(houses.path("bank")), "--json"]
    done = CliRunner().invoke(party, arguments)
    assert done.exit_code == 0, done.output
    assert json.loads(done.output)["jobs"] == 1
    assert audited(houses, "bank", "pruned")[-1]["jobs"] == 1
    text = CliRunner().invoke(party, arguments[:-1]).output
    assert text == "nothing is older than the party file permits\n"


def everything(folder):
    return {
        path.relative_to(folder): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
        if path.name != "books.db-shm"  # where readers leave marks
    }


@pytest.mark.parametrize("served", [True, False])
def test_a_dry_run_says_what_would_go_and_removes_nothing(houses, served):
    houses.write("bank", retention={"kept": "1m", "jobs": "2m", "audit": "1h"})
    state = houses.state("bank")
    state.mkdir()
    book = Book(state, wall=lambda: 1000.0)
    for letter in "ab":
        record = book.add(letter * 32, "analyst", None)
        book.set_state(record, pb.FINISHED)
        record.workspace.create()
    running = book.add("c" * 32, "analyst", None)
    book.set_state(running, pb.RUNNING)
    book.close()
    if served:
        houses.serve("bank")
    else:
        require_version(state)
        AuditLog(state / "audit.log").close()
    before = everything(state)
    run = ["prune", "--dry-run", "--config", str(houses.path("bank"))]
    found = json.loads(CliRunner().invoke(party, [*run, "--json"]).output)
    assert (found["kept"], found["jobs"], found["released"]) == (2, 2, 0)
    assert found["places"][0] == f"jobs/{'a' * 32}"
    assert "would remove: 2 lists that were kept, 2 whole jobs\n  jobs/aaaa" in (
        CliRunner().invoke(party, run).output
    )
    assert everything(state) == before
    run.remove("--dry-run")
    done = json.loads(CliRunner().invoke(party, [*run, "--json"]).output)
    assert {key: found[key] for key in done} == done
    assert not (state / "jobs" / ("a" * 32)).exists()
