"""A year of jobs: lists come in pages, and nothing is lost."""

import json
import tracemalloc

import pytest

from coterie.base.errors import EnvironmentFaultError
from coterie.jobs.kinds.job_file import parse_job
from coterie.party.records import Book
from coterie.party.store.database import database
from coterie.protos import jobs_pb2 as pb
from coterie.protos.jobs_pb2 import State
from tests.coordinator.support import coterie
from tests.party.disk import room_for

JOB = "kind: intersect\nname: test\nparties: {a: {}, b: {}}\nid: ID\n"


def write_year(folder, jobs):
    """The journal of so many finished jobs."""
    entry = {"time": 1.5, "proposed": 1.0, "coordinator": "analyst", "name": "loans"}
    entry |= {"kind": "integrate", "digest": "0" * 64, "state": "FINISHED", "records": 7}
    with database(folder).changing() as change:
        for number in range(jobs):
            change.put("jobs", f"{number:032x}", entry)


@pytest.mark.parametrize("value", ["\ud800", [[[]]], 7, None])
def test_a_server_starts_with_a_row_whose_texts_are_none(tmp_path, value):
    texts = ("coordinator", "name", "kind", "digest", "reason", "told", "culprit")
    database(tmp_path).put("jobs", "ab" * 16, {"state": "WAITING", **dict.fromkeys(texts, value)})
    book = Book(tmp_path)
    [record] = book.all()
    assert record.name in ("?", "")
    assert book.newest(record).culprit == ""  # of the job that was not there any more
    book.close()


def test_a_year_of_jobs_takes_little_memory(tmp_path):
    write_year(tmp_path, 3000)
    tracemalloc.start()
    book = Book(tmp_path)
    size = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert size / len(book.all()) < 4000  # 50,000 jobs, a year of 137 a day, in 200 MB
    book.close()


def test_more_jobs_than_fit_into_a_message_are_listed_page_by_page(houses):
    houses.write("bank", policy={"consent": "manual"})
    server = houses.serve("bank")
    for number in range(60):
        record = server._book.add(f"{number:032x}", "analyst", parse_job(JOB, {}))
        server._book.set_state(record, State.WAITING, reason="x" * 100_000)  # 6 MB in all
    done = coterie("party", "jobs", "--config", houses.path("bank"), "--json")
    assert done.code == 0
    listed = json.loads(done.out)["jobs"]
    assert [job["job"] for job in listed] == [f"{n:032x}" for n in range(60)]
    page = houses.stub("bank", "bank").List(pb.ListRequest(), timeout=60)
    assert page.more
    assert 0 < page.ByteSize() < 2 << 20


def test_an_ended_job_keeps_neither_its_job_nor_its_data_in_memory(tmp_path):
    book = Book(tmp_path)
    record = book.add("0" * 32, "analyst", parse_job(JOB, {}))
    record.prepared = object()
    book.set_state(record, State.FAILED)
    assert (record.job, record.prepared) == (None, None)
    book.close()


def test_what_a_crash_left_of_kept_answers_goes_at_the_next_start(tmp_path):
    write_year(tmp_path, 2)
    left = [tmp_path / "jobs" / f"{0:032x}" / name for name in ("answers", "answers.new")]
    for path in left:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"secret")
    Book(tmp_path).close()
    assert not any(path.exists() for path in left)


def test_a_job_has_not_finished_before_the_journal_says_so(tmp_path):
    book = Book(tmp_path)
    record = book.add("f" * 32, "analyst", parse_job(JOB, {}))
    book.set_state(record, State.RUNNING)
    with (
        room_for(tmp_path / "books.db-wal", 0),
        pytest.raises(EnvironmentFaultError, match=r"books\.db: File too large"),
    ):
        book.set_state(record, State.FINISHED)
    assert record.state == State.RUNNING
    book.close()


def test_an_end_that_a_full_disk_could_not_take_is_in_the_journal_once_there_is_room(tmp_path):
    book = Book(tmp_path)
    record = book.add("f" * 32, "analyst", parse_job(JOB, {}))
    book.set_state(record, State.ACCEPTED)
    with room_for(tmp_path / "books.db-wal", 0):
        assert book.set_state(record, State.CANCELLED, reason="enough", exit_code=10)
    assert database(tmp_path).get("jobs", "f" * 32)["state"] == "ACCEPTED"
    book.make_up()
    book.close()
    again = Book(tmp_path)
    [record] = again.all()
    assert (record.state, record.reason, record.exit_code) == (State.CANCELLED, "enough", 10)
    again.close()


def test_a_job_that_ends_before_it_begins_leaves_no_folder(tmp_path):
    book = Book(tmp_path)
    job = parse_job(JOB, {})
    began, waited = (book.add(f"{n:032x}", "analyst", job) for n in range(2))
    for record in (began, waited):
        book.store(record)
        book.set_state(record, State.WAITING)
    book.set_state(began, State.RUNNING)
    for record in (began, waited):
        book.set_state(record, State.CANCELLED, reason="enough")
    assert began.folder.is_dir()  # its job is read again by `party show`
    assert not waited.folder.exists()
    book.close()
    assert [record.state for record in Book(tmp_path).all()] == [State.CANCELLED] * 2
