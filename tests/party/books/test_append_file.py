"""Append-only files: whole lines or none, on a full disk and after a crash."""

import os
import threading

import pytest

from coterie.base.errors import EnvironmentFaultError
from coterie.party.books.append_file import AppendFile, read_entries, read_lines
from tests.party.disk import room_for


@pytest.fixture
def file(tmp_path):
    made = AppendFile(tmp_path / "lines")
    yield made
    made.close()


@pytest.mark.parametrize("room", [0, 1, 5, 8])
def test_a_line_that_does_not_fit_whole_is_taken_back(file, room):
    file.append({"n": 1})
    with room_for(file.path, room), pytest.raises(EnvironmentFaultError, match="lines: "):
        file.append({"n": 22})
    assert file.path.read_bytes() == b'{"n":1}\n'
    file.append({"n": 3})
    assert read_entries(file.path) == [{"n": 1}, {"n": 3}]


def test_a_line_that_could_not_be_taken_back_is_taken_back_before_the_next(file, monkeypatch):
    file.append({"n": 1})

    def stuck(*_):
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as broken:
        broken.setattr(os, "ftruncate", stuck)
        broken.setattr(os, "fsync", stuck)
        for _ in range(2):
            with pytest.raises(EnvironmentFaultError, match="Input/output error"):
                file.append({"n": 2})
    file.append({"n": 3})
    assert read_entries(file.path) == [{"n": 1}, {"n": 3}]


@pytest.mark.parametrize("torn", [b"{", b'{"n": 2, "tor', b"\0" * 100_000])
def test_a_line_torn_by_a_crash_is_cut_off(file, torn):
    file.append({"n": 1})
    with file.path.open("ab") as end:
        end.write(torn)
    assert read_entries(file.path) == [{"n": 1}]
    again = AppendFile(file.path)
    assert again.torn == torn[: 1 << 16]
    again.append({"n": 3})
    again.close()
    assert read_entries(file.path) == [{"n": 1}, {"n": 3}]


def test_several_writers_at_once_leave_whole_lines(tmp_path):
    def write(writer):
        for number in range(50):
            made = AppendFile(tmp_path / "lines")
            made.append({"writer": writer, "number": number})
            made.close()

    threads = [threading.Thread(target=write, args=(writer,)) for writer in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = read_entries(tmp_path / "lines")
    assert len(found) == 200
    assert {(e["writer"], e["number"]) for e in found} == {
        (writer, number) for writer in range(4) for number in range(50)
    }


def test_a_damaged_line_has_its_number(tmp_path):
    path = tmp_path / "lines"
    path.write_bytes(b'{"n":1}\nrubbish\n[2]\n\n{"n":3}\n{"n":')
    assert [(line.number, line.entry) for line in read_lines(path)] == [
        (1, {"n": 1}),
        (2, None),
        (3, None),
        (5, {"n": 3}),
    ]
    assert not list(read_lines(tmp_path / "missing"))


def test_half_of_a_character_in_a_damaged_line_is_kept_as_it_is(file, tmp_path):
    damaged = {"name": "\ud800"}
    file.append(damaged)
    file.append({"n": 1})
    assert [line.entry for line in read_lines(file.path)] == [damaged, {"n": 1}]


def test_a_folder_that_cannot_be_written_is_an_error(tmp_path):
    with pytest.raises(EnvironmentFaultError, match="No such file"):
        AppendFile(tmp_path / "missing" / "journal")


def test_after_it_was_closed_no_line_goes_into_a_file_that_was_opened_since(tmp_path):
    file = AppendFile(tmp_path / "log")
    file.close()
    file.close()
    other = os.open(tmp_path / "other", os.O_RDWR | os.O_CREAT)  # takes the same number
    try:
        with pytest.raises(EnvironmentFaultError, match="log: is closed"):
            file.append({"a": 1})
        assert os.fstat(other).st_size == 0
    finally:
        os.close(other)
