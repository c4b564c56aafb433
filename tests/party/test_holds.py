"""What a steward has answered outlives every crash, and nothing else counts as an answer."""

import contextlib
import json
import os
import threading
import time
from types import SimpleNamespace

import pytest

from coterie.base.errors import EnvironmentFaultError, RefusedError
from coterie.party import holds
from coterie.party.job_record import Hold

ABOUT, DIGEST = "output", "d" * 64


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(holds, "_LOOK", 0.0)


def job(folder):
    return SimpleNamespace(folder=folder, held=None, changed=threading.Condition())


def asked(record, digest=DIGEST, until=None):
    """Whether the job puts the question; then the process ends."""
    put = []
    hold = Hold(ABOUT, until or time.time() + 60, {})
    with contextlib.suppress(InterruptedError):
        holds.ask(record, hold, digest, lambda: put.append(hold), lambda: InterruptedError())
    return bool(put)


def answered(folder, yes, reason=""):
    """A steward answers, and the process ends before the job takes any notice."""
    record = job(folder)
    record.held = Hold(ABOUT, time.time() + 60, {}, digest=DIGEST)
    assert holds.answer(record, ABOUT, yes, reason, "Ada")
    assert not holds.answer(record, ABOUT, not yes, "", "Bob")


def test_a_yes_counts_after_a_crash_between_the_answer_and_its_effect(tmp_path):
    assert asked(job(tmp_path))
    answered(tmp_path, True)
    assert not asked(job(tmp_path))
    assert asked(job(tmp_path), digest="e" * 64)  # another release was not approved


def test_a_no_stays_a_no_after_a_crash_between_the_answer_and_its_effect(tmp_path):
    assert asked(job(tmp_path))
    answered(tmp_path, False, "too early")
    with pytest.raises(RefusedError, match=r"says no to .*: too early"):
        asked(job(tmp_path))


def test_an_answer_is_on_the_disk_before_the_steward_hears_that_it_counts(tmp_path, monkeypatch):
    synced, fsync = [], os.fsync

    def noted(descriptor):
        synced.append(os.fstat(descriptor).st_ino)
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", noted)
    answered(tmp_path, True)
    assert (tmp_path / "held.json").stat().st_ino in synced
    assert tmp_path.stat().st_ino in synced  # the name, too


@pytest.mark.parametrize("yes", [True, False])
def test_a_write_that_was_torn_anywhere_answers_nothing(tmp_path, yes):
    assert asked(job(tmp_path))
    before = (tmp_path / "held.json").read_bytes()
    answered(tmp_path, yes)
    whole = (tmp_path / "held.json").read_bytes()
    for cut in range(len(whole)):
        (tmp_path / "held.json.new").write_bytes(whole[:cut])  # the crash came before the rename
        (tmp_path / "held.json").write_bytes(before)
        assert asked(job(tmp_path))
        (tmp_path / "held.json").write_bytes(whole[:cut])  # a disk that lost the end of the file
        assert asked(job(tmp_path))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        bytes(40),
        b"[]",
        b'{"output": true}',
        b'{"output": ["yes"]}',
        b'{"output": {"until": "soon"}}',
        b'{"output": {"until": null, "yes": true}}',
        b"\xff",
    ],
)
def test_a_file_that_makes_no_sense_answers_nothing(tmp_path, content):
    (tmp_path / "held.json").write_bytes(content)
    assert asked(job(tmp_path))


def test_an_answer_that_cannot_be_written_does_not_count_and_the_job_asks_on(tmp_path, monkeypatch):
    assert asked(job(tmp_path))
    record = job(tmp_path)
    record.held = Hold(ABOUT, time.time() + 60, {}, digest=DIGEST)
    before = (tmp_path / "held.json").read_bytes()

    def full(descriptor, data):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as disk:
        disk.setattr(os, "write", full)
        with pytest.raises(EnvironmentFaultError, match="No space left"):
            holds.answer(record, ABOUT, True, "", "Ada")
    assert not record.held.answered.is_set()
    assert (tmp_path / "held.json").read_bytes() == before
    assert asked(job(tmp_path))
    assert holds.answer(record, ABOUT, True, "", "Ada")  # there is room again


def test_a_restart_does_not_prolong_the_time_for_an_answer(tmp_path):
    first = time.time() + 30
    assert asked(job(tmp_path), until=first)
    assert asked(job(tmp_path), until=first + 1000)
    assert json.loads((tmp_path / "held.json").read_text())[ABOUT]["until"] == first
