"""Files that are replaced as a whole: a full disk leaves the old content, and a crash leaves nothing behind."""

import os

import pytest

from coterie.party.books import whole_file
from coterie.party.books.whole_file import remove_leftovers, write_whole


def test_a_file_has_the_new_content_and_is_its_owners_only(tmp_path):
    path = tmp_path / "held.json"
    for content in ("first", "second ä"):
        write_whole(path, content)
        assert path.read_text(encoding="utf-8") == content
    assert path.stat().st_mode & 0o777 == 0o600
    assert [*tmp_path.iterdir()] == [path]


def test_a_full_disk_leaves_the_old_content_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "held.json"
    write_whole(path, "first")

    def full(descriptor, data):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(whole_file.os, "write", full)
    with pytest.raises(OSError, match="No space left"):
        write_whole(path, "second")
    assert path.read_text() == "first"
    assert [*tmp_path.iterdir()] == [path]


def test_a_disk_that_takes_pieces_gets_the_whole(tmp_path, monkeypatch):
    write = os.write
    monkeypatch.setattr(whole_file.os, "write", lambda file, data: write(file, data[:3]))
    write_whole(tmp_path / "version", "0123456789")
    assert (tmp_path / "version").read_text() == "0123456789"


def test_what_a_crash_left_is_removed_and_nothing_else(tmp_path):
    job = tmp_path / "jobs" / ("a" * 32)
    (job / "receiving-x" / "job").mkdir(parents=True)
    (job / "received").mkdir()
    kept = [tmp_path / "journal.jsonl", job / "reception.json", job / "received" / "total.csv"]
    (tmp_path / "models").mkdir()
    kept.append(tmp_path / "models" / "churn.json")
    left = [tmp_path / "journal.jsonl.new", job / "reception.json.new"]
    left.append(tmp_path / "models" / f".churn.{'a' * 32}.new")
    for path in (*kept, *left):
        path.write_text("x")
    remove_leftovers(tmp_path)
    assert sorted(path for path in tmp_path.rglob("*") if path.is_file()) == sorted(kept)
    assert not (job / "receiving-x").exists()


def test_a_folder_without_jobs_has_no_leftovers(tmp_path):
    remove_leftovers(tmp_path / "new")
