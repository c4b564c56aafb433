"""The journal: what a server knows of its jobs after a restart."""

import pytest

from coterie.base.errors import EnvironmentFaultError
from coterie.jobs.kinds.job_file import parse_job
from coterie.party.records import RESTARTED, Book
from coterie.party.store.database import database
from coterie.protocols.messaging.wrappers import Traffic
from coterie.protos.jobs_pb2 import State

JOB = "kind: intersect\nname: test\nparties: {a: {}, b: {}}\nid: ID\n"


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
    book.close()


def test_of_a_job_that_ended_a_while_ago_only_the_end_is_held(tmp_path):
    wall = Clock()
    book = Book(tmp_path, wall=wall)
    records = [book.add(f"{n:032x}", "analyst", parse_job(JOB, {})) for n in range(4)]
    for record in records:
        book.set_state(record, State.RUNNING)
        book.progress(record, "one", 0, 9, Traffic())
        record.people = record.prepared = object()
    ended, interrupted, recent, running = records
    book.set_state(ended, State.FINISHED)
    book.set_state(interrupted, State.FAILED, reason="lost", resumable=True)
    assert ended.people is ended.prepared is None
    told, serial = ended.events[-1][1], ended.events[-1][0]
    wall.now = 50.0
    book.set_state(recent, State.CANCELLED)
    wall.now = 61.0
    book.settle()
    assert ended.events == [(serial, told)]
    assert [len(record.events) for record in (interrupted, recent, running)] == [3, 3, 2]
    wall.now = 200.0
    book.settle()
    assert recent.changed is ended.changed  # a condition each would be most of what is held
    assert running.changed is not interrupted.changed is not ended.changed
    assert book.get(recent.job_id).events[-1][1].state == State.CANCELLED
    assert book.take_again(interrupted, lambda job: None) is False  # its job was not stored
    assert book.set_state(running, State.FINISHED)
    book.close()


def pb_name(event):
    return State.Name(event.state)


def test_a_job_of_which_only_the_proposal_was_written_down_has_failed(tmp_path):
    book = Book(tmp_path)
    book.add("0" * 32, "analyst", parse_job(JOB, {}))
    book.close()
    [record] = Book(tmp_path).all()
    assert (record.state, record.reason) == (State.FAILED, RESTARTED)


@pytest.mark.parametrize(
    ("job", "entry"),
    [
        ("0" * 32, {"state": "ASLEEP"}),
        ("0" * 32, {"state": ["RUNNING"]}),
        ("0" * 32, {"name": "test"}),
        ("../../../../etc", {"state": "FINISHED"}),
    ],
)
def test_a_row_that_is_of_no_job_is_named(tmp_path, job, entry):
    database(tmp_path).put("jobs", job, entry)
    with pytest.raises(EnvironmentFaultError, match=f"job {job} has a row that is damaged"):
        Book(tmp_path)
