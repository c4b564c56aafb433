"""The file of kept answers: whole records count, changed data ends the job, nobody else reads it."""

import hashlib
import stat

import pytest

from coterie.base.errors import DataError
from coterie.jobs.run.answers_file import (
    NAME,
    AnswersFile,
    create_answers,
    finished_here,
    has_answers,
    remove_answers,
)
from coterie.protocols.messaging.kept import Answer, Kept
from coterie.protocols.messaging.wire import encode

ONE = Answer(b"t" * 16, "one", [("a: b", ("x", "y"), 2)], b"first")
TWO = Answer(b"t" * 16, "two", [], b"second" * 1000)


def opened(folder, data=b"data"):
    return AnswersFile(folder / NAME, data, "bank.csv")


def written(folder, *answers):
    file = opened(folder)
    file.read()
    for answer in answers:
        file.append(answer)
    file.close()


def test_answers_are_read_back_in_order(tmp_path):
    written(tmp_path, ONE)
    file = opened(tmp_path)
    assert file.read() == [ONE]
    file.append(TWO, sync=True)
    assert opened(tmp_path).read() == [ONE, TWO]


def test_only_the_owner_may_read_the_file(tmp_path):
    create_answers(tmp_path / "job")
    assert stat.S_IMODE((tmp_path / "job" / NAME).stat().st_mode) == 0o600
    file = opened(tmp_path)
    file.read()
    file.replace([ONE])
    assert stat.S_IMODE((tmp_path / NAME).stat().st_mode) == 0o600
    assert file._file >= 0
    file.append(TWO)
    assert opened(tmp_path).read() == [ONE, TWO]


def test_changed_data_is_named(tmp_path):
    written(tmp_path, ONE)
    with pytest.raises(DataError, match=r"bank.csv: the data has changed since the job began"):
        opened(tmp_path, b"other").read()


@pytest.mark.parametrize("lost", [1, 40, 6000])
def test_a_torn_record_does_not_count_and_is_written_over(tmp_path, lost):
    written(tmp_path, ONE, TWO)
    path = tmp_path / NAME
    path.write_bytes(path.read_bytes()[:-lost])
    file = opened(tmp_path)
    assert file.read() == [ONE]
    file.append(TWO)
    assert opened(tmp_path).read() == [ONE, TWO]


def test_a_damaged_record_and_what_follows_does_not_count(tmp_path):
    written(tmp_path, ONE, TWO)
    path = tmp_path / NAME
    content = bytearray(path.read_bytes())
    content[content.index(b"first")] ^= 1
    path.write_bytes(content)
    assert opened(tmp_path).read() == []


@pytest.mark.parametrize(
    "values",
    [
        [1, "one", [], b"value", b""],
        [b"token", "one", 7, b"value", b""],
        [b"token", "one", [["name", ["x"], "twice"]], b"value", b""],
        [b"token", "one", [["name", [7], 2]], b"value", b""],
        [b"token", "one", [], b"value"],
        [b"token", "one", [], b"value", b"", b"more"],
    ],
)
def test_a_record_of_another_form_does_not_count(tmp_path, values):
    written(tmp_path, ONE)
    body = b"".join(map(bytes, encode(values)))
    with (tmp_path / NAME).open("ab") as file:
        file.write(len(body).to_bytes(8, "little") + hashlib.sha256(body).digest() + body)
    assert not finished_here(tmp_path)
    assert opened(tmp_path).read() == [ONE]


def test_a_job_has_answers_from_its_begin_to_its_end(tmp_path):
    assert not has_answers(tmp_path)
    create_answers(tmp_path)
    assert has_answers(tmp_path)
    assert opened(tmp_path).read() == []
    remove_answers(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_complete_result_is_noted(tmp_path):
    file = opened(tmp_path)
    kept = Kept(file)
    assert not finished_here(tmp_path)
    kept.finished()
    assert finished_here(tmp_path)
