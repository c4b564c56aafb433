"""A year of jobs: the journal is compacted, lists come in pages, and nothing is lost."""

import json
import tracemalloc

import pytest

from coterie.base.errors import EnvironmentFaultError
from coterie.jobs.kinds.job_file import parse_job
from coterie.party import records
from coterie.party.books.append_file import read_entries
from coterie.party.records import Book
from coterie.protos import jobs_pb2 as pb
from coterie.protos.jobs_pb2 import State
from tests.coordinator.support import coterie
from tests.party.disk import room_for

JOB = "kind: intersect\nname: test\nparties: {a: {}, b: {}}\nid: ID\n"


def write_year(path, jobs):
    """The journal of so many finished jobs, as a server without compaction leaves it."""
    with path.open("w") as file:
        for number in range(jobs):
            job = {"time": 1.5, "job": f"{number:032x}"}
            proposed = {"coordinator": "analyst", "name": "loans", "kind": "integrate"}
            lines = [{**job, "event": "proposed", **proposed, "digest": "0" * 64}]
            lines += [
                {**job, "event": "state", "state": state, "records": 7}
                for state in ("ACCEPTED", "RUNNING")
            ]
            lines += [{**job, "event": "step", "step": f"step {n}"} for n in range(4)]
            lines.append({**job, "event": "state", "state": "FINISHED", "records": 7})
            file.writelines(json.dumps(line) + "\n" for line in lines)


def facts(book):
    return [(r.job_id, r.name, r.state, r.records, r.since, r.digest) for r in book.all()]


def test_a_journal_is_compacted_to_a_line_for_each_job_and_nothing_is_lost(tmp_path):
    path = tmp_path / "journal.jsonl"
    write_year(path, 2000)
    book = Book(tmp_path)
    before = facts(book)
    book.close()
    assert len(before) == 2000
    assert len(read_entries(path)) == 2000
    again = Book(tmp_path)
    assert facts(again) == before
    assert len(read_entries(path)) == 2000
    record = again.add("f" * 32, "analyst", parse_job(JOB, {}))
    again.set_state(record, State.CANCELLED, reason="enough", exit_code=10, culprit="bank")
    again.close()
    [last] = Book(tmp_path).all()[2000:]
    assert (last.state, last.reason, last.culprit) == (State.CANCELLED, "enough", "bank")


def test_what_changes_while_a_journal_is_compacted_is_in_it(tmp_path, monkeypatch):
    monkeypatch.setattr(records, "_SUPERFLUOUS", 3)
    book = Book(tmp_path)
    made = [book.add(f"{n:032x}", "analyst", parse_job(JOB, {})) for n in range(20)]
    for record in made:
        book.set_state(record, State.WAITING)
        book.compact()
        book.set_state(record, State.REFUSED)
    book.close()
    assert [r.state for r in Book(tmp_path).all()] == [State.REFUSED] * 20


def test_a_journal_with_damaged_lines_is_not_written_anew(tmp_path):
    path = tmp_path / "journal.jsonl"
    write_year(path, 2000)
    with path.open("a") as file:
        file.write("rubbish\n")
    before = path.read_bytes()
    Book(tmp_path).close()
    assert path.read_bytes() == before


@pytest.mark.parametrize("state", ["[]", '{"RUNNING": 1}', "7", '"ASLEEP"'])
def test_a_server_starts_with_a_line_whose_state_is_none_and_names_it(tmp_path, state):
    line = f'{{"event": "job", "job": "{"ab" * 16}", "state": {state}}}\n'
    (tmp_path / "journal.jsonl").write_text(line)
    book = Book(tmp_path)
    assert book.damaged == ["journal.jsonl:1"]
    book.close()


@pytest.mark.parametrize("value", ['"\\ud800"', "[" * 900 + "]" * 900])
def test_a_server_starts_with_a_line_whose_texts_are_none(tmp_path, value):
    texts = ("coordinator", "name", "kind", "digest", "reason", "told", "culprit")
    facts = dict.fromkeys(texts, "#")
    line = json.dumps({"event": "job", "job": "ab" * 16, "state": "WAITING", **facts})
    (tmp_path / "journal.jsonl").write_text(line.replace('"#"', value) + "\n")
    book = Book(tmp_path)
    [record] = book.all()
    assert record.name in ("?", "")
    assert book.newest(record).culprit == ""  # of the job that was not there any more
    book.close()


def test_a_year_of_jobs_takes_little_memory(tmp_path):
    write_year(tmp_path / "journal.jsonl", 3000)
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
    write_year(tmp_path / "journal.jsonl", 2)
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
        room_for(tmp_path / "journal.jsonl", 0),
        pytest.raises(EnvironmentFaultError, match=r"journal\.jsonl: File too large"),
    ):
        book.set_state(record, State.FINISHED)
    assert record.state == State.RUNNING
    book.close()


def test_an_end_that_a_full_disk_could_not_take_is_in_the_journal_once_there_is_room(tmp_path):
    book = Book(tmp_path)
    record = book.add("f" * 32, "analyst", parse_job(JOB, {}))
    book.set_state(record, State.ACCEPTED)
    with room_for(tmp_path / "journal.jsonl", 0):
        assert book.set_state(record, State.CANCELLED, reason="enough", exit_code=10)
    assert read_entries(tmp_path / "journal.jsonl")[-1]["state"] == "ACCEPTED"
    book.compact()
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
