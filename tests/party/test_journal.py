"""Journal and audit log: appended, chained, and read again after a crash."""

import json

import pytest

from coterie.base.errors import EnvironmentFaultError, VerificationError
from coterie.jobs.kinds.job_file import parse_job
from coterie.party.journal import AuditLog, Lines, read_lines, verify_audit
from coterie.party.records import RESTARTED, Book
from coterie.protocols.messaging.wrappers import Traffic
from coterie.protos.jobs_pb2 import State

JOB = "kind: intersect\nname: test\nparties: {a: {}, b: {}}\nid: ID\n"


def audit(path, *events):
    log = AuditLog(path, clock=lambda: 0.0)
    for event in events:
        log.note(event, by="a")
    log.close()


def test_an_audit_log_is_a_chain(tmp_path):
    path = tmp_path / "audit.log"
    audit(path, "one", "two")
    audit(path, "three")  # after a restart the chain goes on
    assert verify_audit(path) == 3
    first, second, third = read_lines(path)
    assert first["previous"] == "0" * 64
    assert (second["previous"], third["previous"]) == (first["chain"], second["chain"])
    assert first["time"] == "1970-01-01T00:00:00Z"
    assert oct(path.stat().st_mode)[-3:] == "600"


def tampered(lines, name):
    if name == "a changed word":
        return [lines[0], lines[1].replace("two", "too"), lines[2]]
    if name == "a line taken out":
        return [lines[0], lines[2]]
    if name == "lines swapped":
        return [lines[0], lines[2], lines[1]]
    if name == "a line that is no JSON":
        return [lines[0], "rubbish", lines[2]]
    return lines[1:]


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("a changed word", 2),
        ("a line taken out", 2),
        ("lines swapped", 2),
        ("a line that is no JSON", 2),
        ("the beginning taken out", 1),
    ],
)
def test_a_changed_audit_log_is_found_out_with_its_line(tmp_path, name, line):
    path = tmp_path / "audit.log"
    audit(path, "one", "two", "three")
    path.write_text("\n".join(tampered(path.read_text().splitlines(), name)) + "\n")
    with pytest.raises(VerificationError, match=rf"audit\.log:{line}: the chain"):
        verify_audit(path)


def test_a_changed_line_with_a_new_digest_breaks_the_next_line(tmp_path):
    path = tmp_path / "audit.log"
    audit(path, "one", "two", "three")
    lines = path.read_text().splitlines()
    forged = tmp_path / "forged.log"
    audit(forged, "one", "too")
    lines[1] = forged.read_text().splitlines()[1]
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(VerificationError, match=r"audit\.log:3"):
        verify_audit(path)


def test_a_line_cut_off_by_a_crash_does_not_spoil_the_next(tmp_path):
    path = tmp_path / "journal"
    lines = Lines(path)
    lines.append({"n": 1})
    lines.close()
    with path.open("ab") as file:
        file.write(b'{"n": 2, "tor')
    lines = Lines(path)
    lines.append({"n": 3})
    lines.close()
    assert read_lines(path) == [{"n": 1}, {"n": 3}]


def test_a_folder_that_cannot_be_written_is_an_error(tmp_path):
    with pytest.raises(EnvironmentFaultError, match="No such file"):
        Lines(tmp_path / "missing" / "journal")
    with pytest.raises(EnvironmentFaultError, match="No such file"):
        verify_audit(tmp_path / "missing")


def book_with(tmp_path, *states):
    book = Book(tmp_path)
    for number, state in enumerate(states):
        record = book.add(f"{number:032x}", "analyst", parse_job(JOB, {}))
        book.store(record)
        record.records = 7
        book.set_state(record, state)
    book.close()
    return Book(tmp_path)


def test_a_restarted_book_knows_its_jobs(tmp_path):
    states = (State.WAITING, State.ACCEPTED, State.RUNNING, State.FINISHED, State.CANCELLED)
    book = book_with(tmp_path, *states)
    records = book.all()
    assert [r.state for r in records] == [
        State.WAITING,
        State.ACCEPTED,
        State.FAILED,
        State.FINISHED,
        State.CANCELLED,
    ]
    assert records[2].reason == RESTARTED
    assert records[0].text == JOB
    assert records[0].job.party_names == ("a", "b")
    assert {(r.name, r.kind, r.coordinator, r.records) for r in records} == {
        ("test", "intersect", "analyst", 7)
    }
    assert book.add("0" * 32, "analyst", None) is None
    book.close()
    again = Book(tmp_path)  # what the restart decided is written down, too
    assert again.all()[2].reason == RESTARTED
    again.close()


def test_a_waiting_job_whose_file_is_lost_has_failed(tmp_path):
    Book(tmp_path).close()
    book = book_with(tmp_path, State.WAITING)
    book.close()
    (tmp_path / "jobs" / ("0" * 32) / "job.json").write_text("{}")
    [record] = Book(tmp_path).all()
    assert record.state == State.FAILED


def test_a_job_that_has_ended_changes_no_more(tmp_path):
    book = Book(tmp_path)
    record = book.add("0" * 32, "analyst", parse_job(JOB, {}))
    assert book.set_state(record, State.CANCELLED, reason="first")
    assert not book.set_state(record, State.FAILED, reason="second")
    assert not book.set_state(record, State.RUNNING, expected={State.ACCEPTED})
    assert (record.state, record.reason) == (State.CANCELLED, "first")
    book.close()


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def test_events_keep_every_phase_and_the_newest_of_each_step(tmp_path):
    clock = Clock()
    book = Book(tmp_path, clock)
    record = book.add("0" * 32, "analyst", parse_job(JOB, {}))
    book.set_state(record, State.RUNNING)
    for step, done in [
        ("one", 0),
        ("one", 5),
        ("two", 0),
        ("two/a", 0),
        ("two/b", 1),
        ("two/b", 2),
    ]:
        clock.now += 0.01
        book.progress(record, step, done, 9, Traffic(10 * done, 20 * done))
    clock.now += 1
    traffic = Traffic(30, 60)
    book.progress(record, "two/c", 3, 9, traffic)
    clock.now += 1
    traffic.sent_bytes = 40  # within the step
    assert (book.newest(record).sent_bytes, book.newest(record).seconds) == (40, 2.06)
    book.set_state(record, State.FINISHED)
    book.progress(record, "late", 0, 0, Traffic())
    seen = [(e.step, e.done, e.sent_bytes, pb_name(e)) for _, e in record.events]
    assert seen == [
        ("", 0, 0, "RUNNING"),
        ("one", 5, 50, "RUNNING"),
        ("two/b", 2, 20, "RUNNING"),
        ("two/c", 3, 30, "RUNNING"),
        ("two/c", 0, 40, "FINISHED"),
    ]
    serials = [serial for serial, _ in record.events]
    assert serials == sorted(set(serials))
    steps = [e["step"] for e in read_lines(tmp_path / "journal.jsonl") if e["event"] == "step"]
    assert steps == ["one", "two"]
    book.close()


def pb_name(event):
    return State.Name(event.state)


def test_the_journal_is_json_lines(tmp_path):
    book_with(tmp_path, State.FINISHED).close()
    for line in (tmp_path / "journal.jsonl").read_text().splitlines():
        assert json.loads(line)["job"] == "0" * 32
